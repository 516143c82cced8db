//! The page that creates a cluster, over a fake backend, as rendered without JavaScript.

mod fake;

use api::Problem;
use api::cluster::{
    CheckResult, CheckedHost, Creation, CreationPlan, CreationStage, HostFailure, KubeconfigAccess, LiveCluster,
    LiveState, MachineCheck, PlannedProblem,
};
use api::configuration::Document;
use api::operation::Phase;
use fake::{Fake, creation, operation, page, submit};

const PAGE: &str = "/clusters/prod-fra/create";

fn with(creation: Creation) -> Fake {
    Fake { creation: Ok(creation), ..Fake::default() }
}

#[tokio::test]
async fn the_steps_show_their_state_and_the_operation() {
    page(&Fake::default(), PAGE)
        .await
        .shows("Host keys not confirmed")
        .shows("ssh-ed25519 AAAApublic prod-fra")
        .shows("1 machine has a problem")
        .shows("The machine has 512 MB of memory")
        .shows("v1.34.4")
        .shows("Control plane and etcd")
        .shows("/playbooks/cluster.yml")
        .shows("Nothing else should run on them")
        .shows("The last check found problems on fra-w1.")
        .shows("value=\"cluster-x7k2f\"")
        .shows("Create the cluster");
}

#[tokio::test]
async fn an_unchecked_cluster_can_be_created_with_a_warning() {
    let page = page(&with(Creation { check: Some(MachineCheck::default()), ..creation() }), PAGE).await;
    page.shows("The machines have not been checked.").shows("Check the machines").shows("Create the cluster");
}

#[tokio::test]
async fn kubespray_promises_no_check_of_the_machines() {
    page(&with(Creation { check: None, ..creation() }), PAGE)
        .await
        .shows("kubespray has no playbook that only checks the machines.")
        .shows("Run ping.yml")
        .shows("No host key is confirmed. The run trusts the first key that each machine shows.")
        .shows("Create the cluster")
        .hides("check-machines")
        .hides("The operation checks them first");
}

#[tokio::test]
async fn a_plan_that_would_be_refused_has_no_button() {
    let problem = PlannedProblem { message: "There are 2 control planes.".into(), fix: Some(Document::Inventory) };
    let plan = CreationPlan { problems: vec![problem], ..creation().plan };
    page(&with(Creation { plan, ..creation() }), PAGE)
        .await
        .shows("There are 2 control planes.")
        .shows("Open the inventory")
        .shows("Correct the plan first.")
        .hides("id=\"create-cluster\"");
}

#[tokio::test]
async fn a_running_creation_leads_to_its_run() {
    let run = Some(operation("cluster-1", "prod-fra", Phase::Running));
    page(&with(Creation { stage: CreationStage::Working, run, ..creation() }), PAGE)
        .await
        .shows("The cluster is being created.")
        .shows("href=\"/operations/cluster-1\"")
        .hides("id=\"create-cluster\"")
        .hides("Check again");
}

#[tokio::test]
async fn a_failed_creation_names_hosts_and_causes_and_continues() {
    let failures = vec![HostFailure {
        host: "fra-w1".into(),
        task: "Join".into(),
        message: "connection refused".into(),
        cause: String::new(),
        unreachable: false,
    }];
    let run = Some(operation("cluster-1", "prod-fra", Phase::Failed));
    page(&with(Creation { stage: CreationStage::Failed, run, failures, ..creation() }), PAGE)
        .await
        .shows("Creating the cluster failed on fra-w1.")
        .shows("connection refused")
        .shows("task “")
        .shows("Continue");
}

#[tokio::test]
async fn a_refused_login_says_what_the_page_of_the_run_says() {
    const SENTENCE: &str = "The login was refused. Check the user and the private key.";
    let message = "Failed to connect to the host via ssh: ann@fra-w1: Permission denied (publickey).";
    let name = || "fra-w1".to_owned();
    let hosts = [CheckResult::Unreachable, CheckResult::Failed];
    let hosts = hosts.map(|result| CheckedHost { name: name(), result, message: message.into(), cause: String::new() });
    let mut checked = creation();
    checked.check.as_mut().unwrap().hosts = hosts.into();
    let page_of_check = page(&with(checked), PAGE).await;
    page_of_check.shows("Permission denied (publickey).");
    assert_eq!(page_of_check.html.matches(&format!("<p>{SENTENCE}")).count(), 1, "a check explains itself");
    let failures = vec![HostFailure {
        host: name(),
        task: "Join".into(),
        message: message.into(),
        cause: String::new(),
        unreachable: true,
    }];
    let run = Some(operation("cluster-1", "prod-fra", Phase::Failed));
    page(&with(Creation { stage: CreationStage::Failed, run, failures, ..creation() }), PAGE)
        .await
        .shows(&format!("<p>{SENTENCE}"))
        .shows("Permission denied (publickey).");
}

#[tokio::test]
async fn a_created_cluster_shows_its_health_and_kubeconfig() {
    let live = LiveCluster { state: LiveState::Healthy, version: "v1.34.4".into(), ..LiveCluster::default() };
    let kubeconfig = Some(KubeconfigAccess { may_download: true, downloads: vec![] });
    page(&with(Creation { stage: CreationStage::Known, live, kubeconfig, ..creation() }), PAGE)
        .await
        .shows("prod-fra runs Kubernetes v1.34.4 and is healthy.")
        .shows("action=\"/clusters/prod-fra/kubeconfig\"")
        .shows("href=\"/clusters/prod-fra/nodes/add\"")
        .hides("id=\"create-cluster\"");
}

#[tokio::test]
async fn the_forms_stay_on_the_page() {
    let fake = Fake::default();
    let checked = submit(&fake, "check_machines", "cluster=prod-fra").await;
    assert_eq!(checked.location.as_deref(), Some("/clusters/prod-fra/create?checked=precheck-x7k2f"));
    let form = "cluster=prod-fra&made_name=cluster-x7k2f&expected_inputs=0123";
    let created = submit(&fake, "create_cluster", form).await;
    assert_eq!(created.location.as_deref(), Some("/clusters/prod-fra/create?created=cluster-x7k2f"));
    let calls = fake.calls.lock().unwrap().join("\n");
    assert!(calls.contains("made_name: \"cluster-x7k2f\", expected_inputs: \"0123\""), "{calls}");
}

#[tokio::test]
async fn the_overview_leads_to_the_page_until_kubernetes_is_known() {
    let mut fake = Fake::default();
    page(&fake, "/clusters/prod-fra").await.hides("href=\"/clusters/prod-fra/create\"");
    fake.detail.as_mut().unwrap().creatable = true;
    page(&fake, "/clusters/prod-fra").await.shows("href=\"/clusters/prod-fra/create\" class=\"btn primary\"");
}

#[tokio::test]
async fn a_page_that_fails_to_load_says_why() {
    let fake = Fake { creation: Err(Problem::Unavailable { message: "The API is away.".into() }), ..Fake::default() };
    page(&fake, PAGE).await.shows("The API is away.").shows("Try again");
}

#[tokio::test]
async fn the_form_offers_versions_and_shows_default_networks() {
    page(&Fake::default(), "/clusters/_new")
        .await
        .shows("Create a Kubernetes cluster")
        .shows("Manage an existing cluster")
        .shows("As in the variables, otherwise 1.34.4")
        .shows("1.33.13 (tested, newest patch)")
        .shows("placeholder=\"10.233.64.0/18\"")
        .shows("name=\"settings[services]\"");
}

#[tokio::test]
async fn registering_a_new_cluster_leads_to_its_creation() {
    let fake = Fake::default();
    let body = "name=prod&purpose=create&settings%5Bversion%5D=1.33.13&machines%5B0%5D%5Bname%5D=a&ssh=none";
    let registered = submit(&fake, "register_cluster", body).await;
    assert_eq!(registered.location.as_deref(), Some("/clusters/prod/create?registered=1"));
    let calls = fake.calls.lock().unwrap().join("\n");
    assert!(calls.contains("purpose: \"create\"") && calls.contains("version: \"1.33.13\""), "{calls}");
    let existing = submit(&fake, "register_cluster", &body.replace("purpose=create", "purpose=existing")).await;
    assert_eq!(existing.location.as_deref(), Some("/clusters/prod?registered=1"));
}
