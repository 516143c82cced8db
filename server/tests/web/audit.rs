//! The audit log of the real server functions, which call the fake backend.

use std::fs;

use api::operation::Draft;
use http::{Method, StatusCode, header};
use serde_json::Value;

use crate::pages::world;
use crate::world::{ORIGIN, World};

/// A text that a form sends and that no line may contain.
const SECRET: &str = "hunter2-in-a-form";

/// Server functions that change nothing, and preferences of the browser.
const CHANGES_NOTHING: [&str; 9] = [
    "keep_editing",
    "review_change",
    "review_cluster",
    "review_nodes",
    "review_operation",
    "scan_host_keys",
    "set_sidebar",
    "set_theme",
    "set_wrap",
];

/// All others, with a form and what its line says: verb, kind, name and result. The fake backend refuses most of them.
const CHANGES: [(&str, &str, [&str; 4]); 15] = [
    ("add_nodes", "cluster=prod&pasted=SECRET", ["add-nodes", "Cluster", "prod", "failed"]),
    ("cancel_operation", "name=grow", ["cancel", "ClusterOperation", "grow", "allowed"]),
    ("change_key", "cluster=prod&step=store&ssh=paste&ssh_key=SECRET", ["store-key", "Cluster", "prod", "failed"]),
    (
        "change_secret_variable",
        "cluster=prod&step=set&variable=a&secret_value=SECRET",
        ["set-secret-variable", "Cluster", "prod", "failed"],
    ),
    ("check_machines", "cluster=prod", ["check-machines", "Cluster", "prod", "failed"]),
    ("create_cluster", "cluster=prod&made_name=a&expected_inputs=SECRET", ["create", "Cluster", "prod", "failed"]),
    ("forget_node", "cluster=prod&node=m1&version=SECRET", ["forget", "Node", "m1", "failed"]),
    (
        "register_cluster",
        "name=prod&ssh=paste&ssh_key=SECRET&variables=SECRET",
        ["register", "Cluster", "prod", "refused"],
    ),
    ("remove_node", "cluster=prod&node=m1&made_name=a", ["remove", "Node", "m1", "failed"]),
    ("run_ping", "cluster=prod", ["submit", "ClusterOperation", "", "failed"]),
    ("save_change", "cluster=prod&document=variables&version=1&text=SECRET", ["save", "Cluster", "prod", "failed"]),
    ("set_probe", "cluster=prod&url=http://SECRET/", ["save", "Cluster", "prod", "failed"]),
    ("start_upgrade", "cluster=prod&to=1.34.4&from=1.33.0", ["upgrade", "Cluster", "prod", "failed"]),
    (
        "submit_operation",
        "cluster=prod&kind=script&script=SECRET&name=ops-1",
        ["submit", "ClusterOperation", "ops-1", "failed"],
    ),
    ("unregister_cluster", "cluster=prod&confirm=SECRET", ["unregister", "Cluster", "prod", "failed"]),
];

/// The form with the mark that a review of an operation leaves.
fn reviewed(form: &str) -> String {
    let pairs = form.split('&').filter_map(|pair| pair.split_once('='));
    let values: Vec<_> = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    format!("{form}&reviewed={}", Draft::typed(&values).fingerprint())
}

/// The lines so far.
fn lines(world: &World) -> Vec<Value> {
    let text = fs::read_to_string(world.data.path().join("audit.log")).unwrap_or_default();
    assert!(!text.contains(SECRET), "a secret is in the audit log: {text}");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[tokio::test]
async fn each_change_leaves_one_line_without_secrets() {
    let world = world();
    let cookie = world.sign_in().await;
    for (function, form, expected) in CHANGES {
        let before = lines(&world).len();
        world.post(&format!("/api/{function}"), &cookie, reviewed(&form.replace("SECRET", SECRET))).await;
        let lines = lines(&world);
        assert_eq!(lines.len(), before + 1, "{function}: {lines:?}");
        let line = &lines[before];
        let said = ["verb", "kind", "name", "result"].map(|field| line[field].as_str().unwrap_or_default());
        assert_eq!(said, expected, "{function}: {line}");
        assert_eq!(line["user"], "ann", "{function}: {line}");
    }
}

#[tokio::test]
async fn every_function_that_changes_something_is_recorded() {
    let world = world();
    let posts = server_fn::axum::server_fn_paths().filter(|(_, method)| *method == Method::POST);
    for (path, _) in posts {
        let name = path.trim_start_matches("/api/");
        let changes = CHANGES.iter().any(|(function, ..)| *function == name);
        assert_ne!(changes, CHANGES_NOTHING.contains(&name), "{name} is new: does it change something?");
    }
    let cookie = world.sign_in().await;
    let before = lines(&world).len();
    for function in CHANGES_NOTHING {
        let form = "cluster=prod&document=variables&version=1&theme=dark&sidebar=open&wrap=on&name=prod";
        world.post(&format!("/api/{function}"), &cookie, form).await;
    }
    assert_eq!(lines(&world).len(), before, "{:?}", lines(&world));
}

#[tokio::test]
async fn downloads_and_sessions_leave_one_line_each() {
    let world = world();
    let refused = world.post("/login", "", format!("token={SECRET}")).await;
    assert_ne!(refused.status, StatusCode::SEE_OTHER);
    let cookie = world.sign_in().await;
    world.get("/operations/grow/log.txt", &cookie).await;
    world.get("/operations/none/log.txt", &cookie).await;
    for cluster in ["prod", "none"] {
        let got = world.post(&format!("/clusters/{cluster}/kubeconfig"), &cookie, "").await;
        assert_eq!(got.status.is_success(), cluster == "prod");
    }
    world.post("/logout", &cookie, "").await;
    let said: Vec<_> = lines(&world)
        .iter()
        .map(|line| {
            ["user", "verb", "name", "part", "result"].map(|field| line[field].as_str().unwrap_or("-").to_owned())
        })
        .collect();
    let expected = [
        ["", "sign-in", "", "-", "refused"],
        ["ann", "sign-in", "", "-", "allowed"],
        ["ann", "download", "grow", "log", "allowed"],
        ["ann", "download", "none", "log", "refused"],
        ["ann", "download", "prod", "kubeconfig", "allowed"],
        ["ann", "download", "none", "kubeconfig", "refused"],
        ["ann", "sign-out", "", "-", "allowed"],
    ];
    assert_eq!(said, expected);
}

#[tokio::test]
async fn a_form_without_javascript_is_recorded_with_its_origin() {
    let world = world();
    let cookie = world.sign_in().await;
    let request = http::Request::post("/operations/grow").header(header::COOKIE, &cookie);
    let request = request.header(header::ORIGIN, ORIGIN).header("x-forwarded-for", "203.0.113.9");
    let request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    world.send(request, "form=cancel_operation&name=grow").await;
    let lines = lines(&world);
    let line = lines.last().expect("a line");
    assert_eq!((&line["verb"], &line["forwarded_for"]), (&"cancel".into(), &"203.0.113.9".into()), "{lines:?}");
}
