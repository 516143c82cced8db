//! The page: reads everything, and puts it together.

use std::sync::Arc;

use api::cluster::{
    LastUpgrade, LiveNode, LiveState, NodeState, Upgrade, UpgradeNode, UpgradePlan, UpgradeWish, Version, VersionSource,
};
use api::configuration::{ChangeReview, Document};
use api::operation::Phase;
use api::{ClusterName, Problem, User};
use crd::{Cluster, ClusterOperation, Engine};
use inventory::Vars;
use kube::ResourceExt;
use managed::Reading;
use operation::versions::{self, Span};

use super::choices::{Installer, proposal};
use super::consequences::consequences;
use super::members::{Member, members};
use super::newest::{newest, target, unfinished};
use super::progress::{Step, step};
use super::running::{Running, release};
use super::start::{operation, variables_with};
use super::warnings;
use crate::configuration::Inputs;
use crate::documents::{read_inventory, read_variables};
use crate::nodes::refused;
use crate::operations::{ended, phase, row};
use crate::{Console, moment};

const UNKNOWN: &str = "The log of the run can't be read now, so the progress per node is unknown.";

/// What is known about a cluster before a version is chosen.
pub(super) struct Known {
    pub(super) inputs: Inputs,
    pub(super) vars: Vars,
    pub(super) reading: Arc<Reading>,
    pub(super) members: Vec<Member>,
    others: Vec<LiveNode>,
    last: Option<Arc<ClusterOperation>>,
    pub(super) running: Running,
}

impl Known {
    /// The version of an upgrade that ended without success.
    fn unfinished(&self) -> Option<Version> {
        unfinished(self.last.as_deref())
    }

    pub(super) fn has_control_plane(&self) -> Result<(), Problem> {
        if self.members.iter().any(|member| member.control_plane) {
            return Ok(());
        }
        Err(refused("The inventory names no control plane, so nothing can be upgraded.".into()))
    }

    /// The name of an upgrade that is running or queued.
    pub(super) fn open(&self) -> Option<String> {
        self.last.as_deref().filter(|last| !phase(last).is_final()).map(ResourceExt::name_any)
    }

    /// Whether the newest upgrade has ended and the cluster, which can be read, hasn't been read since.
    fn is_settling(&self) -> bool {
        let can_be_read = matches!(self.reading.cluster.state, LiveState::Healthy | LiveState::Unhealthy);
        let end = self.last.as_deref().filter(|last| phase(last).is_final()).and_then(|last| ended(last).0);
        can_be_read && end.is_some_and(|end| self.reading.cluster.read.is_none_or(|read| read < end))
    }

    /// Why the cluster can't be upgraded to `to`. An unfinished upgrade can be continued also if all kubelets have its version:
    /// the last node may have failed after that.
    pub(super) fn refuses(&self, installer: Installer<'_>, span: Span, to: Version) -> Option<String> {
        let continues = self.unfinished() == Some(to) && span.highest == to;
        installer.refuses(span, to).filter(|_| !continues)
    }
}

impl Console {
    pub(super) fn installer(&self, cluster: &Cluster) -> Installer<'_> {
        Installer { engine: self.engine_of(cluster), image: &self.shared.image }
    }

    /// The version that is proposed for a cluster, by the versions of its last reading alone. `operations` are those of all clusters.
    pub(crate) fn next_version(&self, cluster: &Cluster, operations: &[Arc<ClusterOperation>]) -> Option<Version> {
        let name = cluster.name_any();
        let reading = self.shared.managed.newest(&name)?;
        let last = newest(operations, &name);
        let is_open = last.as_deref().is_some_and(|last| !phase(last).is_final());
        if is_open || self.wrong_engine(cluster).is_some() {
            return None;
        }
        let read = reading.nodes.iter().map(|node| &node.version).chain([&reading.cluster.version]);
        let span = Span::of(read.filter_map(|version| release(version)))?;
        proposal(self.installer(cluster), span, unfinished(last.as_deref()))
    }

    /// Reads the inputs and the newest reading of the cluster. `from` is the running version as the user typed it.
    pub(super) async fn known(&self, user: &User, cluster: &Cluster, from: Option<Version>) -> Result<Known, Problem> {
        let name = cluster.name_any();
        let inputs = Inputs::read(self.shared.access.client(user)?, cluster).await?;
        let unusable = crate::nodes::unusable;
        let hosts = inputs.hosts.usable().map_err(|why| unusable(Document::Inventory, &why))?;
        let text = inputs.vars.usable().map_err(|why| unusable(Document::Variables, &why))?;
        let inventory = read_inventory(hosts).map_err(|why| unusable(Document::Inventory, &why))?;
        let vars = read_variables(text).map_err(|why| unusable(Document::Variables, &why))?;
        let reading = self.shared.managed.look(&name);
        let (members, others) = members(&inventory, &vars, &reading);
        let last = newest(&self.shared.operations.state(), &name);
        let running = Running::find(&reading, &members, &vars, from, unfinished(last.as_deref()));
        Ok(Known { inputs, vars, reading, members, others, last, running })
    }

    pub(super) async fn plan_upgrade(
        &self,
        user: &User,
        name: &ClusterName,
        wish: &UpgradeWish,
    ) -> Result<Upgrade, Problem> {
        self.may_see(user).await?;
        let cluster = self.cluster(user, name).await?;
        let (from, unread) = typed(&wish.from);
        let known = self.known(user, &cluster, from).await?;
        let installer = self.installer(&cluster);
        let (wanted, wrong) = typed(&wish.to);
        let wrong_engine = self.wrong_engine(&cluster);
        let fits = wrong_engine.is_none();
        let mut refused = wrong_engine.or(unread).or(wrong);
        let settling = known.is_settling();
        let span = known.running.span.filter(|_| known.open().is_none() && !settling);
        let chosen = span.and_then(|span| match wanted {
            Some(to) => {
                let why = known.refuses(installer, span, to);
                let can = why.is_none();
                refused = refused.take().or_else(|| why.map(|why| format!("{to} can't be chosen. {why}")));
                can.then_some(to)
            }
            None if refused.is_none() => proposal(installer, span, known.unfinished()),
            None => None,
        });
        let versions = span.filter(|_| fits).map(|span| installer.choices(span, chosen)).unwrap_or_default();
        let newest = versions.first().map(|choice| choice.offered.version);
        let path = span.zip(newest).map(|(span, newest)| span.path(newest)).unwrap_or_default();
        let plan = match chosen.map(|to| self.upgrade_plan(user, name, &cluster, &known, to)) {
            // Variables that can't be changed by the button, for example. The rest of the page is as useful as before.
            Some(Err(Problem::Invalid { message, .. })) => {
                refused.get_or_insert(message);
                None
            }
            plan => plan.transpose()?,
        };
        let (last, nodes) = self.nodes_of(user, &known, chosen).await;
        Ok(Upgrade {
            running: known.running.words(),
            source: known.running.source,
            nodes,
            last,
            versions,
            none_newer: if fits { installer.none_newer() } else { String::new() },
            path: if path.len() > 1 { path } else { Vec::new() },
            plan,
            refused,
            probe_url: cluster.spec.probe_url.clone().unwrap_or_default(),
            live: known.reading.cluster.state,
            read: known.reading.cluster.read,
            now: moment::now(),
        })
    }

    fn upgrade_plan(
        &self,
        user: &User,
        name: &ClusterName,
        cluster: &Cluster,
        known: &Known,
        to: Version,
    ) -> Result<UpgradePlan, Problem> {
        known.has_control_plane()?;
        let installer = self.installer(cluster);
        let hosts = known.inputs.hosts.text();
        let before = known.inputs.vars.text();
        let (text, written) = variables_with(installer, &known.vars, before, to)?;
        let after = inventory::parse_vars(&text).unwrap_or_default();
        let review = self.review_with_inputs(user, &operation(name, &written)?, cluster, hosts, &text)?;
        let built_in = installer.engine == Engine::Kubeonkube;
        let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
        let (reading, running) = (&known.reading, &known.running);
        let mut all = warnings::of_cluster(reading, &known.members, &known.others, &known.vars, running, to);
        all.extend(warnings::of_version(&versions::describe(installer.engine, to), built_in, &today));
        Ok(UpgradePlan {
            to,
            continues: running.is_mixed() && running.span.is_some_and(|span| span.highest == to)
                || known.unfinished() == Some(to),
            consequences: consequences(installer.engine, &known.members, &known.vars, to),
            warnings: all,
            change: (text != before).then(|| ChangeReview {
                summary: inventory::diff::summary_of_vars(&known.vars, &after),
                lines: inventory::diff::lines(before, &text, 3),
                // The review of the operation has them.
                warnings: Vec::new(),
                version: known.inputs.vars.version(),
            }),
            operation: review,
        })
    }

    /// The newest upgrade, and the nodes: with their progress while it runs and after a failure, otherwise with what `to` means for them.
    async fn nodes_of(
        &self,
        user: &User,
        known: &Known,
        to: Option<Version>,
    ) -> (Option<LastUpgrade>, Vec<UpgradeNode>) {
        let last = known.last.as_deref().and_then(|last| Some((last, row(last, &self.shared.signing)?)));
        let Some((operation, row)) = last else { return (None, known.planned(to, None)) };
        let to_of_run = target(operation);
        let settling = known.is_settling();
        let shows_run = settling || (row.phase != Phase::Succeeded && row.phase != Phase::Restored);
        let progress = if shows_run { self.progress_of(user, &row.name, row.phase.is_final()).await } else { None };
        let note = if shows_run && progress.is_none() { UNKNOWN } else { "" };
        let watch = self.watch(user, operation, progress.as_ref()).await;
        let nodes = match progress {
            // The log of an old run may be gone.
            Some(progress) if row.phase.is_final() && progress.plays.is_empty() => {
                known.nodes(|member| known.unknown(member, to_of_run))
            }
            Some(mut progress) => {
                if row.phase.is_final() {
                    progress.end();
                }
                known.nodes(|member| known.in_run(step(&progress, row.phase, &member.name), member, to_of_run))
            }
            None if shows_run => known.nodes(|member| known.unknown(member, to_of_run)),
            None => known.planned(to, to_of_run),
        };
        (Some(LastUpgrade { row, to: to_of_run, watch, note: note.into(), settling }), nodes)
    }
}

impl Known {
    /// All nodes, each with its `step`.
    fn nodes(&self, step: impl Fn(&Member) -> Step) -> Vec<UpgradeNode> {
        let of_member = |member: &Member| {
            let Step { state, word, detail } = step(member);
            let version = member.live.as_ref().map(|node| node.version.clone()).unwrap_or_default();
            let (name, roles) = (member.name.clone(), member.roles.clone());
            UpgradeNode { name, roles, version, state, word: word.into(), detail }
        };
        let of_other = |node: &LiveNode| UpgradeNode {
            name: node.name.clone(),
            roles: node.roles.clone(),
            version: node.version.clone(),
            state: NodeState::Stopped,
            word: "Not in the inventory".into(),
            detail: "It is not upgraded.".into(),
        };
        self.members.iter().map(of_member).chain(self.others.iter().map(of_other)).collect()
    }

    /// What upgrading to `to` means for each node. `reached` is the version of the last upgrade, if it succeeded.
    fn planned(&self, to: Option<Version>, reached: Option<Version>) -> Vec<UpgradeNode> {
        let planes = self.members.iter().filter(|member| member.control_plane).count();
        // Without a control plane, no upgrade is possible.
        let to = to.filter(|_| planes > 0);
        let is_read = self.running.source == VersionSource::Cluster;
        self.nodes(|member| planned_step(member, planes, is_read, to, reached))
    }

    /// The step of a run, and what the cluster itself says.
    fn in_run(&self, step: Step, member: &Member, to: Option<Version>) -> Step {
        let has_it = member.live.as_ref().is_some_and(|node| to.is_some() && release(&node.version) == to);
        match step.state {
            NodeState::Waiting | NodeState::Stopped if has_it && step.word != "Stopped" => {
                Step::new(NodeState::Done, "Has it already", "")
            }
            _ => step,
        }
    }

    /// Without the events of the run.
    fn unknown(&self, member: &Member, to: Option<Version>) -> Step {
        self.in_run(Step::new(NodeState::Waiting, "Unknown", ""), member, to)
    }
}

/// What upgrading to `to` means for a node of a cluster with `planes` control planes. `is_read` says whether the cluster itself was read.
fn planned_step(member: &Member, planes: usize, is_read: bool, to: Option<Version>, reached: Option<Version>) -> Step {
    let away = match (member.control_plane, planes) {
        (true, 1) => "Drained. The Kubernetes API is away for a while.",
        (true, _) => "Drained. Its API server is away for a while.",
        (false, _) => "Drained.",
    };
    let version = member.live.as_ref().and_then(|node| release(&node.version));
    match &member.live {
        Some(node) if !node.ready => Step::new(NodeState::Failed, "Not ready", &node.note),
        Some(_) if to.is_some() && version == to => Step::new(NodeState::Done, "Has it already", ""),
        Some(_) if to.is_none() && reached.is_some() && version == reached => Step::new(NodeState::Done, "Done", ""),
        None if is_read => Step::new(NodeState::Failed, "Not in the cluster", ""),
        _ if to.is_none() => Step::new(NodeState::Waiting, "Stays as it is", ""),
        _ => Step::new(NodeState::Waiting, "Will be upgraded", away),
    }
}

/// A version as typed, and why it is none. Nothing for an empty field.
fn typed(text: &str) -> (Option<Version>, Option<String>) {
    match text.trim() {
        "" => (None, None),
        text => match text.parse() {
            Ok(version) => (Some(version), None),
            Err(api::cluster::VersionError) => {
                let shown: String = text.chars().take(40).collect();
                (None, Some(format!("“{shown}” is no version. {}", api::cluster::VersionError)))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_with_the_version_of_the_last_upgrade_is_done() {
        let [old, new] = ["1.36.4", "1.37.2"].map(|version| Some(version.parse().unwrap()));
        let live = LiveNode {
            name: "w1".into(),
            roles: Vec::new(),
            version: "v1.37.2".into(),
            ready: true,
            note: String::new(),
            address: String::new(),
            created: api::Time::default(),
        };
        let member = Member { live: Some(live), ..Member::default() };
        let word = |to, reached| planned_step(&member, 1, true, to, reached).word;
        assert_eq!(word(None, new), "Done");
        assert_eq!(word(new, new), "Has it already");
        assert_eq!(word(None, old), "Stays as it is");
        assert_eq!(word(None, None), "Stays as it is");
        assert_eq!(word(old, None), "Will be upgraded");
    }
}
