//! The health of a cluster, from its conditions and operations. Pure.

use api::cluster::Health;
use api::configuration::Document;
use api::operation::WARNINGS;
use crd::{Cluster, ClusterOperation, Condition, condition};
use kube::ResourceExt;
use operation::{Options, is_script, title};

use super::register::UNFINISHED;
use crate::operations::{phase, why};

/// The operations of one cluster that decide its health.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Work<'a> {
    pub(crate) running: Option<&'a ClusterOperation>,
    /// The first operation in the queue.
    pub(crate) next: Option<&'a ClusterOperation>,
    pub(crate) waiting: usize,
    /// The operation that ended last.
    pub(crate) ended: Option<&'a ClusterOperation>,
    pub(crate) all: usize,
}

/// The health of a cluster, with the word and the note that pages show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Judgement {
    pub(crate) health: Health,
    pub(crate) word: String,
    /// A sentence; empty if the word needs no explanation.
    pub(crate) note: String,
    /// The document in which the user can fix what the note says.
    pub(crate) fix: Option<Document>,
}

/// The first that applies: a state in which nothing can run, an open operation, the result of the last operation.
pub(crate) fn judge(cluster: &Cluster, work: &Work<'_>) -> Judgement {
    let say = |health, word: String, note: &str| Judgement { health, word, note: note.to_owned(), fix: None };
    if cluster.metadata.deletion_timestamp.is_some() {
        return say(Health::Working, "Being unregistered".into(), "");
    }
    if cluster.annotations().contains_key(UNFINISHED) {
        let note = "Registering it was interrupted. Register it again under the same name to finish, or unregister it.";
        return say(Health::Broken, "Registration unfinished".into(), note);
    }
    let conditions = cluster.status.as_ref().map(|status| status.cluster_conditions.as_slice()).unwrap_or_default();
    let inputs = conditions.iter().find(|c| c.type_ == condition::INPUTS_READY && c.status == "False");
    if let Some(inputs) = inputs {
        let fix = Document::to_fix(&inputs.reason, &inputs.message);
        return Judgement { fix, ..say(Health::Broken, broken(&inputs.reason).into(), &inputs.message) };
    }
    if let Some(running) = work.running {
        return say(Health::Working, running_words(running), "");
    }
    if let Some(next) = work.next {
        return say(Health::Working, format!("{} queued", subject(next)), "");
    }
    let Some(ended) = work.ended else { return from_history(cluster) };
    let why = why(ended);
    let note = &why.message;
    match phase(ended) {
        api::operation::Phase::Succeeded if WARNINGS.contains(&why.reason.as_str()) => {
            say(Health::Attention, format!("{} had a warning", subject(ended)), note)
        }
        api::operation::Phase::Succeeded if Options::is_check(&ended.spec) => {
            say(Health::Good, "Last check OK".into(), "")
        }
        api::operation::Phase::Succeeded => say(Health::Good, "Last run OK".into(), ""),
        api::operation::Phase::Cancelled => say(Health::Attention, format!("{} was cancelled", subject(ended)), note),
        _ => Judgement {
            fix: fixed_in(&why.reason, note),
            ..say(Health::Attention, format!("{} failed", subject(ended)), note)
        },
    }
}

/// Whether it says that the last operation succeeded with a warning.
pub(super) fn warns(condition: &Condition) -> bool {
    condition.type_ == condition::LAST_OPERATION_SUCCEEDED && WARNINGS.contains(&condition.reason.as_str())
}

fn running_words(operation: &ClusterOperation) -> String {
    if is_script(&operation.spec) { "Running a script".into() } else { format!("Running {}", title(&operation.spec)) }
}

/// The operation as the subject of a sentence.
fn subject(operation: &ClusterOperation) -> String {
    if is_script(&operation.spec) { "Script".into() } else { title(&operation.spec) }
}

/// The health according to the history in the Cluster's status, if all operations are deleted.
fn from_history(cluster: &Cluster) -> Judgement {
    let mut conditions = cluster.status.iter().flat_map(|status| &status.cluster_conditions);
    if let Some(warned) = conditions.find(|condition| warns(condition)) {
        let (word, note) = ("Last operation had a warning".into(), warned.message.clone());
        return Judgement { health: Health::Attention, word, note, fix: None };
    }
    let last = cluster.status.iter().flat_map(|status| &status.conditions).find(|record| record.status.is_final());
    let (health, word, note) = match last {
        Some(last) if last.status == crd::Phase::Succeeded => (Health::Good, "Last run OK", String::new()),
        Some(last) => (
            Health::Attention,
            "Last operation failed",
            format!("{} failed or was cancelled. The operation has been deleted.", last.cluster_ops),
        ),
        None => (Health::Unknown, "Nothing run yet", String::new()),
    };
    Judgement { health, word: word.into(), note, fix: None }
}

/// How ssh refuses. It lists the methods of logging in, in brackets; rsync and others write a number there.
const SSH_WORDS: [&str; 7] = [
    "Permission denied (publickey",
    "Permission denied (password",
    "Permission denied (keyboard-interactive",
    "Permission denied (gssapi",
    "Permission denied (hostbased",
    "Host key verification failed",
    "host key of",
];

/// The document that fixes a condition or a failed run, from its reason or from ssh's words in its message.
pub(crate) fn fixed_in(reason: &str, message: &str) -> Option<Document> {
    let by_ssh = || SSH_WORDS.iter().any(|words| message.contains(words)).then_some(Document::HostKeys);
    Document::to_fix(reason, message).or_else(by_ssh)
}

/// The word for a reason of the condition `InputsReady`.
fn broken(reason: &str) -> &'static str {
    match reason {
        "ReferenceNotFound" => "Input missing",
        "ReferenceEmpty" => "Input empty",
        "KeyNotFound" => "Key missing in an input",
        "HostKeysUnreadable" => "Host keys unreadable",
        "ReferenceForbidden" => "No access to an input",
        "InventoryEmpty" => "Inventory has no hosts",
        "InventoryInvalid" => "Inventory invalid",
        "VariablesInvalid" => "Variables invalid",
        "PrivateKeyInvalid" => "SSH key unusable",
        "TwoNamespaces" => "Inputs in two namespaces",
        _ => "Inputs unusable",
    }
}

#[cfg(test)]
mod tests {
    use crd::{ClusterSpec, ClusterStatus, OperationRecord};

    use super::*;
    use crate::operations::tests::{operation, time};

    fn cluster() -> Cluster {
        let mut cluster = Cluster::new("prod", ClusterSpec::default());
        cluster.status = Some(ClusterStatus::default());
        cluster
    }

    fn inputs(cluster: &mut Cluster, holds: bool) {
        let fact = crd::Fact::new(condition::INPUTS_READY, holds, "KeyNotFound", "It has no key hosts.yml.");
        crd::upsert(&mut cluster.status.as_mut().unwrap().cluster_conditions, fact, &time(1), None);
    }

    #[test]
    fn a_script_is_not_named_by_its_first_line() {
        let mut script = operation("a", "prod", 0, crd::Phase::Failed);
        (script.spec.action_type, script.spec.action) =
            (crd::ActionType::Shell, "for i in $(seq 3); do free; done".into());
        assert_eq!(judge(&cluster(), &Work { ended: Some(&script), ..Work::default() }).word, "Script failed");
        assert_eq!(judge(&cluster(), &Work { running: Some(&script), ..Work::default() }).word, "Running a script");
    }

    #[test]
    fn a_check_is_no_run_that_changed_something() {
        let mut check = operation("a", "prod", 0, crd::Phase::Succeeded);
        let word = |check: &ClusterOperation| judge(&cluster(), &Work { ended: Some(check), ..Work::default() }).word;
        assert_eq!(word(&check), "Last run OK");
        check.spec.extra_args = Some("--check".into());
        assert_eq!(word(&check), "Last check OK");
    }

    #[test]
    fn unusable_inputs_come_before_everything_else() {
        let mut prod = cluster();
        inputs(&mut prod, false);
        let done = operation("a", "prod", 0, crd::Phase::Succeeded);
        let judged = judge(&prod, &Work { ended: Some(&done), ..Work::default() });
        assert_eq!((judged.health, judged.word.as_str()), (Health::Broken, "Key missing in an input"));
        assert_eq!(judged.note, "It has no key hosts.yml.");
        inputs(&mut prod, true);
        assert_eq!(judge(&prod, &Work { ended: Some(&done), ..Work::default() }).health, Health::Good);
    }

    #[test]
    fn a_refused_login_is_fixed_in_ssh_access() {
        let unreachable = "m1 was unreachable: root@10.0.0.5: Permission denied (publickey).";
        assert_eq!(fixed_in("HostsUnreachable", unreachable), Some(Document::HostKeys));
        for message in ["No space left on device", "rsync: mkstemp failed: Permission denied (13)"] {
            assert_eq!(fixed_in("TaskFailed", message), None, "{message}");
        }
    }

    #[test]
    fn an_inventory_without_hosts_differs_from_a_broken_one() {
        assert_eq!(broken("InventoryEmpty"), "Inventory has no hosts");
        assert_eq!(broken("InventoryInvalid"), "Inventory invalid");
    }

    #[test]
    fn an_open_operation_comes_before_the_last_result() {
        let (failed, open) =
            (operation("a", "prod", 0, crd::Phase::Failed), operation("b", "prod", 1, crd::Phase::Pending));
        let judged = |work: Work<'_>| judge(&cluster(), &work);
        let work = Work { ended: Some(&failed), next: Some(&open), waiting: 1, ..Work::default() };
        assert_eq!((judged(work).health, judged(work).word.as_str()), (Health::Working, "ping.yml queued"));
        assert_eq!(judged(Work { running: Some(&open), ..work }).word, "Running ping.yml");
        assert_eq!(judged(Work { next: None, ..work }).word, "ping.yml failed");
        assert_eq!(judged(Work::default()).health, Health::Unknown);
    }

    #[test]
    fn the_history_decides_if_the_operations_are_deleted() {
        let mut prod = cluster();
        let record = |status| OperationRecord { cluster_ops: "grow".into(), status, ..OperationRecord::default() };
        prod.status.as_mut().unwrap().conditions = vec![record(crd::Phase::Failed), record(crd::Phase::Succeeded)];
        assert_eq!(judge(&prod, &Work::default()).health, Health::Attention);
        prod.status.as_mut().unwrap().conditions.remove(0);
        assert_eq!(judge(&prod, &Work::default()).health, Health::Good);
        let warned = crd::Fact::new(condition::LAST_OPERATION_SUCCEEDED, true, "NoHostReached", "It reached no host.");
        let now = crd::Time(jiff::Timestamp::UNIX_EPOCH);
        crd::upsert(&mut prod.status.as_mut().unwrap().cluster_conditions, warned, &now, None);
        let judged = judge(&prod, &Work::default());
        assert_eq!((judged.health, judged.note.as_str()), (Health::Attention, "It reached no host."));
    }
}
