//! The overview page of a cluster. Pure.

use std::cmp::Reverse;
use std::sync::Arc;

use api::Time;
use api::cluster::{ClusterDetail, ConditionRow, Fact, LiveCluster};
use crd::{Cluster, ClusterOperation, Condition, condition};
use kube::ResourceExt;
use operation::Signing;

use super::health::{fixed_in, judge, warns};
use super::live;
use super::row::{row, work_of};
use crate::moment;
use crate::operations::row as operation_row;
use crate::page::count;

/// Maximum number of operations on the overview page.
const RECENT: usize = 10;

/// The overview of a cluster; `None` if its name is invalid.
pub(crate) fn detail(
    cluster: &Cluster,
    operations: &[Arc<ClusterOperation>],
    nodes: Option<u32>,
    live: LiveCluster,
    stale: i64,
    signing: &Signing,
    now: Time,
) -> Option<ClusterDetail> {
    let name = cluster.name_any();
    let mut own: Vec<&Arc<ClusterOperation>> = operations.iter().filter(|o| o.spec.cluster == name).collect();
    own.sort_by(|a, b| operation::order(b, a));
    let work = work_of(operations, &name);
    let judged = live::judged(judge(cluster, &work), Some(&live), now, stale);
    Some(ClusterDetail {
        row: row(cluster, &work, judged, nodes, live::row(&live, now, stale), signing)?,
        live,
        // The caller adds the next three, which need more than this.
        wrong_engine: None,
        creatable: false,
        kubeconfig: None,
        facts: facts(cluster),
        conditions: conditions(cluster),
        recent: own.iter().filter_map(|o| operation_row(o, signing)).take(RECENT).collect(),
        operations: count(own.len()),
        now,
    })
}

fn facts(cluster: &Cluster) -> Vec<Fact> {
    let spec = &cluster.spec;
    let fact = |label: &str, value: &str| Fact { label: label.into(), value: value.into(), mono: true };
    let mut facts = Vec::new();
    if let Some(hosted) = &spec.hosted {
        facts.push(fact("Control plane", &format!("hosted in namespace {}", hosted.namespace)));
        facts.push(fact("Version", &hosted.version));
    }
    if spec.has_inventory() {
        facts.extend([
            fact("Namespace", &spec.hosts_conf_ref.namespace),
            fact("Inventory", &spec.hosts_conf_ref.name),
            fact("Variables", &spec.vars_conf_ref.name),
        ]);
    }
    facts.extend(spec.secret_vars_ref.iter().map(|at| fact("Secret variables", &at.name)));
    match &spec.ssh_auth_ref {
        Some(at) => facts.push(fact("SSH key", &at.name)),
        None => facts.push(Fact { mono: false, ..fact("SSH key", "none") }),
    }
    facts.extend(spec.pre_check_ref.iter().map(|at| fact("Pre-check", &at.name)));
    facts.extend(spec.kube_conf_ref.iter().map(|at| fact("Kubeconfig", &at.name)));
    facts.extend(spec.engine.map(|engine| fact("Engine", engine.name())));
    facts
}

/// The conditions, false ones first. `Busy` is left out because the row shows it, and those for other tools because they say the same.
fn conditions(cluster: &Cluster) -> Vec<ConditionRow> {
    let history = cluster.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default();
    let ended = history.iter().filter_map(|record| record.end_time.as_ref()).map(moment::of).max();
    let all = cluster.status.as_ref().map(|status| status.cluster_conditions.as_slice()).unwrap_or_default();
    // Of a hosted control plane only the summary: it names the step that isn't done.
    let hosted = cluster.status.as_ref().and_then(|status| status.hosted.as_ref());
    let hosted = hosted.into_iter().flat_map(|status| &status.conditions).filter(|c| c.type_ == condition::READY);
    let hidden = [condition::BUSY, condition::READY, condition::RECONCILING, condition::STALLED];
    let shown = all.iter().filter(|c| !hidden.contains(&c.type_.as_str())).chain(hosted);
    let mut rows: Vec<_> = shown.map(|condition| condition_row(condition, ended)).collect();
    rows.sort_by_key(|row| (row.ok, Reverse(row.since)));
    rows
}

fn condition_row(condition: &Condition, ended: Option<Time>) -> ConditionRow {
    let warns = warns(condition);
    let ok = condition.status == "True" && !warns;
    let name = match (condition.type_.as_str(), ok) {
        (condition::INPUTS_READY, true) => "Inputs ready",
        (condition::INPUTS_READY, false) => "Inputs not ready",
        (condition::LAST_OPERATION_SUCCEEDED, false) if warns => "Last operation had a warning",
        (condition::LAST_OPERATION_SUCCEEDED, true) => "Last operation succeeded",
        (condition::LAST_OPERATION_SUCCEEDED, false) => "Last operation failed",
        (condition::READY, true) => "Control plane ready",
        (condition::READY, false) => "Control plane not ready",
        (other, _) => other,
    };
    // Its sentence is about this operation. The transition may be that of one long before it.
    let ended = ended.filter(|_| condition.type_ == condition::LAST_OPERATION_SUCCEEDED);
    ConditionRow {
        name: name.into(),
        ok,
        message: condition.message.clone(),
        fix: fixed_in(&condition.reason, &condition.message),
        since: ended.or_else(|| Some(moment::of(&condition.last_transition_time))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_has_the_name_of_its_status_and_its_time() {
        let mut cluster = Cluster::new("prod", crd::ClusterSpec::default());
        let conditions = &mut cluster.status.get_or_insert_default().cluster_conditions;
        let now = crd::Time(jiff::Timestamp::UNIX_EPOCH);
        for (kind, holds) in [(condition::INPUTS_READY, true), (condition::LAST_OPERATION_SUCCEEDED, false)] {
            crd::upsert(conditions, crd::Fact::new(kind, holds, "Because", "It is so."), &now, None);
        }
        let ended = Some(Time(60_000));
        let end_time = Some(crd::Time(jiff::Timestamp::from_second(60).unwrap()));
        let record = crd::OperationRecord { end_time, ..crd::OperationRecord::default() };
        cluster.status.get_or_insert_default().conditions = vec![crd::OperationRecord::default(), record];
        let shown: Vec<_> = super::conditions(&cluster).into_iter().map(|row| (row.name, row.ok, row.since)).collect();
        let inputs = ("Inputs ready".into(), true, Some(Time(0)));
        assert_eq!(shown, [("Last operation failed".into(), false, ended), inputs]);
        let warned = crd::Fact::new(condition::LAST_OPERATION_SUCCEEDED, true, "NoHostReached", "It reached no host.");
        crd::upsert(&mut cluster.status.as_mut().unwrap().cluster_conditions, warned, &now, None);
        let row = super::conditions(&cluster).remove(0);
        assert_eq!((row.name.as_str(), row.ok), ("Last operation had a warning", false));
    }
}
