//! What an operation needs to read at its turn: by GET, never from a store, which may still hold yesterday's inventory.

use std::collections::{BTreeMap, BTreeSet};

use crd::{ActionSource, Cluster, ClusterOperation, DataRef};
use futures::future::{try_join, try_join_all};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Api, Client};

use crate::refusal::Refusal;

/// The objects to read, each with the field that names it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) config_maps: BTreeMap<DataRef, &'static str>,
    pub(crate) known_hosts: Option<DataRef>,
    pub(crate) ssh: Option<DataRef>,
}

/// What was found. A ConfigMap that isn't here doesn't exist.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) config_maps: BTreeMap<DataRef, ConfigMap>,
    /// The keys of the SSH Secret and whether `ssh-privatekey` looks like one. The key itself is not kept.
    pub(crate) ssh: Option<SshSecret>,
}

/// What is worth knowing about the Secret with the private key.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SshSecret {
    pub(crate) metadata: ObjectMeta,
    pub(crate) keys: BTreeSet<String>,
    pub(crate) is_private_key: bool,
}

/// A read that will not get better by repeating it, or an error of the API that may.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error(transparent)]
    Refused(Box<Refusal>),
    #[error(transparent)]
    Api(#[from] kube::Error),
}

/// What `operation` on `cluster` needs. Objects that several fields name are read once.
pub(crate) fn wanted(operation: &ClusterOperation, cluster: &Cluster) -> Wanted {
    let mut wanted = references(cluster);
    let spec = &operation.spec;
    let hooks = spec.pre_hook.iter().chain(&spec.post_hook).map(|hook| (hook.action_source, &hook.action_source_ref));
    for (source, at) in hooks.chain([(spec.action_source, &spec.action_source_ref)]) {
        if let (ActionSource::Configmap, Some(at)) = (source, at) {
            wanted.config_maps.entry(at.clone()).or_insert("actionSourceRef");
        }
    }
    // Without a key there is no SSH, and nothing to know about hosts.
    if let (Some(ssh), Some(name)) = (&wanted.ssh, cluster.metadata.name.as_deref()) {
        wanted.known_hosts = Some(DataRef::new(&ssh.namespace, crd::known_hosts_name(name)));
    }
    wanted
}

/// What `cluster` itself refers to.
pub(crate) fn references(cluster: &Cluster) -> Wanted {
    let spec = &cluster.spec;
    let mut wanted = Wanted { ssh: spec.ssh_auth_ref.clone(), ..Wanted::default() };
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

/// Reads them all at once.
pub(crate) async fn read(client: &Client, wanted: &Wanted) -> Result<Found, ReadError> {
    let maps = wanted.config_maps.iter().map(|(at, field)| read_map(client, at, field));
    let known = wanted.known_hosts.iter().map(|at| read_map(client, at, "known hosts"));
    let (maps, ssh) = try_join(try_join_all(maps.chain(known)), read_ssh(client, wanted.ssh.as_ref())).await?;
    Ok(Found { config_maps: maps.into_iter().flatten().collect(), ssh })
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

async fn read_ssh(client: &Client, at: Option<&DataRef>) -> Result<Option<SshSecret>, ReadError> {
    let Some(at) = at.filter(|at| at.can_exist()) else { return Ok(None) };
    let api: Api<Secret> = Api::namespaced(client.clone(), &at.namespace);
    let secret = refuse_forbidden(api.get_opt(&at.name).await, "sshAuthRef", "Secret", at)?;
    Ok(secret.map(|secret| {
        let data = secret.data.unwrap_or_default();
        let is_key = |value: &[u8]| {
            let head =
                value.trim_ascii_start().split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii_end();
            head.starts_with(b"-----BEGIN ") && head.ends_with(b"PRIVATE KEY-----")
        };
        SshSecret {
            metadata: secret.metadata,
            is_private_key: data.get(crd::KEY_SSH).is_some_and(|key| is_key(&key.0)),
            keys: data.into_keys().collect(),
        }
    }))
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
