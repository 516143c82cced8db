//! Checks that nothing is half written: objects, their children, files.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crd::{Cluster, ClusterOperation, Phase};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::api::ListParams;
use kube::{Api, Resource, ResourceExt};

use crate::run::Run;
use crate::world::World;

/// Keys that every snapshot of inputs contains.
const SNAPSHOT: [&str; 10] = [
    "hosts.yml",
    "group_vars.yml",
    "steps.json",
    "token",
    "secrets.json",
    "names.json",
    "entrypoint.py",
    "kubeonkube_events.py",
    "kubeonkube_masking.py",
    "masking.json",
];

/// Checks that exactly the submitted operations exist, each with one snapshot, one Job, one pod and one entry in its cluster's
/// history.
pub(crate) async fn every_object_is_whole(world: &World, submitted: &[Run]) {
    let everything = ListParams::default();
    let client = || world.client().clone();
    let operations = Api::<ClusterOperation>::all(client()).list(&everything).await.expect("operations").items;
    let names: BTreeSet<String> = operations.iter().map(ResourceExt::name_any).collect();
    assert_eq!(names, submitted.iter().map(|run| run.name.clone()).collect());

    let ours = ListParams::default().labels(&format!("{}={}", crd::LABEL_MANAGED_BY, crd::PRODUCT));
    let jobs = Api::<Job>::all(client()).list(&ours).await.expect("Jobs").items;
    let pods = Api::<Pod>::all(client()).list(&ours).await.expect("pods").items;
    let secrets: Api<Secret> = Api::default_namespaced(client());
    assert_eq!((jobs.len(), pods.len()), (submitted.len(), submitted.len()), "Jobs and pods");
    for operation in &operations {
        let name = operation.name_any();
        let job = jobs.iter().find(|job| is_child(*job, operation)).unwrap_or_else(|| panic!("{name} has no Job"));
        let job_ref =
            operation.status.as_ref().and_then(|status| status.job_ref.as_ref()).expect("a reference to its Job");
        assert_eq!(job_ref.uid, job.uid(), "{name} refers to another Job");
        assert!(pods.iter().any(|pod| is_child(pod, job)), "{name} has no pod");
        let snapshot = secrets.get(&crd::inputs_name(&name)).await.expect("a snapshot");
        assert!(is_child(&snapshot, operation) && snapshot.immutable == Some(true), "the snapshot of {name}");
        let data = snapshot.data.unwrap_or_default();
        let lacks = |key: &&str| data.get(*key).is_none_or(|value| value.0.is_empty());
        assert_eq!(SNAPSHOT.iter().find(|key| lacks(key)), None, "the snapshot of {name}");
    }
    for cluster in Api::<Cluster>::all(client()).list(&everything).await.expect("clusters") {
        let history = cluster.status.as_ref().expect("a status").conditions.clone();
        let of_cluster = operations.iter().filter(|operation| operation.spec.cluster == cluster.name_any());
        let uids: BTreeSet<_> = of_cluster.map(ResourceExt::uid).collect();
        assert_eq!(history.len(), uids.len(), "the history of {}: {history:#?}", cluster.name_any());
        assert_eq!(history.iter().map(|entry| entry.uid.clone()).collect::<BTreeSet<_>>(), uids);
        assert!(history.iter().all(|entry| entry.status == Phase::Succeeded), "{history:#?}");
    }
}

fn is_child(child: &impl Resource, parent: &impl Resource) -> bool {
    child
        .owner_references()
        .iter()
        .any(|owner| Some(&owner.uid) == parent.uid().as_ref() && owner.controller == Some(true))
}

/// Checks that the database is intact, that every record of a run can be read, and that no temporary file was left behind.
pub(crate) fn every_file_is_whole(data: &Path) {
    let state = rusqlite::Connection::open(data.join("state.db")).expect("the database");
    let verdict: String = state.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("checked");
    assert_eq!(verdict, "ok");
    let bodies = state
        .prepare("SELECT name, body FROM objects")
        .expect("prepared")
        .query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))
        .expect("read")
        .collect::<Result<Vec<_>, _>>()
        .expect("read");
    for (name, body) in bodies {
        serde_json::from_str::<serde_json::Value>(&body).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let runs = fs::read_dir(data.join("runs")).expect("runs").flatten();
    let logs = fs::read_dir(data.join("logs")).expect("logs").flatten();
    for file in runs.chain(logs).flat_map(|folder| fs::read_dir(folder.path()).expect("a folder").flatten()) {
        let path = file.path();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("new") => panic!("{} was left behind", path.display()),
            Some("json") => {
                let bytes = fs::read(&path).expect("readable");
                let read = serde_json::from_slice::<serde_json::Value>(&bytes);
                assert!(read.is_ok(), "{}: {read:?}", path.display());
            }
            _ => {}
        }
    }
}
