//! How long the console caches the cluster's answer about a person's rights. The test controls the clock.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use api::backend::{Changes, Clusters, Operations};
use api::{Problem, User};
use console::{Change, Console, Playbooks, UserClients};
use futures::StreamExt;
use http::{Request, Response, StatusCode};
use kube::Client;
use kube::client::Body;
use serde_json::json;
use tokio::time::{advance, pause};
use tokio_util::sync::CancellationToken;

/// The longest time that a revoked right still works.
const CACHED_FOR: Duration = Duration::from_secs(30);

/// An API that answers only access reviews.
#[derive(Default)]
struct Reviews {
    allowed: AtomicBool,
    asked: AtomicUsize,
}

impl Reviews {
    fn clients(self: &Arc<Self>) -> UserClients {
        let reviews = self.clone();
        Arc::new(move |_: &str| {
            let reviews = reviews.clone();
            let answer = move |request: Request<Body>| {
                let reviews = reviews.clone();
                async move { Ok::<_, Infallible>(reviews.answer(&request)) }
            };
            Ok(Client::new(tower::service_fn(answer), "default"))
        })
    }

    fn answer(&self, request: &Request<Body>) -> Response<Body> {
        assert!(request.uri().path().ends_with("/selfsubjectaccessreviews"), "{}", request.uri());
        self.asked.fetch_add(1, Ordering::Relaxed);
        let allowed = self.allowed.load(Ordering::Relaxed);
        let review = json!({"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "spec": {},
            "status": {"allowed": allowed}});
        let body = Body::from(serde_json::to_vec(&review).expect("json"));
        Response::builder().status(StatusCode::CREATED).body(body).expect("a response")
    }
}

fn console(reviews: &Arc<Reviews>) -> Console {
    let options = console::Options {
        client: Client::new(
            tower::service_fn(async |_: Request<Body>| -> Result<Response<Body>, Infallible> {
                panic!("the server's own client was used")
            }),
            "default",
        ),
        user_clients: Some(reviews.clients()),
        clusters: kube::runtime::reflector::store().0,
        operations: kube::runtime::reflector::store().0,
        namespace: "default".into(),
        image: "none".into(),
        playbooks: Playbooks::Image,
        signing: controller::Signing::default(),
        availability: "/nonexistent".into(),
    };
    // The second value, which counts machines in the background, isn't needed here.
    console::start(options, CancellationToken::new()).0
}

#[tokio::test]
async fn a_revoked_right_is_gone_within_30_seconds() {
    let reviews = Arc::new(Reviews::default());
    reviews.allowed.store(true, Ordering::Relaxed);
    let console = console(&reviews);
    let ann = User { name: "ann".into(), token: Some("hers".into()) };
    pause();
    Clusters::list(&console, &ann, &Default::default()).await.expect("allowed");
    Operations::list(&console, &ann, &Default::default()).await.expect("allowed");
    let mut changes = console.subscribe(&ann).await.expect("allowed");
    assert_eq!(reviews.asked.load(Ordering::Relaxed), 2);

    reviews.allowed.store(false, Ordering::Relaxed);
    advance(CACHED_FOR - Duration::from_millis(1)).await;
    Clusters::list(&console, &ann, &Default::default()).await.expect("still cached");
    assert_eq!(reviews.asked.load(Ordering::Relaxed), 2, "the cluster was asked again too early");
    advance(Duration::from_millis(1)).await;
    let refused = Clusters::list(&console, &ann, &Default::default()).await;
    assert!(matches!(refused, Err(Problem::Forbidden { .. })), "{refused:?}");
    let refused = Operations::list(&console, &ann, &Default::default()).await;
    assert!(matches!(refused, Err(Problem::Forbidden { .. })), "{refused:?}");
    console.changed(Change::Cluster("prod".into()));
    assert!(changes.next().await.is_none(), "changes were still sent");
}
