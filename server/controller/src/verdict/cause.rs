//! Why a run failed: a reason and a sentence, from the container, the pod and the Job.

use api::count;
use api::operation::{NO_HOST_REACHED, PLAY_MATCHED_NO_HOST};
use api::run::{InFlight, StepRole};
use crd::{ActionSource, ClusterOperation, ClusterOperationSpec, HookAction};
use k8s_openapi::api::batch::v1::JobCondition;
use k8s_openapi::api::core::v1::{ContainerStateTerminated, Pod};
use operation::{Hosts, Options, TerminatedFailure, TerminatedStep, Termination, UnmatchedPlay, cut};

use crate::status::sentence::list;

/// Why a run that ended with exit code 0 failed nevertheless. For example, ansible reports success for a playbook that matched no host.
pub(crate) fn hidden_failure(operation: &ClusterOperation, said: &Termination) -> Option<(&'static str, String)> {
    if let Some(reason) = failed_step(operation, said) {
        return Some(reason);
    }
    if said.cancelled {
        return Some(("Interrupted", interrupted(said)));
    }
    if said.rc != 0 {
        return Some(("RunFailed", format!("The run ended with exit code {}.", said.rc)));
    }
    let asked = operation::asked(&operation.spec, None).len();
    if said.steps.len() + usize::try_from(said.dropped).unwrap_or(0) < asked
        || !said.steps.iter().any(|step| step.role == StepRole::Main)
    {
        return Some((
            "NoResult",
            format!(
                "The summary lists {}, but {asked} {} requested.",
                count(said.steps.len() as u64, "step", "steps"),
                if asked == 1 { "was" } else { "were" }
            ),
        ));
    }
    None
}

/// The first step that failed, with a sentence for users.
fn failed_step(operation: &ClusterOperation, said: &Termination) -> Option<(&'static str, String)> {
    said.steps.iter().find_map(|step| {
        let title = &step.title;
        if step.kind != "playbook" {
            return (step.rc != 0).then(|| ("ScriptFailed", format!("{title} ended with exit code {}.", step.rc)));
        }
        let recap = step.recap.unwrap_or_default();
        let unmatched = |text: String| match plays(step).filter(|_| is_own(operation, step)) {
            Some(plays) => format!("{text} {plays}"),
            None => text,
        };
        if recap.unreachable > 0 || recap.failed > 0 {
            let kind = if recap.failed > 0 { "TaskFailed" } else { "HostsUnreachable" };
            let hosts = count(recap.hosts.into(), "host", "hosts");
            // ansible counts tasks that failed, and a host may fail more than once, such as again in its `always`.
            let failed = count(recap.failed.into(), "failed task", "failed tasks");
            let counts = format!("{title}: {failed}, {} of {hosts} unreachable", recap.unreachable);
            return Some((kind, unmatched(cause_first(said, &counts) + &left(step))));
        }
        if step.rc != 0 {
            let cause = cause_first(said, &format!("{title} ended with exit code {}", step.rc));
            return Some(("PlaybookFailed", cause + &left(step)));
        }
        (recap.hosts == 0).then(|| {
            let (reason, text) = nothing_done(operation, step);
            (reason, unmatched(text))
        })
    })
}

/// The failed tasks, then what they led to: lists cut the sentence, and the cause must be in the part that is shown.
fn cause_first(said: &Termination, result: &str) -> String {
    let failure = |TerminatedFailure { first, hosts }: &TerminatedFailure| {
        let hosts = names(hosts).unwrap_or_else(|| first.host.clone());
        let message = first.message.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("{hosts}: task “{}”: {}", first.task, message.trim_end_matches('.'))
    };
    let mut failures: Vec<String> = said.failures.iter().map(failure).collect();
    let named = said.failures.iter().map(|failure| failure.hosts.count.max(1)).fold(0, u32::saturating_add);
    match said.failed_hosts.saturating_sub(named) {
        0 => {}
        more => failures.push(format!("{} failed", count(more.into(), "more host", "more hosts"))),
    }
    if failures.is_empty() { format!("{result}.") } else { format!("{} ({result}).", failures.join("; ")) }
}

fn interrupted(said: &Termination) -> String {
    format!("The run was stopped by a signal{}.{}", in_flight(said), left_hosts(said))
}

/// The hosts that the last playbook wasn't done with when the run stopped.
pub(crate) fn left_hosts(said: &Termination) -> String {
    said.steps.last().map(left).unwrap_or_default()
}

/// The hosts on which the action ran no task, although it succeeded: its plays ended before. Empty without any.
pub(crate) fn unreached_hosts(said: &Termination) -> String {
    said.steps.iter().find(|step| step.role == StepRole::Main).map(left).unwrap_or_default()
}

/// The hosts that the playbook wasn't done with when it stopped.
fn left(step: &TerminatedStep) -> String {
    let part = |word: &str, hosts: &Hosts| names(hosts).map(|names| format!(" {word}: {names}.")).unwrap_or_default();
    part("Not finished", &step.unfinished) + &part("Not reached", &step.unreached)
}

/// The hosts that were unreachable, which playbooks ignore that reached others. Empty without any.
pub(crate) fn ignored_hosts(said: &Termination) -> String {
    let all = said.steps.iter().filter(|step| step.reached).filter_map(|step| names(&step.unreachable));
    all.map(|names| format!(" Unreachable, which was ignored: {names}.")).collect()
}

/// The hosts that a run with `--check` changed nevertheless. Empty without any.
pub(crate) fn made_hosts(said: &Termination) -> String {
    let all = said.steps.iter().filter_map(|step| names(&step.made));
    all.map(|names| format!(" Really changed, by tasks with check_mode: false: {names}.")).collect()
}

/// `n1, n2 and 7 more`.
fn names(Hosts { count, hosts }: &Hosts) -> Option<String> {
    match (*count, hosts.len()) {
        (0, _) => None,
        (count, 0) => Some(api::count(count.into(), "host", "hosts")),
        (count, named) => match count.saturating_sub(u32::try_from(named).unwrap_or(count)) {
            0 => Some(hosts.join(", ")),
            more => Some(format!("{} and {more} more", hosts.join(", "))),
        },
    }
}

/// Why a playbook ended well without a recap.
fn nothing_done(operation: &ClusterOperation, step: &TerminatedStep) -> (&'static str, String) {
    let title = &step.title;
    let options = if step.role == StepRole::Main { Options::of(&operation.spec) } else { Options::default() };
    if let Some(option) = options.print_only {
        return ("NothingRun", format!("With {option}, ansible only prints something and runs no task."));
    }
    if step.unfinished.count + step.unreached.count > 0 {
        let why = if options.chooses_tasks {
            "none was chosen. Check --tags, --skip-tags and --start-at-task."
        } else {
            "its plays have none, or ended before one."
        };
        return ("NoTasks", format!("{title} ran no task: {why}"));
    }
    let why = "Check --limit and the groups that its plays name.";
    let why = if step.unmatched.is_empty() || !is_own(operation, step) { format!(" {why}") } else { String::new() };
    ("NoHostsMatched", format!("{title} matched no host and did nothing.{why}"))
}

/// What makes a success doubtful: a playbook that reached no host, or plays of a playbook of the user that matched no host. A reason and
/// a sentence.
pub(crate) fn warning(operation: &ClusterOperation, said: &Termination) -> Option<(&'static str, String)> {
    let mut unreached = said.steps.iter().filter(|step| !step.reached);
    let unreachable = unreached.find_map(|step| Some((step, names(&step.unreachable)?)));
    if let Some((step, names)) = unreachable {
        let was = if step.unreachable.count == 1 { "was" } else { "were" };
        let title = &step.title;
        return Some((
            NO_HOST_REACHED,
            format!("{title} reached no machine: {names} {was} unreachable, and the playbook ignores that."),
        ));
    }
    let mut untouched = said.steps.iter().filter(|_| !said.steps.iter().any(|step| step.reached));
    if let Some((step, names)) = untouched.find_map(|step| Some((step, names(&step.untouched)?))) {
        let recap = step.recap.unwrap_or_default();
        // ansible counts an ignored failure as ok, too.
        let them = if step.untouched.count == 1 { "it" } else { "them" };
        let why = match recap.ok > recap.ignored {
            true => format!("on {names}, only tasks succeeded that need no connection to {them}, such as debug"),
            false => format!("no task connected to {names}"),
        };
        return Some((NO_HOST_REACHED, format!("{} reached no machine: {why}.", step.title)));
    }
    let mut own = said.steps.iter().filter(|step| is_own(operation, step));
    own.find_map(plays).map(|plays| (PLAY_MATCHED_NO_HOST, plays))
}

/// The entrypoint cuts titles after so many characters.
const TITLE: usize = 100;

/// Whether the step runs a playbook of the user. Those of an image name groups that not every cluster has.
fn is_own(operation: &ClusterOperation, step: &TerminatedStep) -> bool {
    let spec = &operation.spec;
    match step.role {
        StepRole::Main => spec.action_source == ActionSource::Configmap,
        _ => hooks_of(spec, step).any(|hook| hook.action_source == ActionSource::Configmap),
    }
}

/// Whether the step only checked what it would change.
pub(crate) fn is_check(spec: &ClusterOperationSpec, step: &TerminatedStep) -> bool {
    let is_check = |hook: &HookAction| Options::of_text(hook.extra_args.as_deref()).check;
    match step.role {
        StepRole::Main => Options::of(spec).check,
        // A hook that may have changed something has.
        _ => hooks_of(spec, step).next().is_some() && hooks_of(spec, step).all(is_check),
    }
}

/// The hooks that the step may be: several of one title can't be told apart. Without any, it is the cluster's pre-check.
fn hooks_of<'a>(spec: &'a ClusterOperationSpec, step: &'a TerminatedStep) -> impl Iterator<Item = &'a HookAction> {
    let hooks = if step.role == StepRole::Pre { &spec.pre_hook } else { &spec.post_hook };
    hooks.iter().filter(|hook| cut(&hook.action, TITLE) == step.title)
}

fn plays(step: &TerminatedStep) -> Option<String> {
    let sentence = |UnmatchedPlay { play, names, pattern }: &UnmatchedPlay| {
        let names: Vec<String> = names.iter().map(|name| format!("“{name}”")).collect();
        let why = match pattern.as_deref() {
            None => format!("the inventory has no {}", list(&names, 3)),
            Some("") => "its list of hosts is empty".into(),
            Some(pattern) => format!("“{pattern}” selects none of the inventory"),
        };
        format!("The play “{play}” matched no host: {why}.")
    };
    let sentences: Vec<String> = step.unmatched.iter().map(sentence).collect();
    let more = u64::from(step.unmatched_plays).saturating_sub(sentences.len() as u64);
    let more =
        if more == 0 { String::new() } else { format!(" {} matched no host.", count(more, "more play", "more plays")) };
    (!sentences.is_empty()).then(|| sentences.join(" ") + &more)
}

/// The exit codes of a process that a signal ended: 128 and the number of the signal.
const KILLED: i32 = 137;
const TERMINATED: i32 = 143;

/// Why the Job failed.
pub(crate) fn failure(
    operation: &ClusterOperation,
    pod: Option<&Pod>,
    terminated: Option<&ContainerStateTerminated>,
    said: Option<&Termination>,
    condition: &JobCondition,
) -> (&'static str, String) {
    let by_container = terminated.and_then(|state| state.reason.as_deref());
    let by_pod = pod
        .and_then(|pod| pod.status.as_ref())
        .map(|status| (status.reason.as_deref(), status.message.as_deref().unwrap_or_default()));
    if by_container == Some("OOMKilled") {
        return (
            "OOMKilled",
            "The run used too much memory and was killed. Raise resources.limits.memory, or lower ansible's forks."
                .into(),
        );
    }
    if let Some((Some("Evicted"), why)) = by_pod {
        return ("Evicted", format!("The pod was evicted: {why}"));
    }
    if condition.reason.as_deref() == Some("PodFailurePolicy") || pod.is_some_and(is_disrupted) {
        let at = said.map(in_flight).unwrap_or_default();
        return (
            "Disrupted",
            format!(
                "Kubernetes removed the pod{at}. The run is not restarted automatically; submit the operation again."
            ),
        );
    }
    // The kubelet stops the run of a pod that a client deletes, and kills it if that takes too long.
    let is_deleted = pod.is_some_and(|pod| pod.metadata.deletion_timestamp.is_some());
    let is_killed = terminated.is_none_or(|state| matches!(state.exit_code, KILLED | TERMINATED));
    let deleted = |at: &str, left: &str| {
        ("PodDeleted", format!("The pod was deleted{at}.{left} To run it again, submit the operation again."))
    };
    if said.is_none() && is_deleted && is_killed {
        return deleted("", "");
    }
    let Some(said) = said else { return without_summary(terminated, by_pod.map_or("", |(_, why)| why), condition) };
    if !said.message.is_empty() {
        return ("RunFailed", said.message.clone() + &left_hosts(said));
    }
    if said.cancelled {
        return match is_deleted {
            true => deleted(&in_flight(said), &left_hosts(said)),
            false => ("Interrupted", interrupted(said)),
        };
    }
    failed_step(operation, said).unwrap_or_else(|| ("RunFailed", format!("The run ended with exit code {}.", said.rc)))
}

/// The entrypoint left no summary: it was killed, Python is missing, or the node is lost.
fn without_summary(
    terminated: Option<&ContainerStateTerminated>,
    by_pod: &str,
    condition: &JobCondition,
) -> (&'static str, String) {
    let by_container =
        terminated.and_then(|state| state.message.as_deref()).map(str::trim).filter(|text| !text.is_empty());
    let code = terminated.map(|state| format!("exit code {}", state.exit_code));
    let texts = [by_container, Some(by_pod), condition.message.as_deref()];
    let why = texts.into_iter().flatten().find(|text| !text.is_empty()).unwrap_or("no reason was given");
    match code {
        Some(code) => ("RunFailed", format!("The run ended with {code} and without a summary: {why}")),
        None => ("PodLost", format!("The pod is gone and left no result: {why}")),
    }
}

/// ` while task … was in flight on …`, or an empty text.
pub(crate) fn in_flight(said: &Termination) -> String {
    let at =
        |running: &InFlight| format!(" while task “{}” was in flight on {}", running.task, list(&running.hosts, 5));
    said.running.as_ref().map(at).unwrap_or_default()
}

/// Whether Kubernetes removed the pod: the node was drained, or a pod of higher priority took its place.
pub(crate) fn is_disrupted(pod: &Pod) -> bool {
    let conditions = pod.status.as_ref().and_then(|status| status.conditions.as_ref());
    conditions.is_some_and(|all| all.iter().any(|c| c.type_ == "DisruptionTarget" && c.status == "True"))
}
