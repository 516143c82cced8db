//! Reading the objects that an operation needs. They are read from the API, never from a store, because a store may be behind.

use std::collections::{BTreeMap, BTreeSet};

use crd::{ActionSource, ActionType, Cluster, ClusterOperation, DataRef};
use futures::future::{try_join_all, try_join3};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::ListParams;
use kube::{Api, Client, ResourceExt};
use operation::asked;
use private_key::Fault;

use crate::context::Context;
use crate::status::refusal::Refusal;

/// The field name used for known hosts: no field refers to that ConfigMap, its name follows from the Cluster's.
const KNOWN_HOSTS: &str = "known hosts";

/// The objects to read, each with the field that refers to it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) config_maps: BTreeMap<DataRef, &'static str>,
    /// The ones with inventory and variables, which may be the same.
    hosts: DataRef,
    vars: DataRef,
    pub(crate) known_hosts: DataRef,
    pub(crate) ssh: Option<DataRef>,
    pub(crate) secret_vars: Option<DataRef>,
    /// The name of the Cluster.
    pub(crate) cluster: String,
    /// Whether the operation may connect to machines in another way than inventory and variables say: it runs a user's own
    /// playbook or script, or has extra arguments.
    custom_connection: bool,
}

/// What was found. A ConfigMap that is missing here doesn't exist.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) config_maps: BTreeMap<DataRef, ConfigMap>,
    /// The Secret with the private key, without the key itself.
    pub(crate) ssh: Option<SshSecret>,
    /// The Secret with variables.
    pub(crate) secret_vars: Option<Secret>,
    /// How many requests the reading took.
    pub(crate) requests: usize,
}

/// What is kept of the Secret with the private key.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SshSecret {
    pub(crate) metadata: ObjectMeta,
    pub(crate) keys: BTreeSet<String>,
    /// Why ssh can't use the current private key.
    pub(crate) fault: Option<Fault>,
    /// The new private key, if one is stored.
    pub(crate) next: Option<NextKey>,
}

/// What is kept of a new private key.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NextKey {
    /// See [`crd::ssh_key_id`].
    pub(crate) id: String,
    /// Why ssh can't use it.
    pub(crate) fault: Option<Fault>,
}

/// Why the inputs could not be read: `Refused` stays so when it is retried, `Api` may not.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error(transparent)]
    Refused(Box<Refusal>),
    #[error(transparent)]
    Api(#[from] kube::Error),
}

/// What `operation` on `cluster` needs. An object that several fields refer to is read once.
pub(crate) fn wanted(operation: &ClusterOperation, cluster: &Cluster) -> Wanted {
    let mut wanted = references(cluster);
    for asked in asked(&operation.spec, Some(&cluster.spec)) {
        if let (ActionSource::Configmap, Some(at)) = (asked.source, asked.source_ref) {
            wanted.config_maps.entry(at.clone()).or_insert("actionSourceRef");
        }
        wanted.custom_connection |=
            (asked.kind, asked.source) != (ActionType::Playbook, ActionSource::Builtin) || asked.extra_args.is_some();
    }
    wanted
}

/// What `cluster` itself refers to.
pub(crate) fn references(cluster: &Cluster) -> Wanted {
    let spec = &cluster.spec;
    let mut wanted = Wanted {
        config_maps: BTreeMap::new(),
        hosts: spec.hosts_conf_ref.clone(),
        vars: spec.vars_conf_ref.clone(),
        known_hosts: known_hosts(cluster),
        ssh: spec.ssh_auth_ref.clone(),
        secret_vars: spec.secret_vars_ref.clone(),
        cluster: cluster.metadata.name.clone().unwrap_or_default(),
        custom_connection: false,
    };
    for (field, at) in [
        ("hostsConfRef", Some(&spec.hosts_conf_ref)),
        ("varsConfRef", Some(&spec.vars_conf_ref)),
        ("preCheckRef", spec.pre_check_ref.as_ref()),
    ] {
        if let Some(at) = at {
            wanted.config_maps.entry(at.clone()).or_insert(field);
        }
    }
    wanted
}

/// The ConfigMap for the host keys that a user confirmed; it may not exist.
pub(crate) fn known_hosts(cluster: &Cluster) -> DataRef {
    let spec = &cluster.spec;
    let namespace = &spec.ssh_auth_ref.as_ref().unwrap_or(&spec.hosts_conf_ref).namespace;
    DataRef::new(namespace, crd::known_hosts_name(cluster.metadata.name.as_deref().unwrap_or_default()))
}

/// Reads everything concurrently. Only host keys that are needed because of the inventory are read after it.
pub(crate) async fn fetch(ctx: &Context, wanted: &Wanted) -> Result<Found, ReadError> {
    let ssh = read_secret(&ctx.client, wanted.ssh.as_ref(), "sshAuthRef");
    let secret_vars = read_secret(&ctx.client, wanted.secret_vars.as_ref(), "secretVarsRef");
    let ((mut config_maps, mut requests), ssh, secret_vars) =
        try_join3(read_maps(ctx, wanted), ssh, secret_vars).await?;
    requests += usize::from(wanted.ssh.is_some()) + usize::from(wanted.secret_vars.is_some());
    // A Cluster without its own key may still use SSH: with a password, or with a key that the inventory names.
    if wanted.ssh.is_none() && uses_ssh(wanted, &config_maps) {
        requests += 1;
        config_maps.extend(read_map(&ctx.client, &wanted.known_hosts, KNOWN_HOSTS).await?);
    }
    Ok(Found { config_maps, ssh: ssh.map(SshSecret::of), secret_vars, requests })
}

/// Whether any machine may be reached over SSH. False if the inventory can't be parsed.
fn uses_ssh(wanted: &Wanted, found: &BTreeMap<DataRef, ConfigMap>) -> bool {
    if wanted.custom_connection {
        return true;
    }
    let text = |at, key| found.get(at)?.data.as_ref()?.get(key);
    let inventory = text(&wanted.hosts, crd::KEY_HOSTS).and_then(|text| inventory::parse(text).ok());
    let vars = text(&wanted.vars, crd::KEY_VARS).and_then(|text| inventory::parse_vars(text).ok()).unwrap_or_default();
    inventory.is_some_and(|inventory| inventory.hosts.iter().any(|host| !host.reached(&vars).is_local()))
}

/// Reads ConfigMaps with the Cluster's `used-by` label with one list, which also shows them all at one moment. The others, and those
/// that the list doesn't return, are read one by one.
async fn read_maps(ctx: &Context, wanted: &Wanted) -> Result<(BTreeMap<DataRef, ConfigMap>, usize), ReadError> {
    let mut missing: BTreeMap<&DataRef, &'static str> =
        wanted.config_maps.iter().map(|(at, field)| (at, *field)).collect();
    if wanted.ssh.is_some() {
        missing.insert(&wanted.known_hosts, KNOWN_HOSTS);
    }
    let labelled = |namespace: &str| {
        missing.keys().filter(|at| at.namespace == namespace && ctx.used_by.names(at, &wanted.cluster)).count()
    };
    let namespaces: BTreeSet<&str> = missing.keys().map(|at| at.namespace.as_str()).collect();
    let (mut maps, mut requests) = (BTreeMap::new(), 0);
    for namespace in namespaces.into_iter().filter(|namespace| labelled(namespace) > 1) {
        let api: Api<ConfigMap> = Api::namespaced(ctx.client.clone(), namespace);
        let of_cluster = ListParams::default().labels(&format!("{}={}", crd::LABEL_USED_BY, wanted.cluster));
        requests += 1;
        match api.list(&of_cluster).await {
            Ok(list) => maps.extend(list.items.into_iter().map(|map| (DataRef::new(namespace, map.name_any()), map))),
            // The controller may have the right to get, but not to list.
            Err(kube::Error::Api(status)) if status.is_forbidden() => {}
            Err(error) => return Err(error.into()),
        }
    }
    maps.retain(|at, _| missing.contains_key(at));
    missing.retain(|at, _| !maps.contains_key(*at));
    requests += missing.len();
    let others = missing.iter().map(|(at, field)| read_map(&ctx.client, at, field));
    maps.extend(try_join_all(others).await?.into_iter().flatten());
    Ok((maps, requests))
}

async fn read_map(
    client: &Client,
    at: &DataRef,
    field: &'static str,
) -> Result<Option<(DataRef, ConfigMap)>, ReadError> {
    if !at.can_exist() {
        return Ok(None);
    }
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), &at.namespace);
    let map = refuse_forbidden(api.get_opt(&at.name).await, field, "ConfigMap", at)?;
    Ok(map.map(|map| (at.clone(), map)))
}

async fn read_secret(client: &Client, at: Option<&DataRef>, field: &'static str) -> Result<Option<Secret>, ReadError> {
    let Some(at) = at.filter(|at| at.can_exist()) else { return Ok(None) };
    let api: Api<Secret> = Api::namespaced(client.clone(), &at.namespace);
    refuse_forbidden(api.get_opt(&at.name).await, field, "Secret", at)
}

impl SshSecret {
    fn of(secret: Secret) -> Self {
        let data = secret.data.unwrap_or_default();
        let fault = |key: &ByteString| private_key::stored(&key.0).err();
        let next = |key: &ByteString| NextKey { id: crd::ssh_key_id(&key.0), fault: fault(key) };
        Self {
            metadata: secret.metadata,
            fault: data.get(crd::KEY_SSH).and_then(fault),
            next: data.get(crd::KEY_SSH_NEXT).map(next),
            keys: data.into_keys().collect(),
        }
    }
}

fn refuse_forbidden<T>(
    answer: Result<T, kube::Error>,
    field: &'static str,
    kind: &'static str,
    at: &DataRef,
) -> Result<T, ReadError> {
    answer.map_err(|error| match error {
        kube::Error::Api(status) if status.is_forbidden() => ReadError::Refused(Box::new(Refusal::Forbidden {
            field,
            kind,
            at: at.clone(),
            why: status.message.clone(),
        })),
        other => other.into(),
    })
}
