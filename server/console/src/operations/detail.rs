//! The page of an operation, except its log.

use std::collections::BTreeMap;

use api::operation::{OperationDetail, Phase, RunEnd, RunInputs};
use api::{Problem, User};
use crd::{ActionSource, ActionType, ClusterOperation, ClusterOperationSpec, HookAction};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::api::ListParams;
use kube::runtime::reflector::ObjectRef;
use kube::{Api, Client, ResourceExt};
use masking::{MaskedRun, Masker, hide_in_arguments, hide_in_document, hide_in_script, without_escapes};
use operation::{Options, Termination, cut, deadline, join, repeats_as_a_whole, restored_by, split};

use super::cancelled_by::cancelled_by;
use super::row::{phase, row, run_end};
use super::usual::usual;
use crate::kube_problem::{Doing, answer};
use crate::{Console, Playbooks, moment};

/// Maximum size of an action on the page, in bytes: the maximum that the form accepts.
const ACTION: usize = 65_536;

/// Maximum length of a limit on the page, in characters: one line of a phone.
const LIMIT: usize = 40;

impl Console {
    pub(crate) async fn operation_detail(
        &self,
        user: &User,
        operation: &ClusterOperation,
    ) -> Result<OperationDetail, Problem> {
        let row = row(operation, &self.shared.signing)
            .ok_or_else(|| Problem::NotFound { what: "operation".into(), name: operation.name_any() })?;
        let client = self.shared.access.client(user)?;
        let (end, snapshot) =
            futures::join!(termination_message(client.clone(), operation), snapshot(client, operation));
        let (spec, status) = (&operation.spec, operation.status.as_ref());
        let limit = shown_limit(spec);
        let cluster = self.shared.clusters.get(&ObjectRef::new(&spec.cluster));
        let declared = cluster.and_then(|cluster| cluster.spec.engine);
        let hooks = |hooks: &[HookAction]| hooks.iter().map(shown_hook).collect();
        Ok(OperationDetail {
            row,
            source: source(operation),
            action: Some(&spec.action)
                .filter(|action| action.len() <= ACTION)
                .map(|action| hide_in_script(action))
                .unwrap_or_default(),
            image: spec.image.clone(),
            ran_locally: self.shared.playbooks == Playbooks::Local,
            extra_args: shown_arguments(spec.extra_args.as_deref().unwrap_or_default()),
            pre_hooks: hooks(&spec.pre_hook),
            post_hooks: hooks(&spec.post_hook),
            deadline: deadline(spec).try_into().unwrap_or_default(),
            job: status.and_then(|s| s.job_ref.as_ref()).map(|job| format!("{}/{}", job.namespace, job.name)),
            end: end.map(|end| without_secrets(end, snapshot.as_ref())),
            inputs: snapshot.map(|data| inputs(operation, &data)),
            limited_from: status
                .and_then(|status| status.inputs.as_ref())
                .filter(|_| !limit.is_empty())
                .map(|inputs| inputs.host_count),
            limit,
            repeats_as_a_whole: repeats_as_a_whole(spec, self.engine(declared, &spec.image)),
            restored_by: restored_by(spec).unwrap_or_default().into(),
            cancel: cancellable(operation),
            cancelled_by: cancelled_by(operation, &self.shared.signing),
            result_ignored: status
                .is_some_and(|status| crd::is_true(&status.conditions, crd::condition::RESULT_IGNORED)),
            usual: match phase(operation) {
                Phase::Running => usual(operation, &self.shared.operations.state()),
                _ => None,
            },
            now: moment::now(),
        })
    }
}

/// Extra arguments without their secrets, in the words of the operation if there are none.
pub(super) fn shown_arguments(text: &str) -> String {
    let Some(words) = split(text) else { return hide_in_script(text) };
    let shown = hide_in_arguments(&words);
    if shown == words { text.to_owned() } else { join(&shown).unwrap_or_default() }
}

/// The limit of the action, on one line; empty without one.
fn shown_limit(spec: &ClusterOperationSpec) -> String {
    cut(&hide_in_script(&Options::of(spec).limit.unwrap_or_default()), LIMIT)
}

/// A hook without its secrets: the playbook or the text of the script, where it comes from, and its arguments.
pub(super) fn shown_hook(hook: &HookAction) -> String {
    // Escape sequences may split the name of a secret.
    let action = hide_in_script(&without_escapes(&hook.action));
    let kind = match (hook.action_type, hook.action_source) {
        (ActionType::Shell, ActionSource::Builtin) => "script: ",
        _ => "",
    };
    let source = hook.action_source_ref.as_ref().map(|source| format!(" from ConfigMap {source}")).unwrap_or_default();
    let arguments = match shown_arguments(hook.extra_args.as_deref().unwrap_or_default()) {
        none if none.trim().is_empty() => String::new(),
        shown => format!(", arguments: {shown}"),
    };
    format!("{kind}{}{source}{arguments}", action.trim_end())
}

fn source(operation: &ClusterOperation) -> String {
    let spec = &operation.spec;
    let what = match spec.action_type {
        ActionType::Playbook => "playbook",
        ActionType::Shell => "shell",
    };
    match (&spec.action_source, &spec.action_source_ref) {
        (ActionSource::Configmap, Some(source)) => format!("{what} from ConfigMap {source}"),
        (ActionSource::Configmap, None) => format!("{what} from a ConfigMap"),
        (ActionSource::Builtin, _) => format!("{what}, builtin"),
    }
}

/// Checks whether it can be cancelled now. The error says why not.
pub(crate) fn cancellable(operation: &ClusterOperation) -> Result<(), String> {
    match phase(operation) {
        Phase::Cancelled => Err("It is already cancelled.".into()),
        Phase::Failed | Phase::Succeeded | Phase::Restored => Err("It has ended; there is nothing to cancel.".into()),
        Phase::Running | Phase::Queued if operation.spec.cancel == Some(true) => {
            Err("It is being cancelled: no new task starts, and running tasks are interrupted.".into())
        }
        Phase::Running | Phase::Queued => Ok(()),
    }
}

/// The summary that the run's pod left when it ended; `None` if the pod is deleted or the user may not read it.
pub(crate) async fn termination_message(client: Client, operation: &ClusterOperation) -> Option<Termination> {
    let job = operation.status.as_ref()?.job_ref.as_ref()?;
    if !phase(operation).is_final() {
        return None;
    }
    let pods: Api<Pod> = Api::namespaced(client, &job.namespace);
    let selector = format!("{}={}", crd::LABEL_OPERATION, operation.name_any());
    let found = answer(
        &Doing::new("list", "the pods of", operation.name_any()),
        pods.list(&ListParams::default().labels(&selector)),
    )
    .await;
    let of_job = |pod: &&Pod| pod.owner_references().iter().any(|o| Some(&o.uid) == job.uid.as_ref());
    found.ok()?.items.iter().filter(of_job).find_map(run_end)
}

/// The summary of a run, with secrets masked as in its log. Without the run's inputs, the console doesn't know what is secret, so
/// the result is empty.
fn without_secrets(end: Termination, snapshot: Option<&BTreeMap<String, ByteString>>) -> RunEnd {
    let Some(run) = snapshot.and_then(crd::Snapshot::read) else { return RunEnd::default() };
    let masker = Masker::of_run(&MaskedRun {
        inventory: &run.inventory,
        variables: &run.variables,
        token: &run.token,
        secrets: &run.secrets,
        names: &run.names,
    });
    let mut end = RunEnd::from(end);
    // Host names are not masked: they are not secret, and the page needs them to find a failure in the log.
    let failure = end.failure.iter_mut().flat_map(|failure| [&mut failure.task, &mut failure.message]);
    let running = end.running.iter_mut().map(|flight| &mut flight.task);
    for text in failure.chain(running).chain([&mut end.message]) {
        *text = masker.value(std::mem::take(text));
    }
    end
}

/// The data of the Secret with the run's inputs; `None` if it doesn't exist yet or the user may not read it.
async fn snapshot(client: Client, operation: &ClusterOperation) -> Option<BTreeMap<String, ByteString>> {
    let resolved = operation.status.as_ref()?.inputs.as_ref()?;
    let secrets: Api<Secret> = Api::namespaced(client, &resolved.secret.namespace);
    let doing = Doing::new("read", "Secret", &resolved.secret);
    answer(&doing, secrets.get_opt(&resolved.secret.name)).await.ok()??.data
}

fn inputs(operation: &ClusterOperation, data: &BTreeMap<String, ByteString>) -> RunInputs {
    let text =
        |key: &str| data.get(key).map(|bytes| String::from_utf8_lossy(&bytes.0).into_owned()).unwrap_or_default();
    let resolved = operation.status.as_ref().and_then(|status| status.inputs.as_ref());
    RunInputs {
        inventory: hide_in_document(&text(crd::KEY_HOSTS)),
        variables: hide_in_document(&text(crd::KEY_VARS)),
        sha256: resolved.map(|resolved| resolved.sha256.clone()).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::row::tests::operation, *};

    #[test]
    fn extra_arguments_are_shown_without_secrets() {
        assert_eq!(shown_arguments("--limit='m1' -e a=1"), "--limit='m1' -e a=1");
        assert_eq!(shown_arguments("-e 'password=hunter 22' --check"), "-e 'password=(hidden)' --check");
    }

    #[test]
    fn the_limit_is_shown_however_it_is_written() {
        let limit = |arguments: &str| {
            shown_limit(&ClusterOperationSpec { extra_args: Some(arguments.into()), ..Default::default() })
        };
        for arguments in ["--limit=web", "--limit web", "-lweb", "-l web -D"] {
            assert_eq!(limit(arguments), "web");
        }
        assert_eq!(limit("--check"), "");
        let many = limit(&format!("--limit={}", vec!["node-1"; 100].join(",")));
        assert!(many.chars().count() == LIMIT && many.ends_with('…'), "{many}");
    }

    #[test]
    fn only_an_open_operation_can_be_cancelled_and_only_once() {
        let mut running = operation("a", "prod", 0, crd::Phase::Running);
        assert_eq!(cancellable(&running), Ok(()));
        running.spec.cancel = Some(true);
        assert!(cancellable(&running).unwrap_err().contains("being cancelled"));
        assert!(cancellable(&operation("a", "prod", 0, crd::Phase::Succeeded)).unwrap_err().contains("has ended"));
    }
}
