//! Who may do what, and with whose client.

mod rights;
mod user_clients;

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use api::{Problem, User};
use k8s_openapi::api::authorization::v1::{ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec};
use kube::{Api, Client, api::PostParams};
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use crate::kube_problem::{Doing, answer};

pub(crate) use rights::Right;
pub use user_clients::{UserClients, user_clients};

/// How long an answer about a right is believed.
const BELIEVED: Duration = Duration::from_secs(30);
/// Beyond this many remembered answers or clients, all are asked and made anew.
const REMEMBERED: usize = 4096;
const CLIENTS: usize = 512;

/// A token's fingerprint: caches never hold the token itself.
type Fingerprint = [u8; 32];

/// Clients and rights of everybody.
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

    /// The client that speaks for `user`: their own in a cluster, ours in standalone.
    pub(crate) fn client(&self, user: &User) -> Result<Client, Problem> {
        let Some(make) = &self.user_clients else { return Ok(self.own.clone()) };
        // Nobody may borrow the server's own rights.
        let token = user.token.as_deref().filter(|t| !t.is_empty()).ok_or(Problem::SignedOut)?;
        let fingerprint = fingerprint(token);
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&fingerprint) {
            return Ok(client.clone());
        }
        if clients.len() >= CLIENTS {
            clients.clear();
        }
        let client = make(token).map_err(|error| {
            tracing::error!(%error, "no client can be made for a user");
            Problem::Internal
        })?;
        clients.insert(fingerprint, client.clone());
        Ok(client)
    }

    /// Asks the cluster whether `user` has this right; believed for 30 s. Standalone: everybody who is signed in has it.
    pub(crate) async fn require(&self, user: &User, right: Right) -> Result<(), Problem> {
        if self.user_clients.is_none() {
            return Ok(());
        }
        let client = self.client(user)?;
        let key = (fingerprint(user.token.as_deref().unwrap_or_default()), right.clone());
        let known = {
            let rights = self.rights.lock().unwrap_or_else(PoisonError::into_inner);
            rights.get(&key).filter(|(at, _)| at.elapsed() < BELIEVED).map(|(_, allowed)| *allowed)
        };
        let allowed = match known {
            Some(allowed) => allowed,
            None => {
                let allowed = review(client, &right).await?;
                let mut rights = self.rights.lock().unwrap_or_else(PoisonError::into_inner);
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
