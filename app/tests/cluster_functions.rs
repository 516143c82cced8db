//! The server functions behind the cluster forms.

mod fake;

use api::Problem;
use axum::http::StatusCode;
use fake::{Fake, submit, submit_as};

#[tokio::test]
async fn a_form_reaches_the_backend_as_typed() {
    let fake = Fake::default();
    let body = "form=register_cluster&name=+prod+&machines%5B0%5D%5Bname%5D=node1&machines%5B0%5D%5Baddress%5D=10.0.0.11\
                &machines%5B1%5D%5Bname%5D=&ssh=paste&ssh_key=a%0D%0Ab%0D%0A&ssh_key_file=&variables=x%3A+1%0D%0A";
    let page = submit(&fake, "register_cluster", body).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.html);
    assert_eq!(page.location.as_deref(), Some("/clusters/prod?registered=1"));
    let called = fake.calls.lock().unwrap().join("\n");
    for part in [
        "name: \"prod\"",
        "name: \"node1\"",
        "address: \"10.0.0.11\"",
        "ssh_key: \"a\\nb\\n\"",
        "variables: \"x: 1\\n\"",
    ] {
        assert!(called.contains(part), "{part} is missing in {called}");
    }
}

#[tokio::test]
async fn an_uploaded_key_replaces_a_pasted_one() {
    let fake = Fake::default();
    submit(&fake, "review_cluster", "name=prod&ssh=paste&ssh_key=pasted&ssh_key_file=uploaded").await;
    assert!(fake.calls.lock().unwrap().join("").contains("ssh_key: \"uploaded\""));
}

#[tokio::test]
async fn a_problem_with_a_key_is_shown_at_the_used_field() {
    let fake = Fake { registration: Err(Problem::field("ssh_key", "This is not text.")), ..Fake::default() };
    for function in ["review_cluster", "register_cluster"] {
        for (given, field) in [("ssh_key=x&ssh_key_file=", "ssh_key"), ("ssh_key=&ssh_key_file=x", "ssh_key_file")] {
            let page = submit(&fake, function, &format!("name=prod&ssh=paste&{given}")).await;
            let problem: Problem = serde_json::from_str(&page.html).unwrap();
            assert_eq!(problem, Problem::field(field, "This is not text."), "{function}, {given}");
        }
    }
}

#[tokio::test]
async fn fifty_machines_keep_their_order() {
    let fake = Fake::default();
    let rows: String = (0..50).map(|n| format!("&machines%5B{n}%5D%5Bname%5D=node{n}")).collect();
    let page = submit(&fake, "review_cluster", &format!("name=prod{rows}")).await;
    assert_eq!(page.status, StatusCode::OK, "{}", page.html);
    let called = fake.calls.lock().unwrap().join("");
    let places: Vec<_> = (0..50).map(|n| called.find(&format!("\"node{n}\"")).expect("every row arrives")).collect();
    assert!(places.is_sorted());
}

#[tokio::test]
async fn the_first_run_is_a_ping_without_a_review() {
    let fake = Fake::default();
    let page = submit(&fake, "run_ping", "cluster=prod-fra").await;
    assert!(page.location.is_some_and(|at| at.starts_with("/operations/")));
    let called = fake.calls.lock().unwrap().join("");
    assert!(called.contains("ClusterName(\"prod-fra\")") && called.contains("playbook: \"ping.yml\""), "{called}");
}

#[tokio::test]
async fn a_refusal_returns_a_status_and_a_problem() {
    let refused = Problem::field("name", "“A” can't be a name.");
    let fake = Fake { registration: Err(refused.clone()), ..Fake::default() };
    let page = submit(&fake, "register_cluster", "name=A").await;
    assert_eq!(page.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(serde_json::from_str::<Problem>(&page.html).unwrap(), refused);
}

#[tokio::test]
async fn saving_redirects_so_that_the_new_version_is_loaded() {
    let fake = Fake::default();
    let body = "cluster=prod-fra&document=variables&version=41&text=a%3A+1%0D%0A";
    let page = submit(&fake, "save_change", body).await;
    assert_eq!(page.location.as_deref(), Some("/clusters/prod-fra/configuration?show=variables&saved=43"));
    assert_eq!(fake.calls.lock().unwrap().last().unwrap(), "save prod-fra variables 41 \"a: 1\\n\"");
}

#[tokio::test]
async fn records_are_deleted_only_on_request() {
    let fake = Fake::default();
    submit(&fake, "unregister_cluster", "cluster=prod&confirm=prod").await;
    submit(&fake, "unregister_cluster", "cluster=prod&confirm=prod&records=delete").await;
    let calls = fake.calls.lock().unwrap();
    assert!(calls[0].contains("delete_records: false") && calls[1].contains("delete_records: true"), "{calls:?}");
}

#[tokio::test]
async fn a_signed_out_user_changes_nothing() {
    let fake = Fake::default();
    let forms = [
        ("register_cluster", "name=prod"),
        ("review_cluster", "name=prod"),
        ("save_change", "cluster=a&document=inventory&version=1&text=x"),
        ("review_change", "cluster=a&document=inventory&version=1&text=x"),
        ("run_ping", "cluster=a"),
        ("scan_host_keys", "cluster=a&document=host_keys&version="),
        ("unregister_cluster", "cluster=a&confirm=a"),
        ("set_theme", "theme=dark"),
    ];
    for (function, body) in forms {
        let page = submit_as(&fake, None, function, body).await;
        assert_eq!(page.status, StatusCode::UNAUTHORIZED, "{function}");
    }
    assert!(fake.calls.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_cluster_with_an_invalid_name_is_not_found() {
    let page = submit(&Fake::default(), "save_change", "cluster=..%2Fx&document=inventory&version=1&text=x").await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_preference_never_redirects_to_another_origin() {
    let fake = Fake::default();
    assert_eq!(submit(&fake, "set_theme", "theme=dark&next=%2F%2Fevil.example").await.location, None);
    assert_eq!(submit(&fake, "set_theme", "theme=dark&next=%2Fsettings").await.location.as_deref(), Some("/settings"));
}
