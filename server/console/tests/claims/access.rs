//! In a cluster, the console makes a user's requests with the user's own token.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use api::backend::{Changes, Clusters, Configurations, Creations, Operations};
use api::{Problem, User};
use console::{Playbooks, UserClients};
use http::{Method, Request, Response, StatusCode};
use kube::client::Body;
use serde_json::json;

use super::world::{World, eventually, new_cluster, new_operation};

/// The text of `h`.
const HOSTS: &str = "all: {hosts: {a: }}\nkube_node: {hosts: {a: }}";

/// An API in which every token except `nobody` passes access reviews, and every token except `reader` may read the ConfigMaps `h`
/// and `v`. For `unlucky`, host keys can't be read at the moment. It refuses all other requests and records them.
#[derive(Default)]
pub(crate) struct Guard {
    reviews: AtomicUsize,
    asked: Mutex<Vec<String>>,
}

impl Guard {
    /// Whether a request was refused with this method and path.
    pub(crate) fn was_asked(&self, request: &str) -> bool {
        self.asked.lock().unwrap().iter().any(|asked| asked == request)
    }

    fn clients(self: &Arc<Self>) -> UserClients {
        let guard = self.clone();
        Arc::new(move |token: &str| {
            let (guard, token) = (guard.clone(), token.to_owned());
            let service = tower::service_fn(move |request: Request<Body>| {
                let answer = guard.answer(&request, &token);
                async move { Ok::<_, Infallible>(answer) }
            });
            Ok(kube::Client::new(service, "default"))
        })
    }

    fn answer(&self, request: &Request<Body>, token: &str) -> Response<Body> {
        let path = request.uri().path().to_owned();
        let (code, body) = if request.method() == Method::POST && path.ends_with("/selfsubjectaccessreviews") {
            self.reviews.fetch_add(1, Ordering::Relaxed);
            let allowed = token != "nobody";
            (
                StatusCode::CREATED,
                json!({"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "spec": {}, "status": {"allowed": allowed}}),
            )
        } else if token == "unlucky" && path.ends_with("-known-hosts") {
            let status =
                json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 503, "message": "busy"});
            (StatusCode::SERVICE_UNAVAILABLE, status)
        } else if token != "reader" && (path.ends_with("/h") || path.ends_with("/v")) {
            let data = json!({crd::KEY_HOSTS: HOSTS, crd::KEY_VARS: ""});
            let map = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "h", "resourceVersion": "1"}, "data": data});
            (StatusCode::OK, map)
        } else {
            self.asked.lock().unwrap().push(format!("{} {path}", request.method()));
            let message = "this person may not do that";
            (
                StatusCode::FORBIDDEN,
                json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": message}),
            )
        };
        Response::builder().status(code).body(Body::from(serde_json::to_vec(&body).unwrap())).unwrap()
    }
}

async fn guarded() -> (World, Arc<Guard>) {
    let guard = Arc::new(Guard::default());
    (World::with(Playbooks::Image, |_| Some(guard.clients())).await, guard)
}

/// A cluster `prod` whose inventory and variables the guard returns.
pub(crate) async fn with_cluster() -> (World, Arc<Guard>) {
    let (world, guard) = guarded().await;
    let cluster = json!({"apiVersion": "kubeonkube.clay.io/v1alpha1", "kind": "Cluster", "metadata": {"name": "prod"},
        "spec": {"hostsConfRef": {"namespace": "machines", "name": "h"}, "varsConfRef": {"namespace": "machines", "name": "v"}}});
    world.clusters().create(&Default::default(), &serde_json::from_value(cluster).unwrap()).await.unwrap();
    (world, guard)
}

fn user(token: Option<&str>) -> User {
    User { name: "ada".into(), token: token.map(Into::into) }
}

#[tokio::test]
async fn lists_need_the_users_right_checked_every_30_seconds() {
    let (world, guard) = guarded().await;
    let reader = user(Some("reader"));
    for _ in 0..50 {
        Clusters::list(&world.console, &reader, &Default::default()).await.unwrap();
        Operations::list(&world.console, &reader, &Default::default()).await.unwrap();
    }
    assert!(guard.reviews.load(Ordering::Relaxed) <= 2);
    let nobody = user(Some("nobody"));
    let refused: Vec<Problem> = vec![
        Clusters::list(&world.console, &nobody, &Default::default()).await.unwrap_err(),
        Operations::list(&world.console, &nobody, &Default::default()).await.unwrap_err(),
        Operations::choices(&world.console, &nobody).await.unwrap_err(),
        world.console.subscribe(&nobody).await.err().unwrap(),
        Clusters::get(&world.console, &nobody, &"prod".parse().unwrap()).await.unwrap_err(),
    ];
    assert!(refused.iter().all(|p| matches!(p, Problem::Forbidden { .. })), "{refused:?}");
}

/// Only a refusal (403) is shown on the page. Other errors fail the request.
#[tokio::test]
async fn unreadable_host_keys_leave_the_rest_visible() {
    let (world, _) = with_cluster().await;
    let prod = "prod".parse().unwrap();
    let shown = Configurations::read(&world.console, &user(Some("viewer")), &prod).await.unwrap();
    assert_eq!(shown.inventory.text, HOSTS);
    assert_eq!(shown.ssh.host_keys, None);
    assert!(shown.ssh.problem.unwrap().contains("may not"));
    let unlucky = Configurations::read(&world.console, &user(Some("unlucky")), &prod).await;
    assert!(matches!(unlucky, Err(Problem::Unavailable { .. })), "{unlucky:?}");
}

#[tokio::test]
async fn a_plan_names_clusters_that_the_user_may_not_read() {
    let (world, _) = with_cluster().await;
    let cluster = json!({"apiVersion": "kubeonkube.clay.io/v1alpha1", "kind": "Cluster", "metadata": {"name": "lab"},
        "spec": {"hostsConfRef": {"namespace": "lab", "name": "x"}, "varsConfRef": {"namespace": "lab", "name": "y"}}});
    world.clusters().create(&Default::default(), &serde_json::from_value(cluster).unwrap()).await.unwrap();
    let viewer = user(Some("viewer"));
    eventually(async || Clusters::list(&world.console, &viewer, &Default::default()).await.unwrap().totals.all == 2)
        .await;
    let plan = Creations::read(&world.console, &viewer, &"prod".parse().unwrap()).await.unwrap().plan;
    let warnings = plan.operation.unwrap().warnings.join("\n");
    assert!(warnings.contains("The machines of lab could not be compared"), "{warnings}");
}

/// The server's own client has these rights and must not be used for users.
#[tokio::test]
async fn writes_and_reads_of_inputs_carry_the_persons_token() {
    let (world, guard) = with_cluster().await;
    let before = world.everything().await;
    let reader = user(Some("reader"));
    let prod = "prod".parse().unwrap();
    let answers: Vec<Result<(), Problem>> = vec![
        Clusters::register(&world.console, &reader, &new_cluster("lab")).await.map(drop),
        Configurations::save(&world.console, &reader, &prod, api::configuration::Document::Variables, "1", "a: 1\n")
            .await
            .map(drop),
        Operations::submit(&world.console, &reader, &new_operation("prod")).await.map(drop),
        world
            .console
            .unregister(&reader, &prod, &api::cluster::Unregister { confirm: "prod".into(), delete_records: true })
            .await,
    ];
    assert!(answers.iter().all(|a| matches!(a, Err(Problem::Forbidden { .. }))), "{answers:?}");
    assert!(answers.iter().all(|a| a.as_ref().unwrap_err().to_string().ends_with('.')), "{answers:?}");
    assert_eq!(world.everything().await, before);
    assert!(guard.asked.lock().unwrap().len() >= answers.len());
}

#[tokio::test]
async fn a_list_of_config_maps_needs_the_users_own_right() {
    let (world, guard) = with_cluster().await;
    let offered = Operations::sources(&world.console, &user(Some("viewer")), "prod", "machines/h").await.unwrap();
    assert_eq!((offered.config_maps, offered.keys.unwrap().len()), (None, 2));
    assert!(
        offered.note.contains("You may not list the ConfigMaps of namespace machines. Type one"),
        "{}",
        offered.note
    );
    let unread = Operations::sources(&world.console, &user(Some("reader")), "prod", "machines/h").await.unwrap();
    assert_eq!(unread.keys, None);
    assert!(guard.asked.lock().unwrap().iter().any(|asked| asked == "GET /api/v1/namespaces/machines/configmaps"));
}

#[tokio::test]
async fn in_a_cluster_a_request_without_a_token_is_refused() {
    let (world, _) = guarded().await;
    for token in [None, Some("")] {
        let answer = Clusters::list(&world.console, &user(token), &Default::default()).await;
        assert!(matches!(answer, Err(Problem::SignedOut)), "{answer:?}");
    }
}
