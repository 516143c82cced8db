//! The parts of kube-rs from which controllers are built.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DynamicObject, Patch, PatchParams};
use kube::client::Body;
use kube::core::{ApiResource, GroupVersionKind};
use kube::runtime::controller::Action;
use kube::runtime::events::{Event, EventType, Recorder};
use kube::runtime::finalizer::{Event as Phase, finalizer};
use kube::runtime::{Controller, watcher};
use kube::{Client, Resource, ResourceExt};
use kube_lease_manager::{LeaseManager, LeaseManagerBuilder};
use serde_json::json;
use tokio::sync::mpsc;

use crate::embedded_api;
use crate::patience::PATIENCE;
use crate::world::{CONFIG_MAPS, MERGE, WIDGETS, World, config_map, widget_named};

#[tokio::test]
async fn a_controller_is_triggered_by_its_objects_and_their_children() {
    let world = World::new();
    let (reconciled, mut names) = mpsc::channel(16);
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("example.clay.io", "v1", "Widget"));
    let maps: Api<ConfigMap> = Api::all(world.client.clone());
    let controller = Controller::new_with(world.widgets(), watcher::Config::default(), resource)
        .owns(maps, watcher::Config::default())
        .run(
            async |widget: Arc<DynamicObject>, reconciled: Arc<mpsc::Sender<String>>| {
                reconciled.send(widget.name_any()).await.unwrap();
                Ok::<_, std::io::Error>(Action::await_change())
            },
            |_, _, _| Action::await_change(),
            Arc::new(reconciled),
        )
        .for_each(|_| async {});
    let controller = tokio::spawn(controller);
    let mut next = async || tokio::time::timeout(PATIENCE, names.recv()).await.expect("a reconcile in time");
    let owner = world.post(WIDGETS, widget_named("a")).await.ok();
    assert_eq!(next().await.as_deref(), Some("a"));
    let mut child = config_map("child", json!({}));
    child["metadata"]["ownerReferences"] = json!([{"apiVersion": owner["apiVersion"], "kind": "Widget", "name": "a",
        "uid": owner["metadata"]["uid"], "controller": true}]);
    world.post(CONFIG_MAPS, child).await.ok();
    assert_eq!(next().await.as_deref(), Some("a"));
    world.patch(&format!("{CONFIG_MAPS}/child"), MERGE, json!({"data": {"x": "1"}})).await.ok();
    assert_eq!(next().await.as_deref(), Some("a"));
    controller.abort();
}

#[tokio::test]
async fn the_finalizer_helper_runs_apply_and_cleanup() {
    let world = World::new();
    world.post(CONFIG_MAPS, config_map("a", json!({}))).await.ok();
    let maps: Api<ConfigMap> = Api::default_namespaced(world.client.clone());
    let step = async || {
        let map = Arc::new(maps.get("a").await.unwrap());
        let (sender, mut phases) = mpsc::unbounded_channel();
        let outcome = finalizer(&maps, "example.clay.io/cleanup", map, |phase| async move {
            sender.send(matches!(phase, Phase::Cleanup(_))).unwrap();
            Ok::<_, std::io::Error>(Action::await_change())
        });
        outcome.await.unwrap();
        phases.try_recv().ok()
    };
    assert_eq!(step().await, None, "the first step only adds the finalizer");
    assert_eq!(step().await, Some(false));
    world.delete(&format!("{CONFIG_MAPS}/a"), json!({})).await.ok();
    assert_eq!(step().await, Some(true));
    assert!(maps.get_opt("a").await.unwrap().is_none());
}

#[tokio::test]
async fn the_event_recorder_counts_repetitions() {
    let world = World::new();
    let made = world.post(WIDGETS, widget_named("a")).await.ok();
    let widget: DynamicObject = serde_json::from_value(made).unwrap();
    let reference =
        widget.object_ref(&ApiResource::from_gvk(&GroupVersionKind::gvk("example.clay.io", "v1", "Widget")));
    let recorder = Recorder::new(world.client.clone(), "tester".into());
    let event = Event {
        type_: EventType::Normal,
        reason: "Seen".into(),
        note: Some("seen again".into()),
        action: "Look".into(),
        secondary: None,
    };
    for _ in 0..3 {
        recorder.publish(&event, &reference).await.unwrap();
    }
    let events = world.get("/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=a").await.ok();
    assert_eq!(events["items"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&events["items"][0]["message"], &events["items"][0]["series"]["count"]),
        (&json!("seen again"), &json!(3))
    );
}

/// A client that counts its answers.
fn counted(client: &Client, answers: &Arc<AtomicUsize>) -> Client {
    let (client, answers) = (client.clone(), answers.clone());
    let service = tower::service_fn(move |request: http::Request<Body>| {
        let (client, answers) = (client.clone(), answers.clone());
        async move {
            let answer = client.send(request).await;
            answers.fetch_add(1, Ordering::Relaxed);
            answer
        }
    });
    Client::new(service, "default")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_lease_managers_agree_on_one_leader() {
    let world = World::new();
    let answers = Arc::new(AtomicUsize::new(0));
    let manager = async |identity: &str| {
        let builder = LeaseManagerBuilder::new(counted(&world.client, &answers), "leader");
        let timed = builder.with_identity(identity).with_duration(30).with_grace(1).with_namespace("default");
        timed.build().await.unwrap()
    };
    let leads = async |manager: &LeaseManager| {
        tokio::time::timeout(PATIENCE, manager.changed()).await.expect("a leader in time").unwrap()
    };
    let holder = async || {
        let lease = world.get("/apis/coordination.k8s.io/v1/namespaces/default/leases/leader").await.ok();
        lease["spec"]["holderIdentity"].as_str().map(ToOwned::to_owned)
    };
    let (one, two) = (manager("one").await, manager("two").await);
    assert!(leads(&one).await);
    assert_eq!(holder().await.as_deref(), Some("one"));
    // `two` reads the lease and then waits until it expires.
    let before = answers.load(Ordering::Relaxed);
    tokio::select! {
        leads = two.changed() => panic!("there are two leaders: {leads:?}"),
        leads = one.changed() => panic!("the leader changed: {leads:?}"),
        () = world.until("two has read the lease", async |_| answers.load(Ordering::Relaxed) > before) => {}
    }
    assert_eq!(holder().await.as_deref(), Some("one"));
    one.release().await.unwrap();
    // A manager that waits would look again only when the lease expires.
    let next = manager("next").await;
    assert!(leads(&next).await);
    assert_eq!(holder().await.as_deref(), Some("next"));
}

#[tokio::test]
async fn applying_through_kube_rs_creates_and_changes() {
    let world = World::new();
    let widgets = world.widgets();
    let apply = |size: i64| json!({"apiVersion": "example.clay.io/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"size": size}});
    for size in [1, 2] {
        let applied = widgets.patch("a", &PatchParams::apply("tester"), &Patch::Apply(apply(size))).await.unwrap();
        assert_eq!(applied.data["spec"]["size"], size);
    }
    let mut entry = widgets.entry("a").await.unwrap().or_insert(|| unreachable!("the widget exists"));
    entry.get_mut().data["spec"]["size"] = json!(3);
    entry.commit(&Default::default()).await.unwrap();
    assert_eq!(widgets.get("a").await.unwrap().data["spec"]["size"], 3);
}

#[tokio::test]
async fn the_definitions_of_the_product_are_served() {
    let dir = tempfile::tempdir().unwrap();
    let crds = crd::all();
    let names: Vec<_> = crds.iter().map(ResourceExt::name_any).collect();
    let api = embedded_api::open(dir.path(), crds).unwrap();
    let definitions: Api<k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition> =
        Api::all(api.client("tester"));
    let served: Vec<_> =
        definitions.list(&Default::default()).await.unwrap().items.iter().map(ResourceExt::name_any).collect();
    assert_eq!(served.len(), names.len());
    assert!(names.iter().all(|name| served.contains(name)));
}
