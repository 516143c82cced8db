//! The ConfigMaps that the submit form offers as sources of playbooks and scripts.

use std::collections::BTreeSet;

use api::operation::{Source, SourceChoices, is_shell_file};
use api::{Problem, User};
use crd::{Cluster, DataRef};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::ListParams;
use kube::{Api, Client, ResourceExt};

use crate::Console;
use crate::kube_problem::{Doing, answer};

/// At most this many ConfigMaps are listed.
const AT_MOST: u32 = 1000;

impl Console {
    /// Lists with the user's own rights. A ConfigMap that the form offers can be read by the user: the right to list includes that.
    pub(crate) async fn source_choices(
        &self,
        user: &User,
        cluster: &str,
        chosen: &str,
    ) -> Result<SourceChoices, Problem> {
        let cluster = match cluster.parse() {
            Ok(name) => self.cluster(user, &name).await,
            Err(_) => {
                let note =
                    "Choose a cluster first, because the ConfigMap must be in its namespace. Then reload the lists.";
                return Ok(SourceChoices {
                    config_maps: Some(Vec::new()),
                    note: note.into(),
                    keys: Some(Vec::new()),
                    keys_note: String::new(),
                });
            }
        };
        let cluster = match cluster {
            // The form reports an unknown cluster at its field.
            Err(Problem::NotFound { .. }) => return Ok(SourceChoices::default()),
            other => other?,
        };
        if !cluster.spec.has_inventory() {
            let note = "The cluster has no inventory, so it has no operations.".to_owned();
            return Ok(SourceChoices {
                config_maps: Some(Vec::new()),
                note: note.clone(),
                keys: Some(Vec::new()),
                keys_note: note,
            });
        }
        let namespace = &cluster.spec.hosts_conf_ref.namespace;
        let client = self.shared.access.client(user)?;
        let inputs = self.shared.clusters.state().iter().flat_map(|cluster| inputs_of(cluster)).collect();
        let (listed, keys) =
            futures::join!(config_maps(client.clone(), namespace, &inputs), keys(client, namespace, chosen));
        let (config_maps, note) = listed?;
        let (keys, keys_note) = keys?;
        Ok(SourceChoices { config_maps, note, keys, keys_note })
    }
}

/// The ConfigMaps that hold a cluster's inputs, and so no playbook.
fn inputs_of(cluster: &Cluster) -> impl Iterator<Item = DataRef> {
    let spec = &cluster.spec;
    let known_hosts = crd::known_hosts_name(&cluster.name_any());
    let known_hosts = DataRef::new(&spec.hosts_conf_ref.namespace, known_hosts);
    [spec.hosts_conf_ref.clone(), spec.vars_conf_ref.clone(), known_hosts].into_iter()
}

async fn config_maps(
    client: Client,
    namespace: &str,
    inputs: &BTreeSet<DataRef>,
) -> Result<(Option<Vec<String>>, String), Problem> {
    let maps: Api<ConfigMap> = Api::namespaced(client, namespace);
    let doing = Doing::new("list", "ConfigMaps of namespace", namespace);
    // Without their content, which may be large.
    let list = match answer(&doing, maps.list_metadata(&ListParams::default().limit(AT_MOST))).await {
        Ok(list) => list,
        Err(Problem::Forbidden { .. }) => {
            let note = format!(
                "You may not list the ConfigMaps of namespace {namespace}. Type one that you may read, as {namespace}/name, and reload to see its keys."
            );
            return Ok((None, note));
        }
        Err(other) => return Err(other),
    };
    let is_more = list.metadata.continue_.is_some_and(|token| !token.is_empty());
    let names = list.items.iter().map(ResourceExt::name_any).filter(|name| name != "kube-root-ca.crt");
    let own: Vec<String> = names
        .map(|name| DataRef::new(namespace, name))
        .filter(|at| !inputs.contains(at))
        .map(|at| at.to_string())
        .collect();
    let note = match (own.is_empty(), is_more) {
        (true, _) => format!(
            "Namespace {namespace} has no ConfigMap with playbooks. Create one, for example with “kubectl create configmap NAME -n {namespace} --from-file=site.yml”, then reload the lists."
        ),
        (false, true) => format!("Only the first {AT_MOST} ConfigMaps of namespace {namespace} are listed."),
        (false, false) => String::new(),
    };
    Ok((Some(own), note))
}

/// The keys of the chosen ConfigMap: first those that can run by their names.
async fn keys(client: Client, namespace: &str, chosen: &str) -> Result<(Option<Vec<String>>, String), Problem> {
    let none = |note: String| Ok((Some(Vec::new()), note));
    if chosen.trim().is_empty() {
        return none("Choose a ConfigMap first, then reload the lists.".into());
    }
    let source = match chosen.parse::<Source>() {
        Ok(source) if source.namespace == namespace => source,
        Ok(_) => return none(format!("The ConfigMap must be in namespace {namespace}.")),
        Err(why) => return none(why.into()),
    };
    let maps: Api<ConfigMap> = Api::namespaced(client, namespace);
    let map = match answer(&Doing::new("read", "ConfigMap", &source), maps.get_opt(&source.name)).await {
        Ok(Some(map)) => map,
        Ok(None) => return none(format!("There is no ConfigMap {source}. Choose another one.")),
        Err(Problem::Forbidden { message }) => return Ok((None, message)),
        Err(other) => return Err(other),
    };
    let mut keys: Vec<String> = map.data.unwrap_or_default().into_keys().collect();
    let can_run = |key: &String| operation::is_playbook_file(key) || is_shell_file(key);
    keys.sort_by_key(|key| !can_run(key));
    if keys.is_empty() {
        return none(format!("ConfigMap {source} is empty. Add a playbook or script to it, or choose another one."));
    }
    Ok((Some(keys), String::new()))
}
