//! What is watched while an operation runs: whether it may be stopped, what holds it up, and whether the cluster answers.

mod earlier;
mod stall;

use std::sync::Arc;

use api::availability::{Answer, Answers, Target};
use api::operation::{Effect, Phase};
use api::progress::RunProgress;
use api::watch::{Stall, StopAdvice, StopWhen, Watch};
use api::{OperationName, Problem, User};
use crd::{ActionSource, ActionType, Cluster, ClusterOperation};
use kube::ResourceExt;
use kube::runtime::reflector::ObjectRef;
use operation::{ACTIONS, REMOVE_NODES, action, stop_advice};

pub(crate) use earlier::Earlier;

use crate::operations::{is_dry, phase, values_of};
use crate::{Console, moment};

/// How long a drain lasts before the server asks the cluster what holds it up, in milliseconds.
const DRAIN: i64 = 10_000;
/// At most this many nodes of a drain are asked about.
const NODES: usize = 2;

impl Console {
    pub(crate) async fn watch_operation(&self, user: &User, name: &OperationName) -> Result<Watch, Problem> {
        let operation = self.operation(user, name).await?;
        let is_running = phase(&operation) == Phase::Running;
        let progress = if is_running { self.progress_of(user, name, false).await } else { None };
        Ok(self.watch(user, &operation, progress.as_ref()).await)
    }

    /// `progress` of a running operation; `None` if it can't be read.
    pub(crate) async fn watch(
        &self,
        user: &User,
        operation: &ClusterOperation,
        progress: Option<&RunProgress>,
    ) -> Watch {
        let progress = progress.filter(|_| phase(operation) == Phase::Running);
        let answers = self.shared.availability.of(&operation.uid().unwrap_or_default()).await;
        let stall = match progress {
            Some(progress) => self.stall(user, operation, progress, silent_for(&answers)).await,
            None => None,
        };
        Watch {
            is_running: phase(operation) == Phase::Running,
            stop: progress.and_then(|progress| advice(operation, progress)),
            stall,
            answers,
            now: moment::now(),
        }
    }

    async fn stall(
        &self,
        user: &User,
        operation: &ClusterOperation,
        progress: &RunProgress,
        silent: Option<u32>,
    ) -> Option<Stall> {
        let (task, hosts) = progress.running()?;
        let earlier = self.longest_earlier(user, operation, progress, &task.name).await;
        let lasts = (moment::now().0 - task.started).max(0);
        let cluster = self.shared.clusters.get(&ObjectRef::new(&operation.spec.cluster));
        let reading = self.shared.managed.look(&operation.spec.cluster);
        let drain = match cluster {
            Some(cluster) if lasts >= DRAIN && stall::is_drain(task) => self.drain(operation, &cluster, &hosts),
            _ => Vec::new(),
        };
        stall::stall(&stall::Known { task, hosts: &hosts, lasts, earlier, drain: &drain, reading: &reading, silent })
    }

    /// What evicting the pods of the drained nodes meets, as far as it is known by now.
    fn drain(
        &self,
        operation: &ClusterOperation,
        cluster: &Arc<Cluster>,
        hosts: &[&str],
    ) -> Vec<(String, Result<managed::Evictions, String>)> {
        let nodes: Vec<String> = if operation.spec.action == REMOVE_NODES {
            let named = values_of(operation, stall::NODE);
            named.iter().flat_map(|nodes| nodes.split(',')).map(|node| node.trim().to_owned()).collect()
        } else {
            hosts.iter().map(|host| (*host).to_owned()).collect()
        };
        let known = |node: String| {
            let found = self.shared.managed.evictions_soon(cluster, &node)?;
            Some((node, found))
        };
        nodes.into_iter().take(NODES).filter_map(known).collect()
    }
}

/// For how many seconds the API server has not answered; `None` if it answered last, or wasn't asked.
fn silent_for(answers: &[Answers]) -> Option<u32> {
    let newest = answers.iter().find(|answers| answers.target == Target::Api)?.spans.last()?;
    (newest.answer == Answer::No).then_some(newest.seconds)
}

/// Whether the operation may be stopped.
fn advice(operation: &ClusterOperation, progress: &RunProgress) -> Option<StopAdvice> {
    let spec = &operation.spec;
    let now = |why: &str| Some(StopAdvice { when: StopWhen::Now, why: why.into() });
    if spec.cancel == Some(true) {
        return None;
    }
    if is_dry(operation) {
        return now("It is a check, which changes nothing.");
    }
    let is_builtin = (spec.action_type, spec.action_source) == (ActionType::Playbook, ActionSource::Builtin);
    let known = action(ACTIONS, &spec.action).filter(|_| is_builtin)?;
    // A hook may do anything.
    let hooks = spec.pre_hook.len() + spec.post_hook.len() > 0;
    match known.effect {
        Effect::Reads if !hooks => now("It changes nothing."),
        _ => stop_advice(known.stops, progress),
    }
}

#[cfg(test)]
mod tests {
    use api::run::{EventBody, RunEvent};
    use crd::{HookAction, Phase};

    use super::*;
    use crate::operations::tests::operation;

    /// When a run of this operation, which is in its first play, may be stopped.
    fn when(play: &str, change: impl FnOnce(&mut crd::ClusterOperationSpec)) -> Option<StopWhen> {
        let mut run = operation("run-1", "prod", 1, Phase::Running);
        change(&mut run.spec);
        let body = EventBody::PlayStart { play: 1, name: play.into() };
        let progress = RunProgress::from_events(&[RunEvent { n: 1, at: 0, after: 0, body }]);
        advice(&run, &progress).map(|advice| advice.when)
    }

    #[test]
    fn what_changes_nothing_can_be_stopped_always() {
        assert_eq!(when("Any", |spec| spec.action = "ping.yml".into()), Some(StopWhen::Now));
        let reset = |spec: &mut crd::ClusterOperationSpec| spec.action = "reset.yml".into();
        assert_eq!(when("Clean the workers", reset), Some(StopWhen::NotNow));
        let dry = |spec: &mut crd::ClusterOperationSpec| {
            (spec.action, spec.extra_args) = ("reset.yml".into(), Some("--check".into()));
        };
        assert_eq!(when("Clean the workers", dry), Some(StopWhen::Now));
    }

    #[test]
    fn nothing_is_said_of_what_is_not_known() {
        assert_eq!(when("Any", |spec| spec.action = "my.yml".into()), None);
        let own = |spec: &mut crd::ClusterOperationSpec| {
            (spec.action, spec.action_source) = ("reset.yml".into(), ActionSource::Configmap);
        };
        assert_eq!(when("Clean the workers", own), None);
        let hook = |spec: &mut crd::ClusterOperationSpec| {
            spec.action = "ping.yml".into();
            spec.pre_hook = vec![HookAction { action: "echo".into(), ..HookAction::default() }];
        };
        assert_eq!(when("Any", hook), None);
        assert_eq!(when("Any", |spec| (spec.action, spec.cancel) = ("ping.yml".into(), Some(true))), None);
    }
}
