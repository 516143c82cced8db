//! Reads the steps with their state.

use std::sync::Arc;

use api::backend::Configurations;
use api::cluster::{
    ConfirmedKeys, Creation, CreationPlan, CreationStage, LiveCluster, LiveState, MachineCheck, PlannedProblem,
};
use api::configuration::{Configuration, Document, DocumentText};
use api::operation::{Action, NewOperation, OperationRow, Phase};
use api::progress::RunProgress;
use api::{ClusterName, Problem, User};
use crd::{Cluster, ClusterOperation, Engine};
use futures::future::OptionFuture;
use inventory::{Inventory, Vars};
use kube::ResourceExt;
use operation::CREATE;

use super::plan::{of_kubespray, ours};
use super::results::{checked, failures};
use super::stage::{Runs, creatable, stage};
use crate::clusters::{EXISTING, kubeconfig_commands};
use crate::documents::{read_inventory, read_variables};
use crate::operations::{phase, row};
use crate::page::count;
use crate::{Console, host_keys, moment};

impl Console {
    pub(super) async fn creation(&self, user: &User, name: &ClusterName) -> Result<Creation, Problem> {
        self.may_see(user).await?;
        let cluster = self.cluster(user, name).await?;
        let inputs = Configurations::read(self, user, name).await?;
        let operations = self.shared.operations.state();
        let runs = Runs::of(&operations, name.as_str());
        let live = self.shared.managed.look(name.as_str()).cluster.clone();
        let stage = stage(runs, live.state);
        let hosts = usable(&inputs.inventory).and_then(read_inventory);
        let vars = usable(&inputs.variables).and_then(read_variables);
        let has_check = self.engine_of(&cluster) == Engine::Kubeonkube;
        let check = has_check.then(|| self.machine_check(user, runs, &inputs, hosts.as_ref().ok()));
        let check = OptionFuture::from(check);
        let (check, failed) = futures::join!(check, async {
            match runs.create.filter(|_| stage == CreationStage::Failed) {
                Some(create) => self.progress(user, create).await.map(|progress| {
                    let names = hosts.as_ref().ok().into_iter().flat_map(|hosts| &hosts.hosts);
                    failures(names.map(|host| host.name.as_str()), &progress)
                }),
                None => None,
            }
        });
        let host_keys = hosts.as_ref().ok().and_then(|hosts| confirmed(hosts, &inputs));
        let commands = self.lacks_kubeconfig_of_kubespray(&cluster, live.state).then(|| {
            let (no_hosts, no_vars) = (Inventory::default(), Vars::default());
            kubeconfig_commands(&cluster, hosts.as_ref().unwrap_or(&no_hosts), vars.as_ref().unwrap_or(&no_vars))
        });
        let plan = self.creation_plan(user, name, &cluster, &inputs, (hosts, vars), stage).await?;
        Ok(Creation {
            stage,
            public_key: inputs.ssh.public_key,
            host_keys,
            check,
            plan,
            run: runs.create.and_then(|create| self.row(create)),
            failures: failed.unwrap_or_default(),
            kubeconfig: self.kubeconfig_access(user, &cluster, live.state).await,
            live: LiveCluster { kubeconfig_commands: commands.unwrap_or_default(), ..live },
            now: moment::now(),
        })
    }

    fn row(&self, operation: &ClusterOperation) -> Option<OperationRow> {
        row(operation, &self.shared.signing)
    }

    /// The progress of a run; `None` if it can't be read now.
    async fn progress(&self, user: &User, operation: &ClusterOperation) -> Option<RunProgress> {
        let name = operation.name_any().parse().ok()?;
        let progress = self.progress_of(user, &name, phase(operation).is_final()).await?;
        (!progress.plays.is_empty()).then_some(progress)
    }

    async fn machine_check(
        &self,
        user: &User,
        runs: Runs<'_>,
        inputs: &Configuration,
        hosts: Option<&Inventory>,
    ) -> MachineCheck {
        let Some(check) = runs.check else { return MachineCheck::default() };
        let has_ended = phase(check).is_final();
        let progress = if has_ended { self.progress(user, check).await } else { None };
        let used = check.status.as_ref().and_then(|status| status.inputs.as_ref()).map(|inputs| &inputs.sha256);
        let now = crd::inputs_sha256(&inputs.inventory.text, &inputs.variables.text);
        let names = hosts.into_iter().flat_map(|hosts| &hosts.hosts).map(|host| host.name.as_str());
        MachineCheck {
            run: self.row(check),
            problem: match &progress {
                None if has_ended => "The results can't be read. Open the run, or check the machines again.".into(),
                _ => String::new(),
            },
            hosts: progress
                .map(|progress| checked(names, &progress, phase(check) == Phase::Succeeded))
                .unwrap_or_default(),
            outdated: used.is_some_and(|used| *used != now),
        }
    }

    async fn creation_plan(
        &self,
        user: &User,
        name: &ClusterName,
        cluster: &Cluster,
        inputs: &Configuration,
        documents: (Result<Inventory, String>, Result<Vars, String>),
        stage: CreationStage,
    ) -> Result<CreationPlan, Problem> {
        let unusable = |document: Document, why: &str| {
            Ok(CreationPlan {
                problems: vec![PlannedProblem {
                    message: format!("The {} can't be used. {why}", document.words()),
                    fix: Some(document),
                }],
                machines: Vec::new(),
                settings: Vec::new(),
                changes: Vec::new(),
                operation: None,
            })
        };
        let (hosts, vars) = match documents {
            (Err(why), _) => return unusable(Document::Inventory, &why),
            (_, Err(why)) => return unusable(Document::Variables, &why),
            (Ok(hosts), Ok(vars)) => (hosts, vars),
        };
        let is_ours = self.engine_of(cluster) == Engine::Kubeonkube;
        let planned = if is_ours { ours(&hosts, &vars) } else { of_kubespray(&hosts, &vars) };
        let new = NewOperation::new(name.clone(), Action::builtin(CREATE));
        let operation = self.review_with_inputs(user, &new, cluster, &inputs.inventory.text, &inputs.variables.text);
        let (operation, refused) = match operation {
            Ok(review) => (Some(review), None),
            Err(why) => {
                // No document of the cluster corrects its engine.
                let fix = self.wrong_engine(cluster).is_none().then_some(Document::Inventory);
                (None, Some(PlannedProblem { message: why.to_string(), fix }))
            }
        };
        let mut plan = CreationPlan {
            problems: refused.into_iter().chain(planned.problems).collect(),
            machines: planned.machines,
            settings: planned.settings,
            changes: planned.changes,
            operation,
        };
        if matches!(stage, CreationStage::Planned | CreationStage::Failed) {
            self.compare_plan(user, name, (&hosts, &vars), &mut plan).await?;
        }
        Ok(plan)
    }

    /// Adds machines that other clusters have as a problem, and clusters that could not be compared as a warning.
    async fn compare_plan(
        &self,
        user: &User,
        name: &ClusterName,
        (hosts, vars): (&Inventory, &Vars),
        plan: &mut CreationPlan,
    ) -> Result<(), Problem> {
        let names: Vec<String> = hosts.hosts.iter().map(|host| host.name.clone()).collect();
        let others = self.compare_machines(user, name.as_str(), (hosts, vars), &names).await?;
        let refused = others.refusal().map(|message| PlannedProblem { message, fix: Some(Document::Inventory) });
        plan.problems.extend(refused);
        if let Some(operation) = &mut plan.operation {
            operation.warnings.extend(others.incomplete());
        }
        Ok(())
    }
}

/// Whether the pages of a cluster offer to create it. `operations` are those of all clusters.
pub(crate) fn is_creatable(cluster: &Cluster, operations: &[Arc<ClusterOperation>], live: LiveState) -> bool {
    let is_existing = cluster.annotations().contains_key(EXISTING);
    !is_existing && creatable(Runs::of(operations, &cluster.name_any()), live)
}

/// The text of an input. The error is a sentence that says why there is none.
fn usable(input: &DocumentText) -> Result<&str, String> {
    input.problem.clone().map_or(Ok(input.text.as_str()), Err)
}

/// Which machines have a confirmed host key; `None` if no machine is reached over SSH.
fn confirmed(hosts: &Inventory, inputs: &Configuration) -> Option<ConfirmedKeys> {
    let vars = inventory::parse_vars(&inputs.variables.text).unwrap_or_default();
    let keys = inputs.ssh.host_keys.as_ref().map(|keys| &keys.document);
    let (machines, missing) = host_keys::missing(hosts, &vars, keys.map_or("", |keys| &keys.text));
    let problem = match keys {
        None => Some("You don't have permission to read the confirmed host keys.".into()),
        Some(keys) => keys.problem.clone(),
    };
    (machines > 0).then(|| ConfirmedKeys { machines: count(machines), missing, problem })
}
