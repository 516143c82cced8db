//! The states that the tests in `deploy/health/tests` give to the programs of other tools. They are written and checked here.

use std::path::Path;

use crd::{
    Cluster, ClusterOperation, ClusterOperationSpec, ClusterOperationStatus, ClusterSpec, Fact, Hosted, HostedStatus,
    JobRef, Phase, RESTORED, Time, condition,
};
use operation::{Outcome, Signer};
use serde_json::{Value, json};

use crate::status::content::{self, Start};
use crate::turn::cluster_status::with_standing;
use crate::turn::waiting;

const STATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/health/tests/states.json");

fn now() -> Time {
    Time(jiff::Timestamp::UNIX_EPOCH)
}

fn signer() -> Signer {
    Signer::new(b"key", &now())
}

fn unseen() -> ClusterOperation {
    let spec = ClusterOperationSpec { cluster: "prod".into(), action: "ping.yml".into(), ..Default::default() };
    let mut operation = ClusterOperation::new("a", spec);
    operation.metadata.generation = Some(1);
    operation
}

/// As the API returns it.
fn created() -> ClusterOperation {
    let definition = crd::all().pop().expect("the definition of operations");
    let schema = definition.spec.versions[0].schema.clone().and_then(|schema| schema.open_api_v3_schema);
    let default = schema.and_then(|schema| schema.properties?["status"].default.clone()).expect("a default");
    with(&unseen(), serde_json::from_value(default.0).expect("it is a status"))
}

fn with(operation: &ClusterOperation, status: Option<ClusterOperationStatus>) -> ClusterOperation {
    let mut operation = operation.clone();
    operation.status = Some(status.expect("the status is news"));
    operation
}

fn queued(reason: &str) -> ClusterOperation {
    with(&unseen(), content::queued(&unseen(), reason, "It waits.", &signer(), &now()))
}

fn running(operation: &ClusterOperation, reason: &str) -> ClusterOperation {
    let start = Start { job: JobRef::default(), inputs: None, engine: None };
    with(operation, content::running(operation, start, reason, "The Job exists.", &signer(), &now()))
}

fn ended(operation: &ClusterOperation, status: Phase, reason: &str) -> ClusterOperation {
    let outcome = Outcome {
        status,
        reason: reason.into(),
        message: "It is over.".into(),
        start_time: None,
        end_time: Some(now()),
        recap: None,
    };
    with(operation, Some(content::final_status(operation, &outcome, &signer(), &now())))
}

/// What our own status says, in kstatus's words.
fn verdict(operation: &ClusterOperation) -> &'static str {
    let status = operation.status.clone().unwrap_or_default();
    match status.status {
        Phase::Succeeded => "Current",
        Phase::Failed => "Failed",
        Phase::Pending if status.reason.as_deref() == Some(RESTORED) => "Failed",
        Phase::Pending | Phase::Running => "InProgress",
    }
}

/// `kstatus`: what that library can see. `checks`: what the health checks in `deploy/health` must say.
fn state(name: &str, kstatus: &str, checks: &str, object: &impl serde::Serialize) -> Value {
    json!({"name": name, "kstatus": kstatus, "checks": checks, "object": object})
}

fn operations() -> Vec<Value> {
    let run = running(&queued("ClusterBusy"), "Running");
    let mut cancelling = running(&run, "Cancelling");
    cancelling.spec.cancel = Some(true);
    let mut older = ended(&run, Phase::Failed, "TaskFailed");
    older.status.as_mut().unwrap().conditions.clear();
    let older = with(&older, Some(content::observed(&older, &now())));
    let states = [
        ("queued", queued("ClusterBusy")),
        ("waits for its inputs", queued(waiting::INPUTS)),
        ("running", run.clone()),
        ("running without a wait", running(&unseen(), "Running")),
        ("its pod waits", running(&run, "PodWaiting")),
        ("suspended", running(&run, "Suspended")),
        ("cancelling", cancelling.clone()),
        ("succeeded", ended(&run, Phase::Succeeded, "Succeeded")),
        ("succeeded, a play matched no host", ended(&run, Phase::Succeeded, api::operation::PLAY_MATCHED_NO_HOST)),
        ("succeeded, no host was reached", ended(&run, Phase::Succeeded, api::operation::NO_HOST_REACHED)),
        ("failed", ended(&run, Phase::Failed, "TaskFailed")),
        ("failed in an earlier version", older),
        ("cancelled", ended(&cancelling, Phase::Failed, "Cancelled")),
        ("cancelled before it started", ended(&queued("ClusterBusy"), Phase::Failed, "Cancelled")),
        ("refused", ended(&unseen(), Phase::Failed, "ReferenceNotFound")),
        ("its Job is gone", ended(&run, Phase::Failed, "JobGone")),
        ("restored, succeeded", ended(&unseen(), Phase::Succeeded, RESTORED)),
        ("restored, failed", ended(&unseen(), Phase::Failed, RESTORED)),
        ("restored without a proof", with(&unseen(), content::restored(&unseen(), &signer(), &now()))),
    ];
    let mut all: Vec<Value> = states
        .iter()
        .map(|(name, operation)| {
            let verdict = verdict(operation);
            state(&format!("operation: {name}"), verdict, verdict, operation)
        })
        .collect();
    all.push(state("operation: no controller has seen it", "InProgress", "InProgress", &created()));
    // kstatus takes what has no status for ready.
    all.push(state("operation: no controller has seen it, earlier definition", "Current", "InProgress", &unseen()));
    let mut edited = ended(&run, Phase::Succeeded, "Succeeded");
    edited.metadata.generation = Some(2);
    all.push(state("operation: edited, not seen yet", "InProgress", "InProgress", &edited));
    all
}

fn clusters() -> Vec<Value> {
    let new = || {
        let mut cluster = Cluster::new("prod", ClusterSpec::default());
        cluster.metadata.generation = Some(1);
        cluster
    };
    let with = |mut cluster: Cluster, facts: Vec<Fact>| {
        let mut conditions = Vec::new();
        for fact in facts {
            crd::upsert(&mut conditions, fact, &now(), Some(1));
        }
        let conditions = with_standing(&cluster, conditions, &now());
        let status = cluster.status.get_or_insert_default();
        (status.observed_generation, status.cluster_conditions) = (Some(1), conditions);
        let record = crd::OperationRecord { cluster_ops: "a".into(), status: Phase::Failed, ..Default::default() };
        status.conditions.push(record);
        cluster
    };
    let inputs = |holds, reason: &str| Fact::new(condition::INPUTS_READY, holds, reason, "It is so.");
    let judged = |holds, reason: &str| with(new(), vec![inputs(holds, reason)]);
    let last = || Fact::new(condition::LAST_OPERATION_SUCCEEDED, false, "Failed", "Operation a failed.");
    let mut edited = judged(true, "Ready");
    edited.metadata.generation = Some(2);
    let hosted = |observed: i64, facts: Vec<Fact>| {
        let mut cluster = new();
        cluster.spec.hosted = Some(Hosted { version: "v1.36.4".into(), ..Hosted::default() });
        let mut state = HostedStatus { observed_generation: Some(observed), ..HostedStatus::default() };
        for fact in facts {
            crd::upsert(&mut state.conditions, fact, &now(), Some(observed));
        }
        cluster.status.get_or_insert_default().hosted = Some(state);
        with(cluster, vec![inputs(true, "NoInventory")])
    };
    let plane = |holds, reason: &str| Fact { holds, ..Fact::new(condition::READY, true, reason, "It is so.") };
    let refused = || Fact::new(condition::ACCEPTED, false, "NeedsKubernetes", "It is so.");
    // kstatus reads only `status.conditions`, which is a list of operations here.
    vec![
        state("cluster: no controller has seen it", "Current", "InProgress", &new()),
        state("cluster: inputs ready", "Current", "Current", &judged(true, "Ready")),
        state("cluster: an operation failed", "Current", "Current", &with(new(), vec![inputs(true, "Ready"), last()])),
        state("cluster: inputs missing", "Current", "InProgress", &judged(false, "ReferenceNotFound")),
        state("cluster: inputs invalid", "Current", "Failed", &judged(false, "InventoryInvalid")),
        state("cluster: edited, not seen yet", "InProgress", "InProgress", &edited),
        state("cluster: hosted, not checked yet", "Current", "InProgress", &hosted(1, vec![])),
        state("cluster: hosted, not ready", "Current", "InProgress", &hosted(1, vec![plane(Some(false), "Starting")])),
        state("cluster: hosted, ready", "Current", "Current", &hosted(1, vec![plane(Some(true), "Ready")])),
        state("cluster: hosted, edited", "Current", "InProgress", &hosted(0, vec![plane(Some(true), "Ready")])),
        state("cluster: hosted, paused", "Current", "Failed", &hosted(1, vec![plane(None, "Paused")])),
        state(
            "cluster: hosted, refused",
            "Current",
            "Failed",
            &hosted(1, vec![refused(), plane(Some(false), "NeedsKubernetes")]),
        ),
    ]
}

/// Otherwise an operation would be in progress since 1970.
#[test]
fn the_default_of_the_api_does_not_stay() {
    let later = Time(jiff::Timestamp::from_second(1000).unwrap());
    let queued = content::queued(&created(), "ClusterBusy", "It waits.", &signer(), &later).unwrap();
    let run = running(&created(), "Running").status.unwrap();
    let ended = ended(&created(), Phase::Failed, "ReferenceNotFound").status.unwrap();
    for status in [&queued, &run, &ended] {
        assert!(status.conditions.iter().all(|c| c.reason != crd::UNSEEN), "{status:#?}");
    }
    assert!(queued.conditions.iter().all(|c| c.last_transition_time == later), "{queued:#?}");
}

/// An earlier version ends an operation, for example after a rollback, and leaves conditions that it doesn't know as they were.
#[test]
fn conditions_that_contradict_the_status_are_noticed() {
    let run = running(&unseen(), "Running");
    for (phase, wanted) in [(Phase::Succeeded, condition::READY), (Phase::Failed, condition::STALLED)] {
        let mut left = ended(&run, phase, "Ended");
        assert!(content::is_observed(&left));
        left.status.as_mut().unwrap().conditions = run.status.as_ref().unwrap().conditions.clone();
        assert!(!content::is_observed(&left));
        let corrected = with(&left, Some(content::observed(&left, &now())));
        assert!(content::is_observed(&corrected));
        assert!(crd::is_true(&corrected.status.unwrap().conditions, wanted));
    }
}

#[test]
fn the_states_given_to_other_tools_are_up_to_date() {
    let states: Vec<Value> = operations().into_iter().chain(clusters()).collect();
    let text = serde_json::to_string_pretty(&states).unwrap() + "\n";
    if std::env::var_os("UPDATE_STATES").is_some() {
        std::fs::write(STATES, &text).unwrap();
    }
    let written = std::fs::read_to_string(Path::new(STATES)).unwrap_or_default();
    assert!(written == text, "states.json is out of date: UPDATE_STATES=1 cargo test -p kubeonkube-controller states");
}
