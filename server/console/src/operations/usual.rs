//! How long a run usually takes: what earlier runs of the same action on the same cluster took.

use std::sync::Arc;

use api::operation::{Phase, Usual};
use crd::{ClusterOperation, ClusterOperationSpec, HookAction};
use kube::ResourceExt;

use super::{ended, is_dry, is_limited, phase};
use crate::moment;

/// How many of the newest runs count.
const NEWEST: usize = 5;

/// The median, the shortest and the longest of the newest successful runs like `operation`; `None` if there is none. Runs that
/// changed nothing count only if all did: a run that finds everything done is quick.
pub(super) fn usual(operation: &ClusterOperation, all: &[Arc<ClusterOperation>]) -> Option<Usual> {
    let alike = alike(operation, all);
    let changing: Vec<_> = alike.iter().filter(|other| has_changed(other)).cloned().collect();
    let counted = if changing.is_empty() { alike } else { changing };
    let mut durations: Vec<i64> = counted.iter().filter_map(|other| duration(other)).take(NEWEST).collect();
    durations.sort_unstable();
    let middle = durations.len() / 2;
    let ms = match durations.len() {
        0 => return None,
        n if n.is_multiple_of(2) => i64::midpoint(durations[middle - 1], durations[middle]),
        _ => durations[middle],
    };
    let (shortest, longest) = (*durations.first()?, *durations.last()?);
    Some(Usual { ms, shortest, longest, runs: durations.len().try_into().unwrap_or_default() })
}

/// The newest successful run like `operation`; one that changed something, if there is one.
pub(crate) fn newest_alike(
    operation: &ClusterOperation,
    all: &[Arc<ClusterOperation>],
) -> Option<Arc<ClusterOperation>> {
    let alike = alike(operation, all);
    alike.iter().find(|other| has_changed(other)).or(alike.first()).cloned()
}

/// The successful runs of the same action and hooks on the same cluster, newest first. A run of some hosts says little about a run of all,
/// and a dry run little about a real one.
fn alike(operation: &ClusterOperation, all: &[Arc<ClusterOperation>]) -> Vec<Arc<ClusterOperation>> {
    let is_alike = |other: &&Arc<ClusterOperation>| {
        let (this, spec) = (&operation.spec, &other.spec);
        other.name_any() != operation.name_any()
            && (&spec.cluster, &spec.action, spec.action_type) == (&this.cluster, &this.action, this.action_type)
            && (spec.action_source, &spec.action_source_ref) == (this.action_source, &this.action_source_ref)
            && hooks(spec) == hooks(this)
            && (is_limited(other), is_dry(other)) == (is_limited(operation), is_dry(operation))
            && phase(other) == Phase::Succeeded
    };
    let mut alike: Vec<_> = all.iter().filter(is_alike).cloned().collect();
    alike.sort_by_key(|other| std::cmp::Reverse(ended(other)));
    alike
}

/// What runs before and after the action.
fn hooks(spec: &ClusterOperationSpec) -> (Vec<&str>, Vec<&str>) {
    fn actions(hooks: &[HookAction]) -> Vec<&str> {
        hooks.iter().map(|hook| hook.action.as_str()).collect()
    }
    (actions(&spec.pre_hook), actions(&spec.post_hook))
}

fn has_changed(operation: &ClusterOperation) -> bool {
    let recap = operation.status.as_ref().and_then(|status| status.recap.as_ref());
    recap.is_some_and(|recap| recap.changed > 0)
}

/// How long it took, in milliseconds.
fn duration(operation: &ClusterOperation) -> Option<i64> {
    let status = operation.status.as_ref()?;
    let (start, end) = (status.start_time.as_ref()?, status.end_time.as_ref()?);
    Some((moment::of(end).0 - moment::of(start).0).max(0))
}

#[cfg(test)]
mod tests {
    use super::super::row::tests::{operation, time};
    use super::*;

    /// A run that began at this second and took so many.
    fn took(start: i64, seconds: i64, change: impl FnOnce(&mut ClusterOperation)) -> Arc<ClusterOperation> {
        let mut run = operation(&format!("run-{start}"), "prod", start, crd::Phase::Succeeded);
        let status = run.status.as_mut().unwrap();
        (status.start_time, status.end_time) = (Some(time(start)), Some(time(start + seconds)));
        change(&mut run);
        Arc::new(run)
    }

    fn of(all: &[Arc<ClusterOperation>]) -> Option<(i64, u32)> {
        usual(&operation("now", "prod", 90_000, crd::Phase::Running), all).map(|usual| (usual.ms, usual.runs))
    }

    #[test]
    fn the_median_of_the_newest_five_counts() {
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[took(0, 60, |_| {})]), Some((60_000, 1)));
        assert_eq!(of(&[took(0, 60, |_| {}), took(100, 90, |_| {})]), Some((75_000, 2)));
        let seven: Vec<_> = [9_000, 8_000, 60, 70, 80, 75, 900].into_iter().zip(0..).collect();
        let seven: Vec<_> = seven.into_iter().map(|(seconds, n)| took(n * 10_000, seconds, |_| {})).collect();
        assert_eq!(of(&seven), Some((75_000, 5)), "of 60, 70, 80, 75 and 900");
    }

    #[test]
    fn runs_that_found_everything_done_do_not_count() {
        let changed = |run: &mut ClusterOperation| {
            run.status.as_mut().unwrap().recap = Some(crd::Recap { changed: 3, ..crd::Recap::default() });
        };
        let all = [took(0, 300, changed), took(1000, 360, changed), took(2000, 12, |_| {})];
        let found = usual(&operation("now", "prod", 90_000, crd::Phase::Running), &all).unwrap();
        assert_eq!((found.ms, found.shortest, found.longest, found.runs), (330_000, 300_000, 360_000, 2));
        let newest = newest_alike(&operation("now", "prod", 90_000, crd::Phase::Running), &all).unwrap();
        assert_eq!(newest.name_any(), "run-1000");
    }

    #[test]
    fn only_successful_runs_of_the_same_kind_count() {
        let others = [
            took(0, 60, |run| run.spec.cluster = "lab".into()),
            took(100, 60, |run| run.spec.action = "scale.yml".into()),
            took(200, 60, |run| run.spec.extra_args = Some("--limit=w1".into())),
            took(250, 60, |run| {
                run.spec.post_hook = vec![HookAction { action: "remove-node.yml".into(), ..HookAction::default() }];
            }),
            took(300, 60, |run| run.spec.extra_args = Some("--check".into())),
            took(400, 60, |run| run.status.as_mut().unwrap().status = crd::Phase::Failed),
            took(500, 60, |run| run.status.as_mut().unwrap().start_time = None),
            took(600, 60, |run| run.metadata.name = Some("now".into())),
        ];
        assert_eq!(of(&others), None);
    }
}
