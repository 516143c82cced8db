//! The immutable Secret with an operation's inputs, read back.

use crd::{Cluster, ClusterOperation, DataRef, ResolvedInputs};
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, ResourceExt};

use crate::context::{Context, is_owned_by};
use crate::error::Error;
use crate::inputs::Found;
use crate::refusal::Refusal;
use crate::{changed, children};

/// At most this many host names stand in a status.
const NAMES: usize = 100;

/// What `status.inputs` says of a snapshot.
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

/// The snapshot with which `operation` runs in `namespace`, as the API has it; none where it is gone or only stands in its place.
pub(crate) async fn read(
    ctx: &Context,
    operation: &ClusterOperation,
    namespace: &str,
) -> Result<Option<Secret>, Error> {
    let uid = operation.metadata.uid.as_ref();
    let found = children::read_inputs(&ctx.client, namespace, &operation.name_any(), uid).await?;
    Ok(found.filter(|found| is_whole(found, operation)))
}

/// The inputs of this very operation: not a namesake's, not a tombstone in their place.
fn is_whole(secret: &Secret, operation: &ClusterOperation) -> bool {
    let has = |key| secret.data.as_ref().is_some_and(|data| data.contains_key(key));
    is_owned_by(secret, operation) && [crd::KEY_HOSTS, crd::KEY_VARS, crd::KEY_TOKEN].into_iter().all(has)
}

/// What changed since the inputs that were confirmed, if some operation ran with exactly those and its snapshot is still there.
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
    Some(Refusal::InputsChanged { what: changed::between((&before.0, &before.1), (&after.0, &after.1)) })
}

/// Inventory and variables.
pub(crate) fn texts(secret: &Secret) -> (String, String) {
    let text = |key: &str| {
        let bytes = secret.data.as_ref().and_then(|data| data.get(key));
        bytes.map(|bytes| String::from_utf8_lossy(&bytes.0).into_owned()).unwrap_or_default()
    };
    (text(crd::KEY_HOSTS), text(crd::KEY_VARS))
}
