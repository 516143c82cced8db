//! How a cluster's machines are reached: never the private key itself.

use api::configuration::SshAccess;
use crd::{Cluster, DataRef};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Api, Client, ResourceExt};

use crate::{
    kube_problem::{Doing, answer},
    ssh,
};

pub(super) async fn read(client: Client, cluster: &Cluster) -> SshAccess {
    let (known_hosts, key) = futures::join!(known_hosts(client.clone(), cluster), async {
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
    SshAccess {
        secret: cluster.spec.ssh_auth_ref.as_ref().map(ToString::to_string),
        fingerprint: public_key.as_deref().and_then(ssh::fingerprint),
        public_key,
        known_hosts,
        problem,
    }
}

/// The public half, where it can be told; or why there is no key to use.
async fn public_key(client: Client, place: &DataRef) -> Result<Option<String>, String> {
    let secrets: Api<Secret> = Api::namespaced(client, &place.namespace);
    let secret = answer(&Doing::new("read", "Secret", place), secrets.get_opt(&place.name)).await;
    let secret = secret.map_err(|problem| problem.to_string())?;
    let data = secret.ok_or_else(|| format!("Secret {place} doesn't exist."))?.data.unwrap_or_default();
    let text = |key: &str| data.get(key).map(|bytes| String::from_utf8_lossy(&bytes.0).into_owned());
    let private = text(crd::KEY_SSH).ok_or_else(|| format!("Secret {place} has no key {}.", crd::KEY_SSH))?;
    let told = ssh::pasted(&private).map_err(|why| format!("The key in Secret {place} can't be used. {why}"))?;
    Ok(told.public.or_else(|| text(ssh::KEY_PUBLIC).map(|line| line.trim().to_owned())))
}

/// Confirmed host keys on record.
async fn known_hosts(client: Client, cluster: &Cluster) -> u32 {
    let name = crd::known_hosts_name(&cluster.name_any());
    let maps: Api<ConfigMap> = Api::namespaced(client, &cluster.spec.hosts_conf_ref.namespace);
    let map = answer(&Doing::new("read", "ConfigMap", &name), maps.get_opt(&name)).await.ok().flatten();
    map.and_then(|map| Some(ssh::host_keys(map.data?.get(crd::KEY_KNOWN_HOSTS)?))).unwrap_or_default()
}
