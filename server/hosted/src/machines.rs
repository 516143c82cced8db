//! What machines need to join a hosted cluster: the address of its API server, the digests of its authority, and a token.

use crd::{Cluster, ClusterOperation, condition};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{Secret, Service};
use kube::api::{DeleteParams, PostParams, Preconditions};
use kube::{Api, Client, ResourceExt};
use rand::Rng;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::address::{self, Address};
use crate::api::read;
use crate::bootstrap;
use crate::certificates::authority::Authorities;
use crate::certificates::secrets::{AUTHORITIES, OWN_CONFIG};
use crate::check::{Plan, check};
use crate::context::{Config, Reach};
use crate::objects::API_SERVER;

/// Where tokens are stored in the hosted cluster.
const SYSTEM: &str = "kube-system";
/// How long a token is valid, and from how much time left on it is replaced.
const VALID_FOR: SignedDuration = SignedDuration::from_hours(1);
const LEAST: SignedDuration = SignedDuration::from_mins(20);
/// The characters of tokens: <https://kubernetes.io/docs/reference/access-authn-authz/bootstrap-tokens/>.
const CHARACTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";

/// Lets machines join hosted clusters.
#[derive(Clone)]
pub struct Machines {
    client: Client,
    reach: Reach,
}

/// What the playbook `join.yml` needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Access {
    /// Its variables, without secrets.
    pub variables: Map<String, Value>,
    /// The variable with the token.
    pub token: (String, String),
}

impl std::fmt::Debug for Machines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Machines").field("reach", &self.reach).finish_non_exhaustive()
    }
}

/// A control plane that is ready.
struct Ready {
    plan: Plan,
    address: Address,
    authorities: Authorities,
    client: Client,
}

impl Machines {
    /// `client` reaches the Kubernetes cluster where the control planes run.
    pub fn new(client: Client, config: Config) -> Self {
        Self { client, reach: config.reach }
    }

    /// What the machines of this operation need to join `cluster`. Each operation has one token, which is valid for an hour.
    ///
    /// # Errors
    /// A sentence: why machines can't join now.
    pub async fn access(&self, cluster: &Cluster, operation: &ClusterOperation) -> Result<Access, String> {
        let ready = self.ready(cluster).await?;
        let token = token(&ready.client, operation).await;
        let token = token.map_err(|error| format!("Its API server makes no token: {error}."))?;
        Ok(Access { variables: variables(&ready)?, token: ("hosted_token".into(), token) })
    }

    /// Deletes the operation's token.
    ///
    /// # Errors
    /// A sentence.
    pub async fn end(&self, cluster: &Cluster, operation: &ClusterOperation) -> Result<(), String> {
        let ready = self.ready(cluster).await?;
        let tokens: Api<Secret> = Api::namespaced(ready.client, SYSTEM);
        match tokens.delete(&secret_name(&token_id(operation)), &DeleteParams::default()).await {
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
            Err(error) => Err(format!("Its API server doesn't delete the token: {error}.")),
            Ok(_) => Ok(()),
        }
    }

    async fn ready(&self, cluster: &Cluster) -> Result<Ready, String> {
        let Some(spec) = cluster.spec.hosted.as_ref().filter(|_| self.reach != Reach::Never) else {
            return Err("Its control plane isn't hosted here.".into());
        };
        let status = cluster.status.as_ref().and_then(|status| status.hosted.as_ref());
        let state = status.and_then(|status| status.conditions.iter().find(|found| found.type_ == condition::READY));
        if state.is_none_or(|state| state.status != "True") {
            let why = state.map_or("It hasn't been started yet.", |state| &state.message);
            return Err(format!("Its control plane isn't ready: {why}"));
        }
        let plan = check(cluster, spec, std::iter::empty()).map_err(|refusal| refusal.message)?;
        let service = read::<Service>(&self.client, &plan, API_SERVER).await.map_err(|stop| stop.message)?;
        let address = address::read(&plan, &service.ok_or("Its Service apiserver is gone.")?)?;
        let secret = async |name| {
            let found = read::<Secret>(&self.client, &plan, name).await.map_err(|stop| stop.message)?;
            found.and_then(|secret| secret.data).ok_or_else(|| format!("Its Secret {name} is gone."))
        };
        let authorities = Authorities::parse(secret(AUTHORITIES).await?, 0)?;
        let client = bootstrap::client(&secret(OWN_CONFIG).await?, &address, self.reach).await?;
        Ok(Ready { plan, address, authorities, client })
    }
}

/// The names are those that the playbook reads: `deploy/runner/playbooks/join.yml`.
fn variables(ready: &Ready) -> Result<Map<String, Value>, String> {
    let (spec, networking) = (&ready.plan.spec, &ready.plan.spec.networking);
    let (certificate, key) = ready.authorities.cluster_digests()?;
    let variables = json!({
        "hosted_api": format!("{}:{}", ready.address.public, ready.address.port),
        "hosted_ca": certificate,
        "hosted_ca_key_hash": format!("sha256:{key}"),
        "kube_version": spec.version,
        "kube_image_repo": spec.image_repository,
        "kube_pods_subnet": networking.pod_cidr,
        "kube_service_addresses": networking.service_cidr,
        // The default of the controller manager.
        "kube_network_node_prefix": 24,
        "dns_domain": networking.dns_domain,
    });
    let Value::Object(variables) = variables else { unreachable!("it is written as an object") };
    Ok(variables)
}

/// The operation's token: the one that exists, or a new one.
async fn token(client: &Client, operation: &ClusterOperation) -> Result<String, kube::Error> {
    let tokens: Api<Secret> = Api::namespaced(client.clone(), SYSTEM);
    let (id, now) = (token_id(operation), Timestamp::now());
    let name = secret_name(&id);
    if let Some(found) = tokens.get_opt(&name).await? {
        if let Some(token) = usable(&found, now) {
            return Ok(token);
        }
        let this = Preconditions { uid: found.uid(), resource_version: None };
        let params = DeleteParams { preconditions: Some(this), ..DeleteParams::default() };
        match tokens.delete(&name, &params).await {
            Err(kube::Error::Api(status)) if status.is_not_found() || status.is_conflict() => {}
            deleted => drop(deleted?),
        }
    }
    let new = secret(&id, &random(16), operation, now);
    match tokens.create(&PostParams::default(), &new).await {
        // Another replica was faster.
        Err(error @ kube::Error::Api(_)) => match tokens.get_opt(&name).await?.and_then(|found| usable(&found, now)) {
            Some(token) => Ok(token),
            None => Err(error),
        },
        made => Ok(usable(&made?, now).unwrap_or_default()),
    }
}

/// The same for each attempt of one operation.
fn token_id(operation: &ClusterOperation) -> String {
    let digest = Sha256::digest(operation.metadata.uid.as_deref().unwrap_or_default());
    digest.iter().take(6).map(|byte| CHARACTERS[usize::from(*byte) % CHARACTERS.len()] as char).collect()
}

fn random(length: usize) -> String {
    let mut random = rand::rng();
    (0..length).map(|_| CHARACTERS[random.random_range(0..CHARACTERS.len())] as char).collect()
}

fn secret_name(id: &str) -> String {
    format!("bootstrap-token-{id}")
}

fn secret(id: &str, token: &str, operation: &ClusterOperation, now: Timestamp) -> Secret {
    let expires = Timestamp::from_second((now + VALID_FOR).as_second()).unwrap_or(now);
    serde_json::from_value(json!({
        "metadata": {"name": secret_name(id), "namespace": SYSTEM, "labels": {crd::LABEL_MANAGED_BY: crd::PRODUCT}},
        "type": "bootstrap.kubernetes.io/token",
        "stringData": {
            "token-id": id,
            "token-secret": token,
            "expiration": expires.to_string(),
            "description": format!("For machines of the operation {}.", operation.name_any()),
            "usage-bootstrap-authentication": "true",
            "usage-bootstrap-signing": "true",
            "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
        },
    }))
    .expect("the object has the fields of a Secret")
}

/// The token in a Secret that is valid for long enough.
fn usable(secret: &Secret, now: Timestamp) -> Option<String> {
    let text = |key: &str| {
        let bytes = secret.data.as_ref()?.get(key).map(|ByteString(bytes)| bytes.clone())?;
        String::from_utf8(bytes).ok()
    };
    let expires: Timestamp = text("expiration")?.parse().ok()?;
    (expires.duration_since(now) > LEAST).then_some(format!("{}.{}", text("token-id")?, text("token-secret")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::constant(1_700_000_000, 0);

    fn operation(uid: &str) -> ClusterOperation {
        let mut operation = ClusterOperation::new("join-1", crd::ClusterOperationSpec::default());
        operation.metadata.uid = Some(uid.into());
        operation
    }

    /// As an API server stores it.
    fn stored(mut secret: Secret) -> Secret {
        let texts = secret.string_data.take().unwrap();
        secret.data = Some(texts.into_iter().map(|(key, text)| (key, ByteString(text.into_bytes()))).collect());
        secret
    }

    #[test]
    fn an_operation_has_one_token_for_an_hour() {
        let id = token_id(&operation("a"));
        assert_eq!(id, token_id(&operation("a")));
        assert_ne!(id, token_id(&operation("b")));
        let made = stored(secret(&id, "0123456789abcdef", &operation("a"), NOW));
        assert_eq!(usable(&made, NOW), Some(format!("{id}.0123456789abcdef")));
        assert_eq!(usable(&made, NOW + SignedDuration::from_mins(41)), None);
        let is_token = |text: &str| text.bytes().all(|byte| CHARACTERS.contains(&byte));
        assert!(id.len() == 6 && is_token(&id));
        assert!(is_token(&random(16)) && random(16) != random(16));
    }
}
