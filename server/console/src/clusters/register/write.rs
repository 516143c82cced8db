//! Writes a registration. Every step is idempotent, so that it can be repeated after a crash.

use api::cluster::NewCluster;
use api::{ClusterName, Problem, User};
use crd::Cluster;
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::check::{Key, Registration};
use super::{EXISTING, UNFINISHED, objects, preview};
use crate::Console;
use crate::kube_problem::{Doing, answer, problem, timely};
use crate::made::{made, owns};
use crate::ssh::{self, KeyPair};

impl Console {
    pub(crate) async fn register_cluster(&self, user: &User, new: &NewCluster) -> Result<ClusterName, Problem> {
        let registration = self.checked(new)?;
        let name = registration.name.clone();
        // Without this lock, two registrations of one name in this process would mix their inputs. In two processes, one of them
        // gets a conflict.
        let _alone = self.shared.registering.enter(name.as_str()).ok_or_else(|| {
            Problem::field(
                "name",
                format!("A cluster called {name} is being registered right now. Try again in a moment."),
            )
        })?;
        let unfinished = self.preview(user, &registration).await?;
        let key = key(&registration)?;
        let client = self.shared.access.client(user)?;
        let cluster = match unfinished {
            None => create(&client, &registration).await?,
            Some(unfinished) => take_over(&client, &registration, &unfinished).await?,
        };
        write_inputs(&client, &registration, key.as_ref(), &cluster)
            .await
            .map_err(|why| interrupted(&registration, why))?;
        finish(&client, &cluster).await.map_err(|why| interrupted(&registration, why))?;
        self.shared.counts.note(&cluster.spec.hosts_conf_ref, &registration.hosts);
        self.until_cluster(name.as_str(), |found| found.is_some_and(|c| !c.annotations().contains_key(UNFINISHED)))
            .await;
        Ok(name)
    }
}

fn key(registration: &Registration) -> Result<Option<KeyPair>, Problem> {
    match &registration.key {
        Key::None => Ok(None),
        Key::Given(pair) => Ok(Some(pair.clone())),
        Key::Generate => ssh::generate(&format!("kubeonkube {}", registration.name)).map(Some).map_err(|error| {
            tracing::error!(%error, "can't generate an SSH key");
            Problem::Internal
        }),
    }
}

fn interrupted(registration: &Registration, why: Problem) -> Problem {
    match why {
        Problem::SignedOut => why,
        why => Problem::Unavailable {
            message: format!(
                "{} was registered only in part. {why} Register it again under the same name to finish.",
                registration.name
            ),
        },
    }
}

async fn create(client: &Client, registration: &Registration) -> Result<Cluster, Problem> {
    let clusters: Api<Cluster> = Api::all(client.clone());
    match timely(clusters.create(&PostParams::default(), &objects::cluster(registration))).await {
        Ok(created) => Ok(created),
        Err(kube::Error::Api(status)) if status.is_already_exists() => Err(preview::taken(registration)),
        Err(error) => Err(problem(&Doing::new("create", "Cluster", &registration.name), &error)),
    }
}

/// Continues with the Cluster of an interrupted registration: sets its references to those of this registration.
async fn take_over(client: &Client, registration: &Registration, unfinished: &Cluster) -> Result<Cluster, Problem> {
    let clusters: Api<Cluster> = Api::all(client.clone());
    let wanted = objects::cluster(registration);
    let ssh = wanted.spec.ssh_auth_ref.as_ref();
    let spec = json!({"hostsConfRef": wanted.spec.hosts_conf_ref, "varsConfRef": wanted.spec.vars_conf_ref, "sshAuthRef": ssh});
    let existing = wanted.annotations().get(EXISTING);
    let annotations = json!({EXISTING: existing});
    let patch = json!({"metadata": {"uid": unfinished.uid(), "annotations": annotations}, "spec": spec});
    let doing = Doing::new("change", "Cluster", &registration.name);
    answer(&doing, clusters.patch(registration.name.as_str(), &PatchParams::default(), &Patch::Merge(patch))).await
}

async fn write_inputs(
    client: &Client,
    registration: &Registration,
    key: Option<&KeyPair>,
    cluster: &Cluster,
) -> Result<(), Problem> {
    let (name, namespace) = (registration.name.as_str(), registration.namespace.as_str());
    for map in objects::config_maps(registration, |object| made(cluster, object)) {
        put::<ConfigMap>(client, "ConfigMap", namespace, map, cluster).await?;
    }
    let secret_name = objects::secret_name(name);
    match key {
        Some(key) => {
            put::<Secret>(client, "Secret", namespace, objects::secret(key, made(cluster, &secret_name)), cluster)
                .await?;
        }
        None => remove::<Secret>(client, "Secret", namespace, &secret_name, cluster).await?,
    }
    if registration.known_hosts.is_none() {
        // Remove host keys that an interrupted registration wrote: this one confirms none, so runs must not check them.
        remove::<ConfigMap>(client, "ConfigMap", namespace, &crd::known_hosts_name(name), cluster).await?;
    }
    Ok(())
}

async fn finish(client: &Client, cluster: &Cluster) -> Result<(), Problem> {
    let clusters: Api<Cluster> = Api::all(client.clone());
    let patch = json!({"metadata": {"uid": cluster.uid(), "annotations": {UNFINISHED: null}}});
    let name = cluster.name_any();
    let doing = Doing::new("change", "Cluster", &name);
    answer(&doing, clusters.patch(&name, &PatchParams::default(), &Patch::Merge(patch))).await.map(drop)
}

/// Creates an input, or replaces the one that an interrupted registration created.
async fn put<K>(
    client: &Client,
    kind: &'static str,
    namespace: &str,
    mut object: K,
    cluster: &Cluster,
) -> Result<(), Problem>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + std::fmt::Debug
        + Serialize
        + DeserializeOwned,
{
    let objects: Api<K> = Api::namespaced(client.clone(), namespace);
    let name = object.name_any();
    let doing = Doing::new("create", kind, format!("{namespace}/{name}"));
    match timely(objects.create(&PostParams::default(), &object)).await {
        Ok(_) => return Ok(()),
        Err(kube::Error::Api(status)) if status.is_already_exists() => {}
        Err(error) => return Err(problem(&doing, &error)),
    }
    let there = answer(&doing, objects.get(&name)).await?;
    if !owns(cluster, &there) {
        return Err(Problem::Unavailable {
            message: format!("{kind} {namespace}/{name} was created in the meantime and is not part of this cluster."),
        });
    }
    object.meta_mut().resource_version = there.resource_version();
    answer(&doing, objects.replace(&name, &PostParams::default(), &object)).await.map(drop)
}

async fn remove<K>(
    client: &Client,
    kind: &'static str,
    namespace: &str,
    name: &str,
    cluster: &Cluster,
) -> Result<(), Problem>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + std::fmt::Debug + DeserializeOwned,
{
    let objects: Api<K> = Api::namespaced(client.clone(), namespace);
    let doing = Doing::new("delete", kind, format!("{namespace}/{name}"));
    match answer(&doing, objects.get_opt(name)).await? {
        Some(there) if owns(cluster, &there) => {
            answer(&doing, objects.delete(name, &DeleteParams::default())).await.map(drop)
        }
        _ => Ok(()),
    }
}
