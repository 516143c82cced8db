//! The Kubernetes client for each user, and checks of the user's rights.

mod rights;
mod user_clients;

use std::collections::HashMap;
use std::time::Duration;

use api::{Problem, User};
use k8s_openapi::api::authorization::v1::{ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec};
use kube::api::PostParams;
use kube::{Api, Client};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use crate::kube_problem::{Doing, answer};

pub(crate) use rights::Right;
pub use user_clients::{UserClients, user_clients};

/// How long the result of an access review is cached.
const BELIEVED: Duration = Duration::from_secs(30);
/// Maximum number of cached results. A full cache is emptied.
const REMEMBERED: usize = 4096;
/// Maximum number of cached clients. A full cache is emptied.
const CLIENTS: usize = 512;

/// Hash of a token, so that caches don't contain tokens.
type Fingerprint = [u8; 32];

/// The cached clients and rights of all users.
pub(crate) struct Access {
    own: Client,
    user_clients: Option<UserClients>,
    clients: Mutex<HashMap<Fingerprint, Client>>,
    rights: Mutex<HashMap<(Fingerprint, Right), (Instant, bool)>>,
}

impl Access {
    pub(crate) fn new(own: Client, user_clients: Option<UserClients>) -> Self {
        Self { own, user_clients, clients: Mutex::default(), rights: Mutex::default() }
    }

    /// The server's own client, for what it does for itself.
    pub(crate) fn own(&self) -> Client {
        self.own.clone()
    }

    /// The client for requests of `user`: in a cluster with the user's own token, in standalone the server's client.
    pub(crate) fn client(&self, user: &User) -> Result<Client, Problem> {
        let Some(make) = &self.user_clients else { return Ok(self.own.clone()) };
        // In a cluster, a user's request must never use the server's rights.
        let token = user.token.as_deref().filter(|t| !t.is_empty()).ok_or(Problem::SignedOut)?;
        let fingerprint = fingerprint(token);
        let mut clients = self.clients.lock();
        if let Some(client) = clients.get(&fingerprint) {
            return Ok(client.clone());
        }
        if clients.len() >= CLIENTS {
            clients.clear();
        }
        let client = make(token).map_err(|error| {
            tracing::error!(%error, "can't create a client for a user");
            Problem::Internal
        })?;
        clients.insert(fingerprint, client.clone());
        Ok(client)
    }

    /// Asks the cluster whether `user` has this right; the answer is cached for 30 s. Standalone: every signed-in user has
    /// it.
    pub(crate) async fn require(&self, user: &User, right: Right) -> Result<(), Problem> {
        if self.user_clients.is_none() {
            return Ok(());
        }
        let client = self.client(user)?;
        let key = (fingerprint(user.token.as_deref().unwrap_or_default()), right.clone());
        let known = {
            let rights = self.rights.lock();
            rights.get(&key).filter(|(at, _)| at.elapsed() < BELIEVED).map(|(_, allowed)| *allowed)
        };
        let allowed = match known {
            Some(allowed) => allowed,
            None => {
                let allowed = review(client, &right).await?;
                let mut rights = self.rights.lock();
                if rights.len() >= REMEMBERED {
                    rights.clear();
                }
                rights.insert(key, (Instant::now(), allowed));
                allowed
            }
        };
        if allowed { Ok(()) } else { Err(Problem::Forbidden { message: right.refusal() }) }
    }
}

fn fingerprint(token: &str) -> Fingerprint {
    Sha256::digest(token).into()
}

async fn review(client: Client, right: &Right) -> Result<bool, Problem> {
    let attributes = ResourceAttributes {
        verb: Some(right.verb.into()),
        group: Some(right.group.into()),
        resource: Some(right.resource.into()),
        subresource: right.subresource.map(Into::into),
        namespace: right.namespace.clone(),
        name: right.name.clone(),
        ..ResourceAttributes::default()
    };
    let spec =
        SelfSubjectAccessReviewSpec { resource_attributes: Some(attributes), ..SelfSubjectAccessReviewSpec::default() };
    let question = SelfSubjectAccessReview { spec, ..SelfSubjectAccessReview::default() };
    let reviews: Api<SelfSubjectAccessReview> = Api::all(client);
    let doing = Doing::new("check", "your rights for", right.resource);
    let asked = answer(&doing, reviews.create(&PostParams::default(), &question)).await?;
    Ok(asked.status.is_some_and(|s| s.allowed))
}
