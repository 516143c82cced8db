//! The cluster pages over a fake backend, as rendered without JavaScript.

mod fake;

use api::Problem;
use api::cluster::{Health, LastReplacement, NodeResults, NodesReview, Removal, Replacement, ReplacementStep};
use api::configuration::{Document, NextKey, SecretVariables, StoredKey};
use api::operation::Phase;
use axum::http::StatusCode;
use fake::{Fake, cluster, list, operation, page, page_with, submit};
use kubeonkube_app::{FormAnswer, FormReturn};
use leptos::prelude::provide_context;

#[tokio::test]
async fn the_list_shows_name_health_last_operation_and_user() {
    let mut row = cluster("staging", Health::Attention);
    row.last = Some(operation("upgrade-7", "staging", Phase::Failed));
    row.note = "task “kubeadm upgrade apply” on stg-cp1".into();
    let fake = Fake { clusters: Ok(list(vec![row])), ..Fake::default() };
    let page = page(&fake, "/clusters").await;
    assert_eq!(page.status, StatusCode::OK);
    page.shows("href=\"/clusters/staging\"")
        .shows("ping.yml failed")
        .shows("href=\"/operations/upgrade-7\"")
        .shows(", Failed")
        .shows(" · ada")
        .shows("14 min ago")
        .shows("region=eu")
        .shows("task “kubeadm upgrade apply” on stg-cp1")
        .shows("<title>Clusters · kubeonkube</title>");
}

#[tokio::test]
async fn an_empty_list_shows_one_sentence_and_one_button() {
    let fake = Fake { clusters: Ok(list(vec![])), ..Fake::default() };
    page(&fake, "/clusters").await.shows("No clusters yet").shows("href=\"/clusters/_new\"").hides("<table");
}

#[tokio::test]
async fn a_filter_without_matches_offers_all_clusters() {
    let mut none = list(vec![cluster("prod-fra", Health::Good)]);
    none.rows.clear();
    let fake = Fake { clusters: Ok(none), ..Fake::default() };
    page(&fake, "/clusters?q=zzz").await.shows("No cluster matches").shows("Show all clusters").shows("value=\"zzz\"");
}

#[tokio::test]
async fn a_list_that_fails_to_load_says_why_and_offers_a_retry() {
    let message = "The Kubernetes API does not answer. It is tried again by itself.";
    let fake = Fake { clusters: Err(Problem::Unavailable { message: message.into() }), ..Fake::default() };
    let page = page(&fake, "/clusters?q=a").await;
    assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE);
    page.shows(message).shows("href=\"/clusters?q=a\"").shows("Try again");
}

#[tokio::test]
async fn the_loading_skeleton_appears_only_after_300_ms() {
    // The server renders after loading its data, so only the browser shows a skeleton. Its delay is in the style sheet.
    let css = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../style/40-status.css")).unwrap();
    assert!(css.contains("animation: appear 1ms 300ms forwards"));
    page(&Fake::default(), "/clusters").await.hides("class=\"skeleton\"");
}

#[tokio::test]
async fn links_for_view_sort_and_page_keep_the_other_settings() {
    let mut many = list(vec![cluster("a", Health::Good)]);
    many.pages = 3;
    many.page = 2;
    many.matching = 201;
    let fake = Fake { clusters: Ok(many), ..Fake::default() };
    let page = page(&fake, "/clusters?q=eu&show=attention&sort=name&page=2").await;
    page.shows("href=\"/clusters?q=eu&amp;show=running&amp;sort=name\"")
        .shows("href=\"/clusters?q=eu&amp;show=attention&amp;sort=-name\"")
        .shows("href=\"/clusters?q=eu&amp;show=attention&amp;sort=name&amp;page=3\"")
        .shows("aria-sort=\"ascending\"")
        .shows("name=\"sort\" value=\"name\"")
        .shows("Page 2 of 3 · 201 clusters");
    let asked = fake.calls.lock().unwrap().join("\n");
    assert!(asked.contains("q: \"eu\", show: \"attention\", sort: \"name\", page: 2"), "{asked}");
}

#[tokio::test]
async fn hostile_input_is_escaped_everywhere() {
    let hostile = "</title><script>alert(1)</script>";
    let mut row = cluster("prod-fra", Health::Broken);
    row.note = hostile.into();
    row.health_word = hostile.into();
    row.labels = vec![hostile.into()];
    if let Some(last) = &mut row.last {
        last.action = hostile.into();
        last.by = hostile.into();
    }
    let mut detail = fake::detail("prod-fra");
    detail.row = row.clone();
    detail.facts[0].value = hostile.into();
    let mut configuration = fake::configuration();
    configuration.inventory.text = "</textarea><script>alert(1)</script>".into();
    let fake =
        Fake { clusters: Ok(list(vec![row])), detail: Ok(detail), configuration: Ok(configuration), ..Fake::default() };
    let search = "/clusters?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E";
    let named = "/clusters/%3C%2Ftitle%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E/unregister";
    for path in ["/clusters", "/clusters/prod-fra", "/clusters/prod-fra/configuration", search, named] {
        page(&fake, path).await.hides("<script>alert");
    }
}

#[tokio::test]
async fn a_missing_cluster_is_a_404_with_one_message() {
    let gone = Problem::NotFound { what: "cluster".into(), name: "nope".into() };
    let fake =
        Fake { detail: Err(gone.clone()), nodes: Err(gone.clone()), configuration: Err(gone), ..Fake::default() };
    for tab in ["", "/nodes", "/operations", "/configuration", "/unregister"] {
        let page = page(&fake, &format!("/clusters/nope{tab}")).await;
        assert_eq!(page.status, StatusCode::NOT_FOUND, "{tab}");
        // The style sheet hides a tab whose header is missing.
        let (header, _) = page.html.split_once("tab-body").unwrap();
        assert_eq!(header.matches("There is no cluster called").count(), 1, "{tab}: {}", page.html);
        page.hides("class=\"tabs\"").shows("class=\"gone\"").shows("<h1>nope").shows("nope · kubeonkube</title>");
    }
}

#[tokio::test]
async fn a_tab_that_can_not_be_shown_keeps_the_header() {
    let gone = Problem::NotFound { what: "cluster".into(), name: "prod-fra".into() };
    for problem in [gone, Problem::SignedOut] {
        let fake = Fake { nodes: Err(problem.clone()), configuration: Err(problem.clone()), ..Fake::default() };
        for tab in ["nodes", "configuration"] {
            let page = page(&fake, &format!("/clusters/prod-fra/{tab}")).await;
            assert_eq!(page.status.as_u16(), problem.status(), "{tab}");
            let (header, below) = page.html.split_once("tab-body").unwrap();
            assert!(header.contains("class=\"tabs\"") && !header.contains("class=\"gone\""), "{tab}: {header}");
            assert!(below.contains(&problem.to_string()), "{tab}: {below}");
        }
    }
}

#[tokio::test]
async fn a_page_loads_its_data_once() {
    let fake = Fake::default();
    for path in [
        "/clusters/prod-fra",
        "/clusters/prod-fra?registered=1",
        "/clusters/prod-fra/nodes",
        "/clusters/prod-fra/configuration",
    ] {
        fake.calls.lock().unwrap().clear();
        page(&fake, path).await;
        let mut calls = fake.calls.lock().unwrap().clone();
        calls.sort();
        let all = calls.len();
        calls.dedup();
        assert_eq!(calls.len(), all, "{path} loaded something twice: {calls:?}");
    }
}

#[tokio::test]
async fn an_unknown_page_is_a_404_with_a_link_back() {
    let page = page(&Fake::default(), "/nowhere").await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
    page.shows("Page not found").shows("href=\"/clusters\"");
}

#[tokio::test]
async fn the_overview_shows_operations_conditions_and_facts() {
    let page = page(&Fake::default(), "/clusters/prod-fra").await;
    page.shows("prod-fra · kubeonkube</title>")
        .shows("Recent operations")
        .shows("All 34")
        .shows("59 s")
        .shows("All readable.")
        .shows("Namespace")
        .shows("href=\"/operations/_new?cluster=prod-fra\"")
        .shows("aria-current=\"page\">Overview");
}

#[tokio::test]
async fn after_registering_the_key_and_the_first_run_are_offered() {
    let fake = Fake::default();
    page(&fake, "/clusters/prod-fra?registered=1")
        .await
        .shows("ssh-ed25519 AAAApublic prod-fra")
        .shows("value=\"run_ping\"")
        .shows("Scan and confirm the machines");
    page(&fake, "/clusters/prod-fra").await.hides("AAAApublic");
}

#[tokio::test]
async fn a_crafted_link_can_not_show_another_public_key() {
    let fake = Fake::default();
    let page = page(&fake, "/clusters/prod-fra?registered=ssh-ed25519%20AAAAevil").await;
    page.shows("<code>ssh-ed25519 AAAApublic").hides("<code>ssh-ed25519 AAAAevil").hides(">AAAAevil");
}

#[tokio::test]
async fn nodes_are_filtered_by_the_url() {
    let mut nodes = fake::Fake::default().nodes.unwrap();
    let mut worker = fake::node("fra-w1");
    worker.roles = vec!["node".into()];
    nodes.nodes.push(worker);
    let fake = Fake { nodes: Ok(nodes), ..Fake::default() };
    page(&fake, "/clusters/prod-fra/nodes").await.shows("fra-cp1").shows("fra-w1").shows("ops@10.0.0.11:22");
    page(&fake, "/clusters/prod-fra/nodes?role=node").await.hides(">fra-cp1<").shows("fra-w1");
    page(&fake, "/clusters/prod-fra/nodes?q=zzz").await.shows("No host matches");
}

#[tokio::test]
async fn a_host_without_a_result_says_why() {
    let mut fake = Fake::default();
    let nodes = fake.nodes.as_mut().unwrap();
    nodes.nodes[0].last_result = None;
    for (results, words) in [
        (NodeResults::NoRun, "Not in a run yet"),
        (NodeResults::NewestRun, "Not in the last run"),
        (NodeResults::Unknown, "Result unknown"),
    ] {
        fake.nodes.as_mut().unwrap().results = results;
        page(&fake, "/clusters/prod-fra/nodes").await.shows(words);
    }
}

#[tokio::test]
async fn an_unreadable_inventory_is_reported_on_the_nodes_page() {
    let mut nodes = fake::Fake::default().nodes.unwrap();
    nodes.nodes.clear();
    nodes.problem = Some("hosts.yml is not valid YAML: line 3, column 1.".into());
    let fake = Fake { nodes: Ok(nodes), ..Fake::default() };
    page(&fake, "/clusters/prod-fra/nodes").await.shows("line 3, column 1").shows("/clusters/prod-fra/configuration");
}

#[tokio::test]
async fn a_refused_registration_keeps_everything_but_the_key() {
    let typed = [
        ("name", "Prod!"),
        ("machines[0][name]", "node1"),
        ("machines[9][address]", "10.0.0.<b>"),
        ("pasted", "a 10.0.0.1\r\nb 10.0.0.2"),
        ("ssh", "paste"),
        ("ssh_key", "-----BEGIN OPENSSH PRIVATE KEY-----secret"),
        ("ssh_key_file", "-----BEGIN OPENSSH PRIVATE KEY-----secret"),
        ("variables", "kube_version: 1"),
    ];
    let back = move || {
        provide_context(FormReturn {
            form: "register_cluster".into(),
            values: typed.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect(),
            problem: Problem::fields(vec![
                api::FieldProblem { field: "name".into(), message: "“Prod!” can't be a name.".into() },
                api::FieldProblem { field: "machines[9].address".into(), message: "This is not an address.".into() },
                api::FieldProblem { field: "elsewhere".into(), message: "Something without a field.".into() },
            ])
            .unwrap(),
        });
    };
    let page = page_with(&Fake::default(), "/clusters/_new", back).await;
    page.shows("value=\"Prod!\"")
        .shows("“Prod!” can't be a name.")
        .shows("value=\"10.0.0.&lt;b&gt;\"")
        .shows("This is not an address.")
        .shows("Something without a field.")
        .shows("3 fields are invalid")
        .shows("aria-invalid=\"true\"")
        .shows(">a 10.0.0.1\r\nb 10.0.0.2</textarea>")
        .shows("kube_version: 1")
        .hides("BEGIN OPENSSH PRIVATE KEY-----secret");
}

#[tokio::test]
async fn a_review_shows_the_files_and_asks_for_the_key_again() {
    let back = || {
        let review = serde_json::json!({"files": [{"title": "hosts.yml", "text": "all: {}"}], "nodes": [], "warnings": ["One control plane node is not a quorum."]});
        provide_context(FormAnswer {
            form: "review_cluster".into(),
            values: vec![
                ("name".into(), "prod".into()),
                ("ssh".into(), "paste".into()),
                ("ssh_key".into(), "secret-key-text".into()),
            ],
            answer_json: review.to_string(),
        });
    };
    let page = page_with(&Fake::default(), "/clusters/_new", back).await;
    page.shows("hosts.yml")
        .shows("all: {}")
        .shows("not a quorum")
        .shows("value=\"register_cluster\"")
        .shows("value=\"keep_editing\"")
        .shows("value=\"prod\"")
        .shows("Enter the private key again")
        .hides("secret-key-text");
}

#[tokio::test]
async fn the_nodes_tab_leads_to_the_form_that_adds_nodes() {
    page(&Fake::default(), "/clusters/prod-fra/nodes").await.shows("href=\"/clusters/prod-fra/nodes/add\"");
    let form = page(&Fake::default(), "/clusters/prod-fra/nodes/add").await;
    form.shows("value=\"prod-fra\"").shows("machines[0][address]").shows("value=\"review_nodes\"");
    form.shows("machines[0][role]").shows("<option value=\"worker\" selected").hides("No role");
}

#[tokio::test]
async fn the_review_of_new_nodes_shows_keys_change_and_command() {
    let back = || {
        provide_context(FormAnswer {
            form: "review_nodes".into(),
            values: vec![("cluster".into(), "prod-fra".into()), ("machines[0][name]".into(), "w3".into())],
            answer_json: serde_json::to_string(&fake::nodes_review()).unwrap(),
        });
    };
    let page = page_with(&Fake::default(), "/clusters/prod-fra/nodes/add", back).await;
    page.shows("SHA256:w3")
        .shows("w3 added to kube_node")
        .shows("--limit=w3,w4")
        .shows("installs Kubernetes on w3 and w4. fra-cp1 is asked, too. No task runs on the other 12 machines.")
        .shows("Takes about 20 s (18 s to 31 s), from the last 3 successful runs.")
        .shows("w4 doesn't answer")
        .shows("Queued behind grow-1")
        .shows("name=\"version\" value=\"41\"")
        .shows("name=\"host_keys\" value=\"10.0.0.13 ssh-ed25519 AAAA\n\"")
        .shows("name=\"made_name\" value=\"scale-x7k2f\"")
        .hides("What happens to the control plane")
        .shows("value=\"add_nodes\"");
}

#[tokio::test]
async fn the_review_of_control_planes_says_what_follows() {
    let back = || {
        let review =
            NodesReview { consequences: vec!["etcd grows from 1 member to 3.".into()], ..fake::nodes_review() };
        provide_context(FormAnswer {
            form: "review_nodes".into(),
            values: vec![("machines[0][role]".into(), "control_plane".into())],
            answer_json: serde_json::to_string(&review).unwrap(),
        });
    };
    let page = page_with(&Fake::default(), "/clusters/prod-fra/nodes/add", back).await;
    page.shows("What happens to the control plane")
        .shows("etcd grows from 1 member to 3.")
        .shows("<option value=\"control_plane\" selected");
}

#[tokio::test]
async fn removing_a_node_lists_the_consequences_first() {
    page(&Fake::default(), "/clusters/prod-fra/nodes")
        .await
        .shows("href=\"/clusters/prod-fra/nodes/remove?node=fra-cp1\"");
    let page = page(&Fake::default(), "/clusters/prod-fra/nodes/remove?node=fra-w1").await;
    page.shows("Remove fra-w1 from the cluster")
        .shows("The pods on fra-w1 are evicted.")
        .shows("Queued behind grow-1")
        .shows("name=\"form\" value=\"remove_node\"")
        .shows("name=\"made_name\" value=\"ping-x7k2f\"")
        .hides("from the inventory");
}

#[tokio::test]
async fn a_removed_node_can_be_removed_from_the_inventory() {
    let by = "remove-node-x7k2f".parse().unwrap();
    let removal = Removal::FromInventory { by, change: fake::change(), control_plane: true };
    let fake = Fake { removal: Ok(removal), ..Fake::default() };
    let page = page(&fake, "/clusters/prod-fra/nodes/remove?node=fra-w1").await;
    page.shows("href=\"/operations/remove-node-x7k2f\"")
        .shows("has removed fra-w1 from the cluster")
        .shows("fra-w1 added to kube_node")
        .shows("name=\"form\" value=\"forget_node\"")
        .shows("name=\"version\" value=\"41\"");
}

#[tokio::test]
async fn a_worker_is_replaced_by_one_form() {
    let path = "/clusters/prod-fra/nodes/replace?node=fra-w1";
    let tab = page(&Fake::default(), "/clusters/prod-fra/nodes").await;
    tab.shows("href=\"/clusters/prod-fra/nodes/replace?node=fra-cp1\"");
    let form = page(&Fake::default(), path).await;
    form.shows("name=\"replaces\" value=\"fra-w1\"").shows("value=\"review_nodes\"").shows("name=\"gone\"");
    form.shows("machines[0][address]").hides("machines[1]").hides("[role]").hides("pasted");
    let back = || {
        let review = NodesReview {
            replaces: "fra-w1".into(),
            consequences: vec!["w3 joins first.".into()],
            ..fake::nodes_review()
        };
        provide_context(FormAnswer {
            form: "review_nodes".into(),
            values: vec![("replaces".into(), "fra-w1".into()), ("gone".into(), "true".into())],
            answer_json: serde_json::to_string(&review).unwrap(),
        });
    };
    let review = page_with(&Fake::default(), path, back).await;
    review.shows("What happens to fra-w1").shows("w3 joins first.").shows("value=\"add_nodes\"");
}

#[tokio::test]
async fn a_replacement_shows_what_continues_it() {
    let at = async |next| {
        let state = vec!["fra-w9 is in the inventory, but not a node of the cluster.".to_owned()];
        let by = "scale-x7k2f".parse().unwrap();
        let last = LastReplacement { by, phase: Phase::Failed, machine: "fra-w9".into(), state, next };
        let fake = Fake { replacement: Ok(Replacement::Worker { last: Some(last) }), ..Fake::default() };
        let page = page(&fake, "/clusters/prod-fra/nodes/replace?node=fra-w1").await;
        page.shows("but not a node of the cluster").shows("href=\"/operations/scale-x7k2f\"");
        page.hides("machines[0][address]");
        page
    };
    let repeat = at(ReplacementStep::Repeat).await;
    repeat.shows("name=\"form\" value=\"add_nodes\"").shows("name=\"machines[0][name]\" value=\"fra-w9\"");
    let remove = "href=\"/clusters/prod-fra/nodes/remove?node=fra-w1\"";
    at(ReplacementStep::Remove).await.shows(remove).hides("add_nodes");
    at(ReplacementStep::Forget).await.shows(remove).shows("from the inventory");
    at(ReplacementStep::Wait).await.hides(remove).hides("add_nodes");
}

#[tokio::test]
async fn replacing_a_control_plane_removes_it_first() {
    let of = async |removed_by: Option<&str>, works| {
        let removed_by = removed_by.map(|name| name.parse().unwrap());
        let fake = Fake { replacement: Ok(Replacement::ControlPlane { removed_by, works }), ..Fake::default() };
        page(&fake, "/clusters/prod-fra/nodes/replace?node=fra-cp2").await
    };
    let page = of(None, false).await;
    page.shows("Remove fra-cp2…").shows("href=\"/clusters/prod-fra/nodes/remove?node=fra-cp2\"");
    page.hides("machines[0][name]");
    let page = of(Some("remove-node-x7k2f"), false).await;
    page.shows("href=\"/operations/remove-node-x7k2f\"").shows("name=\"replaces\" value=\"fra-cp2\"");
    page.shows("value=\"control_plane\" selected").hides("value=\"worker\"").hides("name=\"gone\"");
    of(Some("remove-node-x7k2f"), true).await.shows("value=\"both\" selected");
}

#[tokio::test]
async fn the_form_has_eight_rows_without_javascript() {
    let page = page(&Fake::default(), "/clusters/_new").await;
    assert_eq!(page.html.matches("[address]\"").count(), 8);
    page.shows("method=\"post\"").shows("action=\"/clusters/_new\"").shows("enctype=\"multipart/form-data\"");
}

#[tokio::test]
async fn an_empty_text_area_contains_no_space() {
    page(&Fake::default(), "/clusters/_new").await.hides("> </textarea>").shows("></textarea>");
}

#[tokio::test]
async fn a_conflict_shows_both_texts_to_choose_from() {
    let back = || {
        provide_context(FormReturn {
            form: "save_change".into(),
            values: vec![
                ("document".into(), "inventory".into()),
                ("version".into(), "41".into()),
                ("text".into(), "all: {mine: 1}".into()),
            ],
            problem: Problem::Conflict {
                what: "The inventory".into(),
                theirs: "all: {theirs: 1}".into(),
                yours: "all: {mine: 1}".into(),
                version: "99".into(),
            },
        });
    };
    let page = page_with(&Fake::default(), "/clusters/prod-fra/configuration", back).await;
    page.shows("all: {theirs: 1}")
        .shows("all: {mine: 1}</textarea>")
        .shows("Discard mine, use saved version")
        .shows("name=\"version\" value=\"99\"")
        .shows("Nothing was saved");
}

#[tokio::test]
async fn an_invalid_document_is_shown_with_its_line_marked() {
    let back = || {
        provide_context(FormReturn {
            form: "review_change".into(),
            values: vec![("document".into(), "inventory".into()), ("text".into(), "\nall:\n\thosts: {}\n".into())],
            problem: Problem::field("text", "This is not valid YAML: line 3, column 1: a tab can't indent."),
        });
    };
    let page = page_with(&Fake::default(), "/clusters/prod-fra/configuration", back).await;
    page.shows("a tab can't indent").shows("class=\"named\"").shows("\n\nall:\n\thosts: {}\n</textarea>");
}

#[tokio::test]
async fn a_reviewed_change_shows_its_difference_and_can_be_saved() {
    let back = || {
        provide_context(FormAnswer {
            form: "review_change".into(),
            values: vec![("document".into(), "inventory".into()), ("text".into(), "all: {}\n".into())],
            answer_json: serde_json::to_string(&fake::change()).unwrap(),
        });
    };
    let page = page_with(&Fake::default(), "/clusters/prod-fra/configuration", back).await;
    page.shows("fra-w1 added to kube_node").shows("value=\"save_change\"").shows("readonly").shows("class=\"add\"");
}

#[tokio::test]
async fn scanned_host_keys_are_compared_before_they_are_saved() {
    let there = page(&Fake::default(), "/clusters/prod-fra/configuration?show=ssh").await;
    there.shows("None confirmed").shows("value=\"scan_host_keys\"").hides("Fingerprint</th>");
    let fake = Fake::default();
    let answer =
        submit(&fake, "scan_host_keys", "cluster=prod-fra&document=host_keys&version=7&text=typed%0D%0A").await;
    assert_eq!(fake.calls.lock().unwrap().last().unwrap(), "scan prod-fra 7 \"typed\\n\"");
    let back = move || {
        provide_context(FormAnswer {
            form: "scan_host_keys".into(),
            values: vec![("document".into(), "host_keys".into()), ("text".into(), "typed\n".into())],
            answer_json: answer.html.clone(),
        });
    };
    let page = page_with(&Fake::default(), "/clusters/prod-fra/configuration?show=ssh", back).await;
    page.shows("host key differs from the confirmed one")
        .shows("has only revoked host keys")
        .shows("[10.0.0.1]:2222")
        .shows("SHA256:shown")
        .shows("[10.0.0.1]:2222 ssh-ed25519 AAAAshown\n</textarea>")
        .shows("value=\"save_change\"")
        .hides("value=\"scan_host_keys\"");
}

#[tokio::test]
async fn unusable_host_keys_are_not_reported_as_missing() {
    let mut fake = Fake::default();
    let record = fake.configuration.as_mut().unwrap().ssh.host_keys.as_mut().unwrap();
    record.document.problem = Some("ConfigMap kubeonkube/prod-fra-known-hosts has no key known_hosts.".into());
    let page = page(&fake, "/clusters/prod-fra/configuration?show=ssh").await;
    page.shows("Saved, but unreadable")
        .shows("Some of these host keys can")
        .shows("has no key known_hosts")
        .hides("None confirmed");
}

#[tokio::test]
async fn unreadable_host_keys_are_not_reported_as_missing() {
    let mut fake = Fake::default();
    fake.configuration.as_mut().unwrap().ssh.host_keys = None;
    let page = page(&fake, "/clusters/prod-fra/configuration?show=ssh").await;
    page.shows("permission to read them").hides("None confirmed").hides("value=\"scan_host_keys\"");
}

#[tokio::test]
async fn the_saved_notice_is_shown_until_the_next_submission() {
    let path = "/clusters/prod-fra/configuration?saved=43";
    let fake = Fake::default();
    page(&fake, path).await.shows("Saved. Nothing has run on the machines yet.");
    let values = || vec![("document".to_owned(), "inventory".to_owned()), ("text".to_owned(), "all: {}".to_owned())];
    let conflict = move || FormReturn {
        form: "save_change".into(),
        values: values(),
        problem: Problem::Conflict {
            what: "The inventory of prod-fra".into(),
            theirs: "theirs: 1\n".into(),
            yours: "mine: 1\n".into(),
            version: "44".into(),
        },
    };
    let refused = page_with(&fake, path, move || provide_context(conflict())).await;
    refused.shows("was changed by someone else").hides("Saved. Nothing has run");
    let review = move || FormAnswer {
        form: "review_change".into(),
        values: values(),
        answer_json: serde_json::to_string(&fake::change()).unwrap(),
    };
    page_with(&fake, path, move || provide_context(review())).await.hides("Saved. Nothing has run");
}

#[tokio::test]
async fn saved_host_keys_need_no_operation() {
    let page = page(&Fake::default(), "/clusters/prod-fra/configuration?show=ssh&saved=43").await;
    page.shows("Saved. Runs use these host keys from now on.").hides("Run an operation to apply it");
}

#[tokio::test]
async fn broken_inputs_link_to_their_editor() {
    let mut row = cluster("prod-fra", Health::Broken);
    (row.note, row.fix) = ("sshAuthRef names a Secret that is missing.".into(), Some(Document::HostKeys));
    let mut detail = fake::detail("prod-fra");
    detail.row = row.clone();
    detail.conditions[0].fix = Some(Document::Variables);
    let fake = Fake { clusters: Ok(list(vec![row])), detail: Ok(detail), ..Fake::default() };
    let editor = "href=\"/clusters/prod-fra/configuration?show=ssh\"";
    page(&fake, "/clusters").await.shows(editor);
    let page = page(&fake, "/clusters/prod-fra").await;
    page.shows(editor).shows("Open SSH access").shows("configuration?show=variables\"").shows("Open the variables");
}

fn stored(id: &str) -> StoredKey {
    StoredKey {
        id: id.into(),
        fingerprint: Some(format!("SHA256:{id}")),
        public_key: Some(format!("ssh-ed25519 {id}")),
    }
}

#[tokio::test]
async fn secret_variables_are_listed_without_values() {
    let path = "/clusters/prod-fra/configuration?show=secrets";
    let mut fake = Fake::default();
    page(&fake, path)
        .await
        .shows("ansible_become_password")
        .shows("kubeonkube/prod-fra-secret-vars")
        .shows("Delete the secret variable");
    let none = SecretVariables { changeable: true, ..SecretVariables::default() };
    fake.configuration.as_mut().unwrap().secrets = none;
    page(&fake, path).await.shows("The first variable creates a Secret").hides("Delete the secret variable");

    let unread = SecretVariables { problem: Some("You may not read it.".into()), ..SecretVariables::default() };
    fake.configuration.as_mut().unwrap().secrets = unread;
    page(&fake, path).await.shows("You may not read it.").shows("Not known").hides("Save the secret variable");

    let change = async |body: &str| submit(&fake, "change_secret_variable", &format!("cluster=prod-fra&{body}")).await;
    let set = change("step=set&variable=a&secret_value=%20hunter2").await;
    assert_eq!(set.location.as_deref(), Some("/clusters/prod-fra/configuration?show=secrets&secret=set&of=44"));
    change("step=delete&variable=a").await;
    assert_eq!(change("step=burn&variable=a").await.status, StatusCode::BAD_REQUEST);
    let called = fake.calls.lock().unwrap().join("\n");
    assert!(called.contains("of prod-fra: Set a\n") && called.contains("Delete a"), "{called}");
    page(&fake, &format!("{path}&secret=set&of=a")).await.shows("The secret variable is saved");
}

#[tokio::test]
async fn secrets_that_logs_can_not_hide_are_named() {
    let mut fake = Fake::default();
    let hint = |of: &str| vec![format!("The value of {of} is a word.")];
    let configuration = fake.configuration.as_mut().unwrap();
    configuration.inventory.hints = hint("ansible_password");
    configuration.variables.hints = hint("db_password");
    configuration.secrets.hints = hint("ansible_become_password");
    for (shown, of) in
        [("inventory", "ansible_password"), ("variables", "db_password"), ("secrets", "ansible_become_password")]
    {
        page(&fake, &format!("/clusters/prod-fra/configuration?show={shown}"))
            .await
            .shows("hide these secrets well.")
            .shows(&format!("The value of {of} is a word."));
    }
    page(&Fake::default(), "/clusters/prod-fra/configuration?show=variables").await.hides("hide these secrets");
}

#[tokio::test]
async fn warnings_of_a_document_are_shown_in_editor_and_review() {
    let mut fake = Fake::default();
    let warning = "Line 1: ansible never reads the variable “container-manager”.";
    fake.configuration.as_mut().unwrap().variables.warnings = vec![warning.into()];
    page(&fake, "/clusters/prod-fra/configuration?show=variables").await.shows("ignore parts of it").shows(warning);
    page(&fake, "/clusters/prod-fra/configuration").await.hides("ignore parts of it");
}

#[tokio::test]
async fn the_ssh_page_shows_where_a_replacement_of_the_key_stands() {
    let path = "/clusters/prod-fra/configuration?show=ssh";
    let mut fake = Fake::default();
    page(&fake, path).await.shows("Store the new key").hides("Test the new key").hides("Previous private key");
    let ssh = &mut fake.configuration.as_mut().unwrap().ssh;
    ssh.next = Some(NextKey { key: stored("new"), test: None });
    ssh.previous = Some(stored("old"));
    page(&fake, path)
        .await
        .shows("Not tested")
        .shows("ssh-ed25519 new")
        .shows("Use it without a successful test")
        .shows("SHA256:old")
        .hides("Store the new key");
    let passed = operation("key-test-x7k2f", "prod-fra", Phase::Succeeded);
    fake.configuration.as_mut().unwrap().ssh.next.as_mut().unwrap().test = Some(passed);
    page(&fake, path).await.shows("href=\"/operations/key-test-x7k2f\"").hides("Use it without a successful test");
    fake.configuration.as_mut().unwrap().ssh.replaceable = false;
    page(&fake, path).await.hides("Test the new key").hides("Previous private key");
}

#[tokio::test]
async fn a_step_of_replacing_the_key_leads_back_to_ssh_access() {
    let fake = Fake::default();
    let step = async |body: &str| submit(&fake, "change_key", &format!("cluster=prod-fra&{body}")).await;
    let stored = step("step=store&ssh=paste&ssh_key=&ssh_key_file=a%0D%0Ab").await;
    assert_eq!(stored.location.as_deref(), Some("/clusters/prod-fra/configuration?show=ssh&key=store"));
    let tested = step("step=test&key=k1").await;
    let location = "/clusters/prod-fra/configuration?show=ssh&key=test&of=key-test-x7k2f";
    assert_eq!(tested.location.as_deref(), Some(location));
    step("step=use&key=k1&untested=yes").await;
    assert_eq!(step("step=burn&key=k1").await.status, StatusCode::BAD_REQUEST);
    let called = fake.calls.lock().unwrap().join("\n");
    assert!(called.contains("key of prod-fra: Store(Given)"), "{called}");
    assert!(called.contains(r#"Use { id: "k1", untested: true }"#), "{called}");
}

#[tokio::test]
async fn the_unregister_page_lists_the_consequences() {
    page(&Fake::default(), "/clusters/prod-fra/unregister")
        .await
        .shows("The machines are not touched")
        .shows("Type “prod-fra” to confirm")
        .shows("A cluster with a running or queued operation can")
        .shows("value=\"unregister_cluster\"");
}

#[tokio::test]
async fn no_page_shows_the_users_token() {
    let fake = Fake::default();
    let paths = [
        "/clusters",
        "/clusters/_new",
        "/clusters/prod-fra",
        "/clusters/prod-fra/nodes",
        "/clusters/prod-fra/operations",
        "/clusters/prod-fra/configuration",
        "/clusters/prod-fra/configuration?show=ssh",
        "/clusters/prod-fra/unregister",
        "/operations",
        "/operations/_new",
        "/settings",
    ];
    for path in paths {
        page(&fake, path).await.hides(fake::TOKEN);
    }
}

#[tokio::test]
async fn a_notice_is_on_every_page() {
    let notice = "The disk of the data directory is full.";
    let paths = [
        "/clusters",
        "/clusters/_new",
        "/clusters/prod-fra",
        "/operations",
        "/operations/ping-1",
        "/settings",
        "/nowhere",
    ];
    for path in paths {
        let fake = Fake { notice: Some(notice.into()), ..Fake::default() };
        page(&fake, path).await.shows("<p role=\"alert\" class=\"notice\">").shows(notice);
        page(&Fake::default(), path).await.hides("class=\"notice\"");
    }
}

#[tokio::test]
async fn each_page_first_says_that_playbooks_are_of_another_engine() {
    let mut fake = Fake::default();
    fake.detail.as_mut().unwrap().wrong_engine = Some("prod-fra has spec.engine: kubespray.".into());
    for path in ["", "/nodes", "/nodes/add", "/create", "/upgrade"] {
        let page = page(&fake, &format!("/clusters/prod-fra{path}")).await;
        page.shows("Playbooks of another engine").shows("prod-fra has spec.engine: kubespray.");
    }
}
