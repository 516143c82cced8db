//! The snapshot of an operation's inputs: the immutable Secret `<operation>-inputs`. It is built in [`crate::job::build`].

use crd::{Cluster, ClusterOperation, DataRef, ResolvedInputs};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, Preconditions};
use kube::{Api, Client, ResourceExt};

use crate::context::Context;
use crate::error::Error;
use crate::inputs::difference;
use crate::inputs::read::Found;
use crate::ownership::is_owned_by;
use crate::request::Answer;
use crate::status::refusal::Refusal;

/// At most this many host names are listed in a status.
const NAMES: usize = 100;

/// The description of a snapshot for `status.inputs`.
pub(crate) fn resolved(secret: &Secret) -> ResolvedInputs {
    let (hosts, vars) = texts(secret);
    let names: Vec<String> =
        inventory::parse(&hosts).map(|read| read.hosts.into_iter().map(|host| host.name).collect()).unwrap_or_default();
    ResolvedInputs {
        secret: DataRef::new(secret.namespace().unwrap_or_default(), secret.name_any()),
        sha256: crd::inputs_sha256(&hosts, &vars),
        host_count: u32::try_from(names.len()).unwrap_or(u32::MAX),
        hosts: names.into_iter().take(NAMES).collect(),
    }
}

/// Reads the snapshot of the operation with this name and uid. It may be a placeholder.
pub(crate) async fn read(
    client: &Client,
    namespace: &str,
    operation: &str,
    uid: Option<&String>,
) -> Result<Option<Secret>, Error> {
    if namespace.is_empty() {
        // The Cluster has no inventory, so none of its operations ever had a snapshot.
        return Ok(None);
    }
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let found = secrets.get_opt(&crd::inputs_name(operation)).await.map_err(Error::while_doing("read a snapshot"))?;
    Ok(found.filter(|found| found.owner_references().iter().any(|owner| Some(&owner.uid) == uid)))
}

/// Reads the snapshot with which `operation` runs in `namespace`. None if it is gone or only a placeholder.
pub(crate) async fn read_whole(
    ctx: &Context,
    operation: &ClusterOperation,
    namespace: &str,
) -> Result<Option<Secret>, Error> {
    let found = read(&ctx.client, namespace, &operation.name_any(), operation.metadata.uid.as_ref()).await?;
    Ok(found.filter(|found| is_whole(found, operation)))
}

/// Deletes a snapshot. A Job that is created later then has nothing to mount.
pub(crate) async fn remove(client: &Client, snapshot: &Secret) -> Result<(), Error> {
    let this = Preconditions { uid: snapshot.uid(), resource_version: None };
    let params = DeleteParams { preconditions: Some(this), ..DeleteParams::background() };
    let secrets: Api<Secret> = Api::namespaced(client.clone(), &snapshot.namespace().unwrap_or_default());
    let answer = secrets.delete(&snapshot.name_any(), &params).await;
    answer.unless_changed().map_err(Error::while_doing("delete a snapshot"))?;
    Ok(())
}

/// Whether this is a snapshot of this very operation, and not a placeholder.
fn is_whole(secret: &Secret, operation: &ClusterOperation) -> bool {
    let has = |key| secret.data.as_ref().is_some_and(|data| data.contains_key(key));
    is_owned_by(secret, operation) && [crd::KEY_HOSTS, crd::KEY_VARS, crd::KEY_TOKEN].into_iter().all(has)
}

/// What changed since the user confirmed the inputs. None unless another operation ran with the confirmed inputs and its snapshot
/// still exists.
pub(crate) async fn compare(
    ctx: &Context,
    operation: &ClusterOperation,
    cluster: &Cluster,
    found: &Found,
) -> Option<Refusal> {
    let expected = operation.spec.expected_inputs.as_deref()?;
    let inputs_of = |other: &ClusterOperation| other.status.as_ref().and_then(|status| status.inputs.clone());
    let ran = ctx
        .stores
        .operations
        .find(|other| inputs_of(other).is_some_and(|inputs| inputs.sha256.eq_ignore_ascii_case(expected)))?;
    let at = inputs_of(&ran)?.secret;
    let secrets: Api<Secret> = Api::namespaced(ctx.client.clone(), &at.namespace);
    let (old_hosts, old_vars) = texts(&secrets.get_opt(&at.name).await.ok()??);
    let text = |at: &DataRef, key: &str| found.config_maps.get(at)?.data.as_ref()?.get(key).cloned();
    let hosts = text(&cluster.spec.hosts_conf_ref, crd::KEY_HOSTS)?;
    let vars = text(&cluster.spec.vars_conf_ref, crd::KEY_VARS)?;
    let read = |hosts: &str, vars: &str| Some((inventory::parse(hosts).ok()?, inventory::parse_vars(vars).ok()?));
    let (before, after) = (read(&old_hosts, &old_vars)?, read(&hosts, &vars)?);
    Some(Refusal::InputsChanged { what: difference::between((&before.0, &before.1), (&after.0, &after.1)) })
}

/// Inventory and variables of a snapshot.
fn texts(secret: &Secret) -> (String, String) {
    let text = |key: &str| {
        let bytes = secret.data.as_ref().and_then(|data| data.get(key));
        bytes.map(|bytes| String::from_utf8_lossy(&bytes.0).into_owned()).unwrap_or_default()
    };
    (text(crd::KEY_HOSTS), text(crd::KEY_VARS))
}
