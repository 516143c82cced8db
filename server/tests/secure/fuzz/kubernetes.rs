//! The Kubernetes port: bodies, patches, queries, paths and heads.

use mutation::{Mutator, cases};
use serde_json::{Value, json};

use super::Watcher;
use super::samples::{PATHS, QUERIES, objects, patches};
use super::wire::{Request, Target};
use crate::server::Server;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fuzz_the_kubernetes_port() {
    let server = Server::start(&[]).await;
    let target = Target::kubernetes(&server);
    let mut watcher = Watcher::new(&server, &target);
    let ordinary = target.get("/api/v1/namespaces/default");
    for request in nested(&target) {
        watcher.sends(&request, &ordinary).await;
    }
    assert_eq!(target.send(&ordinary.bytes()).await, Some(200), "after nested documents");
    for mut mutator in cases("fuzz_the_kubernetes_port") {
        let request = request(&target, &mut mutator);
        watcher.sends(&request, &ordinary).await;
    }
    watcher.check("the last request");
}

/// Documents that are nested as deeply as the readers allow, and deeper.
fn nested(target: &Target) -> Vec<Request> {
    let path = "/api/v1/namespaces/default/configmaps/a";
    let kinds = [
        ("PATCH", format!("{path}?fieldManager=a"), "application/apply-patch+yaml"),
        ("PUT", path.to_owned(), "application/yaml"),
        ("PUT", path.to_owned(), "application/json"),
        ("PATCH", path.to_owned(), "application/merge-patch+json"),
    ];
    let of_depth = |depth: usize| format!("{}null{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    let bodies = [100, 126, 127, 128, 129, 5000].map(of_depth);
    let with_body =
        |body: &String| kinds.each_ref().map(|(method, path, kind)| target.request(method, path, kind, body.as_str()));
    bodies.iter().flat_map(with_body).collect()
}

fn request(target: &Target, mutator: &mut Mutator) -> Request {
    let objects = objects();
    let (collection, sample) = mutator.pick(&objects).clone();
    let name = format!("{collection}/a");
    let query = if mutator.one_in(3) { format!("?{}", mutator.pick(QUERIES)) } else { String::new() };
    let json = "application/json";
    let mut request = match mutator.below(16) {
        0..=3 => target.request("POST", &format!("{collection}{query}"), json, body(&sample, mutator)),
        4 | 5 => target.request("PUT", &format!("{name}{query}"), json, body(&sample, mutator)),
        6..=9 => {
            let patches = patches();
            let (kind, samples) = mutator.pick(&patches);
            let patch = mutator.pick(samples).clone();
            target.request("PATCH", &format!("{name}{query}"), kind, body(&patch, mutator))
        }
        10 => {
            let path = format!("{name}?fieldManager=a&{}", if mutator.one_in(2) { "force=true" } else { "" });
            target.request("PATCH", &path, "application/apply-patch+yaml", body(&sample, mutator))
        }
        11 => {
            let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background",
                "gracePeriodSeconds": 0, "preconditions": {"uid": "x", "resourceVersion": "1"}, "dryRun": ["All"]});
            let path = if mutator.one_in(4) { collection.to_owned() } else { name };
            target.request(
                "DELETE",
                &format!("{path}{query}"),
                json,
                if mutator.one_in(2) { body(&options, mutator) } else { Vec::new() },
            )
        }
        12 => target.request("POST", collection, "application/vnd.kubernetes.protobuf", mutator.bytes(&protobuf())),
        13 => {
            let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
                "spec": {"resourceAttributes": {"verb": "get", "resource": "pods", "namespace": "default"}}});
            target.request(
                "POST",
                "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                json,
                body(&review, mutator),
            )
        }
        14 => target.get(mutator.pick::<&str>(PATHS)),
        _ => {
            let query = *mutator.pick(QUERIES);
            let query = if mutator.one_in(2) { mutator.text(query).replace(' ', "+") } else { query.to_owned() };
            target.get(&format!("{collection}?{query}"))
        }
    };
    if mutator.one_in(4) {
        request.change_head(mutator);
    }
    request
}

/// Mostly valid JSON, because broken JSON is refused before anything else happens.
fn body(sample: &Value, mutator: &mut Mutator) -> Vec<u8> {
    let json = mutator.json(sample).to_string();
    if mutator.one_in(10) { mutator.bytes(json.as_bytes()) } else { json.into_bytes() }
}

/// A ConfigMap as `kubectl create configmap` sends it.
fn protobuf() -> Vec<u8> {
    let field = |number: u8, content: &[u8]| {
        [&[number << 3 | 2, u8::try_from(content.len()).expect("short")], content].concat()
    };
    let entry = [field(1, b"k"), field(2, b"v")].concat();
    let meta = [field(1, b"pb"), field(2, b""), field(3, b"")].concat();
    let map = [field(1, &meta), field(2, &entry)].concat();
    let types = [field(1, b"v1"), field(2, b"ConfigMap")].concat();
    [b"k8s\0".to_vec(), field(1, &types), field(2, &map)].concat()
}
