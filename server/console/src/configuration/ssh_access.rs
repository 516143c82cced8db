//! SSH access to a cluster's machines: public key, fingerprint and host keys, but never the private key.

use api::Problem;
use api::configuration::{Document, HostKeys, SshAccess};
use crd::{Cluster, DataRef};
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Client};

use super::inputs::Input;
use super::shown::shown;
use crate::kube_problem::{Doing, answer};
use crate::ssh;

pub(super) async fn read(client: Client, cluster: &Cluster) -> Result<SshAccess, Problem> {
    let (host_keys, key) = futures::join!(Input::read(client.clone(), cluster, Document::HostKeys), async {
        match &cluster.spec.ssh_auth_ref {
            Some(place) => Some(public_key(client, place).await),
            None => None,
        }
    });
    let (public_key, problem) = match key {
        Some(Ok(public)) => (public, None),
        Some(Err(problem)) => (None, Some(problem)),
        None => (None, None),
    };
    let (host_keys, unread) = match host_keys {
        Ok(input) => {
            let document = shown(&input, cluster);
            (Some(HostKeys { count: ssh::host_keys(&document.text), document }), None)
        }
        // Users without the right to read host keys still see the rest.
        Err(problem @ Problem::Forbidden { .. }) => (None, Some(problem.to_string())),
        Err(problem) => return Err(problem),
    };
    Ok(SshAccess {
        secret: cluster.spec.ssh_auth_ref.as_ref().map(ToString::to_string),
        fingerprint: public_key.as_deref().and_then(ssh::fingerprint),
        public_key,
        host_keys,
        problem: problem.or(unread),
    })
}

/// The public key, if it is known. The error says why there is no usable private key.
async fn public_key(client: Client, place: &DataRef) -> Result<Option<String>, String> {
    let secrets: Api<Secret> = Api::namespaced(client, &place.namespace);
    let secret = answer(&Doing::new("read", "Secret", place), secrets.get_opt(&place.name)).await;
    let secret = secret.map_err(|problem| problem.to_string())?;
    let data = secret.ok_or_else(|| format!("Secret {place} doesn't exist."))?.data.unwrap_or_default();
    let text = |key: &str| data.get(key).map(|bytes| String::from_utf8_lossy(&bytes.0).into_owned());
    let private = text(crd::KEY_SSH).ok_or_else(|| format!("Secret {place} has no key {}.", crd::KEY_SSH))?;
    let pair = ssh::pasted(&private).map_err(|why| format!("The key in Secret {place} can't be used. {why}"))?;
    Ok(pair.public.or_else(|| text(ssh::KEY_PUBLIC).map(|line| line.trim().to_owned())))
}
