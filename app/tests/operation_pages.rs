//! The operations list and the submit form over a fake backend.

mod fake;

use api::Problem;
use api::configuration::Document;
use api::log::RunRecord;
use api::operation::{Draft, ParameterOffer, Phase};
use api::run::{EventBody, HostStats, RunEvent};
use axum::http::StatusCode;
use fake::{Fake, operation, operations, page, page_with, run, submit};
use kubeonkube_app::{FormAnswer, FormReturn};
use leptos::prelude::provide_context;

fn values(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

fn draft(fields: &[(&str, &str)]) -> Draft {
    Draft::typed(&values(fields))
}

#[tokio::test]
async fn the_list_shows_status_action_cluster_user_and_time() {
    let mut failed = operation("grow-1", "prod-fra", Phase::Failed);
    failed.message = "“Install” failed on w2".into();
    let fake = Fake {
        operations: Ok(operations(vec![failed, operation("ping-2", "lab", Phase::Running)])),
        ..Fake::default()
    };
    let page = page(&fake, "/operations").await;
    assert_eq!(page.status, StatusCode::OK);
    page.shows("href=\"/operations/grow-1\"")
        .shows("“Install” failed on w2")
        .shows("Failed")
        .shows("href=\"/clusters/lab\"")
        .shows("Running")
        .shows("15 min ago")
        .shows("59 s");
}

#[tokio::test]
async fn the_url_holds_filter_sort_and_page() {
    let mut list = operations(vec![operation("grow-1", "prod-fra", Phase::Failed)]);
    (list.page, list.pages, list.matching) = (2, 3, 201);
    let fake = Fake { operations: Ok(list), ..Fake::default() };
    let page = page(&fake, "/operations?q=gr&cluster=prod-fra&phase=failed&sort=-duration&page=2").await;
    let calls = fake.calls.lock().unwrap().join("\n");
    assert!(calls.contains(r#"operations OperationFilter { q: "gr", cluster: "prod-fra", phase: "failed", sort: "-duration", page: 2 }"#), "{calls}");
    page.shows("value=\"gr\"")
        .shows("Page 2 of 3 · 201 operations")
        .shows("page=3")
        .shows("aria-sort=\"descending\"")
        .shows("name=\"cluster\" value=\"prod-fra\"")
        .shows("Cluster prod-fra");
}

#[tokio::test]
async fn every_phase_is_a_filter_and_restored_is_one() {
    let restored = operations(vec![operation("old-1", "prod-fra", Phase::Restored)]);
    let fake = Fake { operations: Ok(restored), ..Fake::default() };
    for phase in ["running", "queued", "failed", "succeeded", "cancelled", "restored"] {
        page(&fake, "/operations").await.shows(&format!("href=\"/operations?phase={phase}\""));
    }
    let page = page(&fake, "/operations?phase=restored").await;
    let calls = fake.calls.lock().unwrap().join("\n");
    assert!(calls.contains(r#"OperationFilter { q: "", cluster: "", phase: "restored""#), "{calls}");
    page.shows("aria-current=\"true\">Restored").shows("href=\"/operations/old-1\"");
}

#[tokio::test]
async fn an_empty_list_offers_a_first_run() {
    let fake = Fake { operations: Ok(operations(vec![])), ..Fake::default() };
    page(&fake, "/operations").await.shows("Nothing has run yet").shows("action=ping.yml").hides("<table");
    page(&fake, "/operations?phase=failed").await.shows("No operation matches").shows("Show all operations");
}

#[tokio::test]
async fn a_list_that_fails_to_load_says_why_and_offers_a_retry() {
    let down = Problem::Unavailable { message: "The Kubernetes API does not answer.".into() };
    let page = page(&Fake { operations: Err(down), ..Fake::default() }, "/operations").await;
    assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE);
    page.shows("The Kubernetes API does not answer.").shows("Try again");
}

#[tokio::test]
async fn the_form_offers_actions_and_explains_unavailable_ones() {
    let page = page(&Fake::default(), "/operations/_new?cluster=prod-fra&action=ping.yml").await;
    page.shows("Title of ping.yml")
        .shows("What scale.yml does.")
        .shows("changes machines")
        .shows("It comes with the kubespray image.")
        .shows("prod-fra (3 nodes)")
        .shows("placeholder=\"quay.io/default:v1\"");
    let card = &page.html[page.html.find("value=\"ping.yml\"").unwrap()..][..60];
    assert!(card.contains("checked"), "{card}");
    page.shows("Title of reset.yml").shows("1 more requires Kubernetes").hides("value=\"reset.yml\"");
}

#[tokio::test]
async fn a_url_names_the_snapshot_but_confirms_nothing() {
    let mut fake = Fake::default();
    let parameter = |field: &str| ParameterOffer {
        field: field.into(),
        label: field.into(),
        placeholder: String::new(),
        hint: String::new(),
    };
    fake.choices.actions[0].parameters = ["snapshot", "restored"].map(parameter).into();
    let url = "/operations/_new?cluster=prod-fra&action=ping.yml&snapshot=%2Fvar%2Fetcd.db&restored=prod-fra";
    let page = page(&fake, url).await;
    let input = |name: &str| {
        let at = page.html.find(&format!("name=\"{name}\"")).unwrap();
        let start = page.html[..at].rfind("<input").unwrap();
        page.html[start..].split('>').next().unwrap().to_owned()
    };
    assert!(input("snapshot").contains("value=\"/var/etcd.db\""), "{}", input("snapshot"));
    assert!(!input("restored").contains("prod-fra"), "{}", input("restored"));
}

#[tokio::test]
async fn config_maps_and_keys_are_lists_to_choose_from() {
    let again = draft(&[("kind", "configmap"), ("source", "machines/gone"), ("key", "site.yml")]);
    let mut fake = Fake { again, ..Fake::default() };
    let page_ = page(&fake, "/operations/_new?again=grow-1&cluster=lab").await;
    page_
        .shows("<option value=\"machines/books\">")
        .shows("machines/gone (not found)")
        .shows("<option value=\"site.yml\" selected")
        .shows("Reload the lists");
    assert!(fake.calls.lock().unwrap().contains(&r#"sources "lab" "machines/gone""#.to_owned()));
    fake.sources.config_maps = None;
    fake.sources.note = "You may not list them.".into();
    page(&fake, "/operations/_new").await.shows("placeholder=\"namespace/name\"").shows("You may not list them.");
}

#[tokio::test]
async fn another_playbook_can_not_be_chosen_where_none_can_run() {
    let mut fake = Fake::default();
    page(&fake, "/operations/_new").await.shows("by its path in the image").shows("or another playbook in the image");
    fake.choices.no_others = Some("This server has only ping.yml.".into());
    let page = page(&fake, "/operations/_new").await;
    page.shows("This server has only ping.yml.").hides("by its path in the image");
    let card = &page.html[page.html.find("class=\"card off\"").unwrap()..][..100];
    assert!(card.contains("disabled") && card.contains("value=\"other\""), "{card}");
}

#[tokio::test]
async fn unusable_inputs_link_to_their_editor() {
    let message = format!("The variables of lab can't be used. Line 1. {}", Document::Variables.correct_it());
    let refused = move || FormReturn {
        form: "review_operation".into(),
        values: values(&[("cluster", "lab"), ("action", "ping.yml")]),
        problem: Problem::field("cluster", message.clone()),
    };
    let page = page_with(&Fake::default(), "/operations/_new", move || provide_context(refused())).await;
    page.shows("href=\"/clusters/lab/configuration?show=variables\"");
}

#[tokio::test]
async fn a_new_parameter_gets_a_field_and_is_sent() {
    let mut fake = Fake::default();
    fake.choices.actions[1].parameters = vec![ParameterOffer {
        field: "backup_to".into(),
        label: "Keep the backup on".into(),
        placeholder: "m1".into(),
        hint: "One machine.".into(),
    }];
    let page = page(&fake, "/operations/_new").await;
    page.shows("Keep the backup on").shows("name=\"backup_to\"").shows("data-asks=\"1\"").shows("data-asked=\"1\"");
    submit(&fake, "review_operation", "form=review_operation&cluster=prod-fra&action=scale.yml&backup_to=m1").await;
    let called = fake.calls.lock().unwrap().join("");
    assert!(called.contains(r#"parameters: Some({"backup_to": "m1"})"#), "{called}");
}

#[tokio::test]
async fn running_again_fills_in_the_form() {
    let again = draft(&[
        ("cluster", "prod-fra"),
        ("action", "ping.yml"),
        ("limit", "w1"),
        ("extra_args", "-e\nmotd=two words"),
        ("deadline", "360"),
        ("pre_hooks", "ping.yml"),
    ]);
    let fake = Fake { again, ..Fake::default() };
    let page = page(&fake, "/operations/_new?again=grow-1").await;
    assert!(fake.calls.lock().unwrap().contains(&"again grow-1".to_owned()));
    page.shows("value=\"w1\"").shows("-e\nmotd=two words").shows("value=\"360\"").shows(">ping.yml</textarea>");
}

#[tokio::test]
async fn a_retry_is_limited_to_the_hosts_that_failed_or_are_left() {
    let stats = |failed, unreachable| HostStats { ok: 1, failed, unreachable, ..HostStats::default() };
    let hosts = [("w1".into(), stats(0, 0)), ("w2".into(), stats(1, 0)), ("w3".into(), stats(0, 1))];
    let left = ("w4".to_owned(), HostStats { left: true, ..HostStats::default() });
    let hosts = hosts.into_iter().chain([left]).collect();
    let event = |n, body| RunEvent { n, at: 0, after: 0, body };
    let stopped = EventBody::GivenUp { left: vec!["w7".into(), "w6".into()], failed: vec!["w5".into()] };
    let again = draft(&[("cluster", "prod-fra"), ("action", "ping.yml"), ("limit", "w1,w2,w3")]);
    let record =
        RunRecord { events: vec![event(1, EventBody::Stats { hosts }), event(2, stopped)], ..RunRecord::default() };
    let fake = Fake { again, record, ..Fake::default() };
    page(&fake, "/operations/_new?again=grow-1&failed=1").await.shows("value=\"w2,w3,w4,w5,w6,w7\"");
    page(&fake, "/operations/_new?again=grow-1").await.shows("value=\"w1,w2,w3\"");
}

/// A failed run of a three-line script.
fn script_run() -> Fake {
    let mut script = run("script-1", Phase::Failed);
    (script.source, script.row.action, script.row.script) = ("shell, builtin".into(), "uptime".into(), true);
    script.action = "#!/bin/bash\nuptime\nfree -m\n".into();
    Fake { run: Ok(script), ..Fake::default() }
}

#[tokio::test]
async fn the_inputs_of_a_run_show_the_whole_script() {
    let page = page(&script_run(), "/operations/script-1?tab=inputs").await;
    page.shows("Script on prod").shows("#!/bin/bash\nuptime\nfree -m\n<!></pre>");
}

#[tokio::test]
async fn running_a_script_again_fills_in_the_whole_script() {
    let again = draft(&[("kind", "script"), ("script", "#!/bin/bash\nuptime\nfree -m\n")]);
    let fake = Fake { again, ..Fake::default() };
    page(&fake, "/operations/_new?again=script-1").await.shows("#!/bin/bash\nuptime\nfree -m\n</textarea>");
}

#[tokio::test]
async fn a_refused_form_keeps_everything_and_shows_its_message() {
    let refused_form = || FormReturn {
        form: "review_operation".into(),
        values: values(&[
            ("cluster", "prod-fra"),
            ("kind", "script"),
            ("script", "echo <hi>"),
            ("extra_args", "--a\n--b"),
            ("deadline", "soon"),
        ]),
        problem: Problem::field("deadline", "Write minutes."),
    };
    let page = page_with(&Fake::default(), "/operations/_new", move || provide_context(refused_form())).await;
    page.shows("echo &lt;hi&gt;")
        .shows("--a\n--b")
        .shows("value=\"soon\"")
        .shows("Write minutes.")
        .shows("aria-invalid=\"true\"");
    page.shows("<details open class=\"advanced\"");
}

#[tokio::test]
async fn the_review_shows_arguments_hosts_queue_and_manifest() {
    let fake = Fake::default();
    let body = "form=review_operation&cluster=prod-fra&kind=builtin&action=ping.yml&limit=w1&script=ignored";
    let answer = submit(&fake, "review_operation", body).await;
    assert_eq!((answer.status, answer.location.clone()), (StatusCode::OK, None));
    assert!(fake.calls.lock().unwrap()[0].contains(r#"playbook: "ping.yml""#));
    let json = answer.html;
    let back = move || FormAnswer {
        form: "review_operation".into(),
        values: values(&[("cluster", "prod-fra"), ("kind", "builtin"), ("action", "ping.yml"), ("limit", "w1")]),
        answer_json: json.clone(),
    };
    let page = page_with(&fake, "/operations/_new", move || provide_context(back())).await;
    page.shows("<code>motd=two words")
        .shows("On at most 2 machines")
        .shows("Queued behind grow-1, which is running.")
        .shows("This changes machines.")
        .shows("apiVersion: kubeonkube.clay.io/v1alpha1")
        .shows("name=\"expected_inputs\" value=\"0123456789abcdef\"")
        .shows("name=\"made_name\" value=\"ping-x7k2f\"")
        .shows("value=\"submit_operation\"")
        .shows("value=\"w1\"");
}

/// The value of the hidden field `reviewed` in the review of this form.
async fn reviewed(pairs: &'static [(&'static str, &'static str)]) -> String {
    let back = move || FormAnswer {
        form: "review_operation".into(),
        values: values(pairs),
        answer_json: serde_json::to_string(&fake::operation_review()).unwrap(),
    };
    let page = page_with(&Fake::default(), "/operations/_new", move || provide_context(back())).await;
    let at = page.html.find("name=\"reviewed\" value=\"").expect("the review has the hidden field") + 23;
    page.html[at..at + 16].to_owned()
}

#[tokio::test]
async fn a_reviewed_form_is_submitted_and_leads_to_the_run() {
    let fake = Fake::default();
    let reviewed = reviewed(&[("cluster", "prod-fra"), ("action", "ping.yml"), ("extra_args", "-e\r\na=1")]).await;
    let body = format!(
        "form=submit_operation&cluster=prod-fra&action=ping.yml&extra_args=-e%0D%0Aa%3D1&expected_inputs=0123\
         &made_name=ping-x7k2f&reviewed={reviewed}"
    );
    let answer = submit(&fake, "submit_operation", &body).await;
    assert_eq!(answer.location.as_deref(), Some("/operations/ping-x7k2f"), "{}", answer.html);
    let called = fake.calls.lock().unwrap()[0].clone();
    assert!(
        called.contains(r#"expected_inputs: Some("0123")"#)
            && called.contains(r#"made_name: Some(OperationName("ping-x7k2f"))"#),
        "{called}"
    );
}

#[tokio::test]
async fn a_form_changed_after_the_review_is_refused() {
    let fake = Fake::default();
    let reviewed = reviewed(&[("cluster", "prod-fra"), ("action", "ping.yml"), ("limit", "w1")]).await;
    let body = format!("form=submit_operation&cluster=prod-fra&action=ping.yml&limit=&reviewed={reviewed}");
    let answer = submit(&fake, "submit_operation", &body).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    answer.shows("changed after the review");
    assert!(fake.calls.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_problem_with_the_action_is_shown_at_its_field() {
    let fake = Fake { review: Err(Problem::field("action", "There is no key site.yml.")), ..Fake::default() };
    let body = "form=review_operation&cluster=prod-fra&kind=configmap&source=ops%2Fbooks&key=site.yml";
    let answer = submit(&fake, "review_operation", body).await;
    answer.shows("\"field\":\"key\"");
}

#[tokio::test]
async fn without_clusters_the_form_links_to_registration() {
    let mut fake = Fake::default();
    fake.choices.clusters.clear();
    page(&fake, "/operations/_new")
        .await
        .shows("There is no cluster to run on")
        .shows("href=\"/clusters/_new\"")
        .hides("<form id=\"new-operation\"");
}
