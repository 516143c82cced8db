//! Reads inputs with GET, because a store may be stale.

use api::Problem;
use api::configuration::Document;
use crd::{Cluster, DataRef};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client, ResourceExt};

use super::version;
use crate::kube_problem::{Doing, answer};
use crate::made::owns;

/// A document and its ConfigMap.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) document: Document,
    pub(crate) at: DataRef,
    map: Option<ConfigMap>,
}

/// The inventory and the variables of a cluster.
pub(crate) struct Inputs {
    pub(crate) hosts: Input,
    pub(crate) vars: Input,
}

impl Inputs {
    pub(crate) async fn read(client: Client, cluster: &Cluster) -> Result<Self, Problem> {
        let inventory = Input::read(client.clone(), cluster, Document::Inventory);
        let (hosts, vars) = futures::try_join!(inventory, Input::read(client, cluster, Document::Variables))?;
        Ok(Self { hosts, vars })
    }

    /// The variables; empty if they can't be read or parsed.
    pub(crate) fn vars_or_none(&self) -> inventory::Vars {
        self.vars.usable().ok().and_then(|text| inventory::parse_vars(text).ok()).unwrap_or_default()
    }
}

/// The key of a document in its ConfigMap.
pub(crate) fn key(document: Document) -> &'static str {
    match document {
        Document::Inventory => crd::KEY_HOSTS,
        Document::Variables => crd::KEY_VARS,
        Document::HostKeys => crd::KEY_KNOWN_HOSTS,
    }
}

impl Input {
    pub(crate) async fn read(client: Client, cluster: &Cluster, document: Document) -> Result<Self, Problem> {
        let at = match document {
            Document::Inventory => cluster.spec.hosts_conf_ref.clone(),
            Document::Variables => cluster.spec.vars_conf_ref.clone(),
            Document::HostKeys => {
                DataRef::new(&cluster.spec.hosts_conf_ref.namespace, crd::known_hosts_name(&cluster.name_any()))
            }
        };
        if at.namespace.is_empty() {
            return Ok(Self { document, at, map: None });
        }
        let maps: Api<ConfigMap> = Api::namespaced(client, &at.namespace);
        let map = answer(&Doing::new("read", "ConfigMap", &at), maps.get_opt(&at.name)).await?;
        Ok(Self { document, at, map })
    }

    /// The text. The error is a sentence that says why there is none.
    pub(crate) fn usable(&self) -> Result<&str, String> {
        let (at, key) = (&self.at, key(self.document));
        if at.namespace.is_empty() {
            return Err("The cluster has no inventory, because its control plane is hosted.".to_owned());
        }
        let map = self.map.as_ref().ok_or_else(|| format!("ConfigMap {at} doesn't exist."))?;
        if let Some(text) = map.data.as_ref().and_then(|data| data.get(key)) {
            return Ok(text);
        }
        if map.binary_data.as_ref().is_some_and(|data| data.contains_key(key)) {
            return Err(format!("Key {key} of ConfigMap {at} does not hold text."));
        }
        let keys: Vec<&str> = map.data.iter().flatten().map(|(key, _)| key.as_str()).take(10).collect();
        let there = if keys.is_empty() { "It is empty.".to_owned() } else { format!("Its keys: {}.", keys.join(", ")) };
        Err(format!("ConfigMap {at} has no key {key}. {there}"))
    }

    /// The text; empty if there is none.
    pub(crate) fn text(&self) -> &str {
        self.usable().unwrap_or_default()
    }

    /// The version that a change must be based on; empty if the ConfigMap doesn't exist.
    pub(crate) fn version(&self) -> String {
        self.resource_version().map(|version| version::of(&version, self.text())).unwrap_or_default()
    }

    /// Whether the text is still that of `version`, so that a change based on `version` may replace it.
    pub(crate) fn is_at(&self, version: &str) -> bool {
        if self.exists() { version::is_of(version, self.text()) } else { version.is_empty() }
    }

    pub(crate) fn resource_version(&self) -> Option<String> {
        self.map.as_ref().and_then(ResourceExt::resource_version)
    }

    pub(crate) fn exists(&self) -> bool {
        self.map.is_some()
    }

    /// Whether it exists and `cluster` doesn't own it.
    pub(crate) fn foreign(&self, cluster: &Cluster) -> bool {
        self.map.as_ref().is_some_and(|map| !owns(cluster, map))
    }
}
