//! Checks with `dryRun` whether every object of a registration can be written, so that a refused registration writes nothing.

use std::time::{Duration, Instant};

use api::cluster::NewCluster;
use api::{Problem, User};
use crd::Cluster;
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::check::{Key, Registration, check};
use super::{UNFINISHED, objects};
use crate::Console;
use crate::kube_problem::{Doing, answer, problem, timely};
use crate::operations::several;
use crate::ssh::KeyPair;

/// How long to wait until Kubernetes has deleted the inputs of a cluster that was just unregistered.
const LEFTOVERS: Duration = Duration::from_secs(5);

impl Console {
    pub(crate) fn checked(&self, new: &NewCluster) -> Result<Registration, Problem> {
        check(new, &self.shared.namespace, self.engine_of_new(), &self.shared.image).map_err(several)
    }

    /// Checks all objects. Returns the Cluster of an interrupted registration, if there is one to continue with.
    pub(crate) async fn preview(&self, user: &User, registration: &Registration) -> Result<Option<Cluster>, Problem> {
        let client = self.shared.access.client(user)?;
        let clusters: Api<Cluster> = Api::all(client.clone());
        let name = &registration.name;
        let there = answer(&Doing::new("read", "Cluster", name), clusters.get_opt(name.as_str())).await?;
        match &there {
            None => {
                let doing = Doing::new("create", "Cluster", name);
                answer(&doing, clusters.create(&dry_run(), &objects::cluster(registration))).await?;
            }
            Some(found) if found.metadata.deletion_timestamp.is_some() => {
                return Err(Problem::field(
                    "name",
                    format!("A cluster called {name} is being unregistered. Try again in a moment."),
                ));
            }
            Some(found) if found.annotations().contains_key(UNFINISHED) => {}
            Some(_) => return Err(taken(registration)),
        }
        let uid = there.as_ref().and_then(ResourceExt::uid);
        let plain = |name: &str| ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
        for map in objects::config_maps(registration, plain) {
            creatable::<ConfigMap>(&client, "ConfigMap", registration, &map, uid.as_deref()).await?;
        }
        if !matches!(registration.key, Key::None) {
            let empty = KeyPair { private: String::new(), public: None };
            let secret = objects::secret(&empty, plain(&objects::secret_name(name.as_str())));
            creatable::<Secret>(&client, "Secret", registration, &secret, uid.as_deref()).await?;
        }
        Ok(there)
    }
}

pub(crate) fn taken(registration: &Registration) -> Problem {
    Problem::field("name", format!("There is a cluster called {} already. Choose another name.", registration.name))
}

fn dry_run() -> PostParams {
    PostParams { dry_run: true, ..PostParams::default() }
}

/// Fails if an input can't be written. It can be if it doesn't exist, or if the unfinished Cluster with this `uid` owns it.
async fn creatable<K>(
    client: &Client,
    kind: &'static str,
    registration: &Registration,
    object: &K,
    uid: Option<&str>,
) -> Result<(), Problem>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + std::fmt::Debug
        + Serialize
        + DeserializeOwned,
{
    let namespace = &registration.namespace;
    let objects: Api<K> = Api::namespaced(client.clone(), namespace);
    let name = object.name_any();
    let place = format!("{namespace}/{name}");
    let doing = Doing::new("create", kind, &place);
    let since = Instant::now();
    loop {
        let status = match timely(objects.create(&dry_run(), object)).await {
            Ok(_) => return Ok(()),
            Err(kube::Error::Api(status)) => status,
            Err(error) => return Err(problem(&doing, &error)),
        };
        if status.is_not_found() {
            return Err(Problem::field(
                "namespace",
                format!("There is no namespace {namespace}. Create it, or choose another one."),
            ));
        }
        if !status.is_already_exists() {
            return Err(problem(&doing, &kube::Error::Api(status)));
        }
        let Some(there) = answer(&Doing::new("read", kind, &place), objects.get_opt(&name)).await? else { continue };
        let owners = there.owner_references();
        if uid.is_some_and(|uid| owners.iter().any(|owner| owner.uid == uid)) {
            return Ok(());
        }
        let leftover = owners.iter().any(|owner| owner.kind == "Cluster" && owner.name == registration.name.as_str());
        if !leftover || since.elapsed() > LEFTOVERS {
            let message = format!(
                "{kind} {place} already exists and is not part of this cluster. Choose another name for the cluster, or delete it."
            );
            return Err(Problem::field("name", message));
        }
        // Kubernetes deletes the inputs of an unregistered cluster shortly after the Cluster itself.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
