//! Where the kubeconfig of a cluster is: in the object that `spec.kubeConfRef` names, otherwise in `<cluster>-kubeconfig`.

use std::collections::BTreeMap;

use crd::{Cluster, DataRef};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Api, Client, ResourceExt};

/// The keys under which a kubeconfig is looked for, in this order: ours, the reference's, that of Cluster API, and the name of kubeadm's
/// file.
const KEYS: [&str; 4] = [crd::KEY_KUBECONFIG, "config", "value", "admin.conf"];

/// What was found.
pub enum Found {
    /// The text of the kubeconfig.
    Text(String),
    /// There is none, which is normal for a cluster that no operation has built yet.
    Nothing,
    /// The reference can't be followed; the reason is a sentence.
    Unusable(String),
}

/// Where the kubeconfig of `cluster` is: what `spec.kubeConfRef` names, or the Secret in which its operations store one.
#[must_use]
pub fn place(cluster: &Cluster) -> DataRef {
    let of_operations =
        || DataRef::new(&cluster.spec.hosts_conf_ref.namespace, crd::kubeconfig_name(&cluster.name_any()));
    cluster.spec.kube_conf_ref.clone().unwrap_or_else(of_operations)
}

/// Reads the kubeconfig of `cluster` with the rights of `client`.
pub async fn find(client: &Client, cluster: &Cluster) -> Result<Found, kube::Error> {
    let at = &place(cluster);
    if cluster.spec.kube_conf_ref.is_none() {
        if !at.can_exist() {
            return Ok(Found::Nothing);
        }
        return Ok(secret(client, at).await?.and_then(|data| pick(&data)).map_or(Found::Nothing, Found::Text));
    }
    // A user who may edit a Cluster, but not create one, must not reach other namespaces with it.
    if at.namespace != cluster.spec.hosts_conf_ref.namespace {
        let why = "kubeConfRef names another namespace than the cluster's other references, so it is not read.";
        return Ok(Found::Unusable(why.into()));
    }
    if !at.can_exist() {
        return Ok(Found::Unusable(format!("kubeConfRef names {at}, which can't be the name of an object.")));
    }
    let data = match secret(client, at).await? {
        Some(data) => Some(data),
        None => config_map(client, at).await?,
    };
    Ok(match data {
        None => Found::Unusable(format!("kubeConfRef names {at}, but there is no Secret or ConfigMap of that name.")),
        Some(data) => pick(&data).map_or_else(
            || Found::Unusable(format!("{at} has no text under any of the keys {}.", KEYS.join(", "))),
            Found::Text,
        ),
    })
}

async fn secret(client: &Client, at: &DataRef) -> Result<Option<BTreeMap<String, Vec<u8>>>, kube::Error> {
    let found = Api::<Secret>::namespaced(client.clone(), &at.namespace).get_opt(&at.name).await?;
    Ok(found.map(|found| found.data.into_iter().flatten().map(|(key, value)| (key, value.0)).collect()))
}

async fn config_map(client: &Client, at: &DataRef) -> Result<Option<BTreeMap<String, Vec<u8>>>, kube::Error> {
    let found = Api::<ConfigMap>::namespaced(client.clone(), &at.namespace).get_opt(&at.name).await?;
    Ok(found.map(|found| found.data.into_iter().flatten().map(|(key, value)| (key, value.into_bytes())).collect()))
}

fn pick(data: &BTreeMap<String, Vec<u8>>) -> Option<String> {
    let bytes = KEYS.iter().find_map(|key| data.get(*key))?;
    String::from_utf8(bytes.clone()).ok()
}
