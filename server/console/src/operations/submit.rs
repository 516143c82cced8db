//! Reviewing and submitting.

use api::{
    FieldProblem, OperationName, Problem, User,
    operation::{NewOperation, OperationReview},
};
use crd::{ActionType, Cluster, ClusterOperation, ClusterOperationSpec};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, ResourceExt, api::PostParams, runtime::reflector::ObjectRef};
use operation::{Given, command, holds_variables, steps};

use super::{
    ahead,
    arguments::{Selection, selection},
    plan::{self, Draft},
    warnings::warnings,
};
use crate::{
    Console,
    configuration::Inputs,
    kube_problem::{Doing, answer, problem, timely},
    moment,
};

/// Everything that was found out about what is asked for.
pub(crate) struct Plan {
    pub(crate) draft: Draft,
    /// sha256 of the inputs as they are.
    pub(crate) inputs: String,
    commands: Vec<Vec<String>>,
    hosts: Vec<String>,
    warnings: Vec<String>,
}

/// `remove-node.yml` takes any host pattern and asks no question where it is answered beforehand: `node=all` would end the
/// cluster.
fn removed_are_hosts(draft: &Draft, inventory: &inventory::Inventory) -> Result<(), Problem> {
    if draft.playbook() != Some("remove-node.yml") {
        return Ok(());
    }
    let values = draft.arguments.iter().filter_map(|argument| argument.strip_prefix("node="));
    match values.flat_map(|names| names.split(',')).find(|name| inventory.host(name).is_none()) {
        Some(name) => {
            let name: String = name.chars().take(60).collect();
            let message = format!("“{name}” is no host of the inventory. Name hosts, not groups or patterns.");
            Err(Problem::field("nodes", message))
        }
        None => Ok(()),
    }
}

impl Console {
    /// Checks everything that submitting checks. Reads with the person's own client; writes nothing.
    async fn plan_operation(&self, user: &User, new: &NewOperation) -> Result<Plan, Problem> {
        let draft = plan::draft(new, self.shared.playbooks, &self.shared.image).map_err(several)?;
        self.may_see(user).await?;
        let cluster = self.cluster(user, &draft.cluster).await.map_err(|problem| match problem {
            Problem::NotFound { .. } => {
                Problem::field("cluster", format!("There is no cluster called {}.", draft.cluster))
            }
            other => other,
        })?;
        let inputs = Inputs::read(self.shared.access.client(user)?, &cluster).await?;
        self.check_source(user, &draft, &cluster).await?;
        let unusable = |what: &str, why: String| {
            let message = format!(
                "The {what} of {} can't be used. {why} Mend it on the cluster's Configuration tab.",
                draft.cluster
            );
            Problem::field("cluster", message)
        };
        let hosts = inputs.hosts.usable().map_err(|why| unusable("inventory", why))?;
        let vars = inputs.vars.usable().map_err(|why| unusable("variables file", why))?;
        let inventory = inventory::parse(hosts).map_err(|why| unusable("inventory", why.to_string()))?;
        let variables = inventory::parse_vars(vars).map_err(|why| unusable("variables file", why.to_string()))?;
        let selected = match draft.spec.action_type {
            ActionType::Playbook => selection(&draft.limit, &inventory).map_err(|why| Problem::field("limit", why))?,
            ActionType::Shell => Selection::Hosts(Vec::new()),
        };
        removed_are_hosts(&draft, &inventory)?;
        let run = steps(&draft.spec, &cluster.spec).map_err(|why| Problem::field("action", why.to_string()))?;
        let given = Given { variables: holds_variables(vars), key: cluster.spec.ssh_auth_ref.is_some() };
        Ok(Plan {
            inputs: crd::inputs_sha256(hosts, vars),
            commands: run.steps.iter().map(|step| command(step, given)).collect(),
            warnings: warnings(&draft, &cluster.spec, &inventory, &variables, &selected, self.shared.playbooks),
            hosts: match selected {
                Selection::Hosts(hosts) => hosts,
                Selection::Pattern => Vec::new(),
            },
            draft,
        })
    }

    pub(crate) async fn review_operation(&self, user: &User, new: &NewOperation) -> Result<OperationReview, Problem> {
        // A name that an earlier review made may have been used by a submission since.
        let plan = self.plan_operation(user, &NewOperation { made_name: String::new(), ..new.clone() }).await?;
        if let Some(name) = plan.draft.name.as_ref().filter(|name| self.is_taken(name)) {
            return Err(Problem::field("name", taken(name)));
        }
        let name = plan.draft.name.clone().unwrap_or_else(|| plan::made_name(&plan.draft.spec));
        let operation = plan::operation(&plan.draft, &name, &user.name, plan.inputs.clone());
        Ok(OperationReview {
            commands: plan.commands,
            hosts: plan.hosts,
            waits_for: ahead(&self.shared.operations.state(), plan.draft.cluster.as_str()).sentence(),
            warnings: plan.warnings,
            manifest: serde_saphyr::to_string(&operation).unwrap_or_default(),
            expected_inputs: plan.inputs,
            name,
        })
    }

    fn is_taken(&self, name: &OperationName) -> bool {
        self.shared.operations.get(&ObjectRef::new(name.as_str())).is_some()
    }

    /// The ConfigMap must be readable for the person, and hold the action: the controller reads it with rights of its own.
    async fn check_source(&self, user: &User, draft: &Draft, cluster: &Cluster) -> Result<(), Problem> {
        let Some(source) = &draft.source else { return Ok(()) };
        let namespace = &cluster.spec.hosts_conf_ref.namespace;
        if source.namespace != *namespace {
            let message =
                format!("It must be in namespace {namespace}, where the cluster's inputs are and its operations run.");
            return Err(Problem::field("source", message));
        }
        let maps: Api<ConfigMap> = Api::namespaced(self.shared.access.client(user)?, &source.namespace);
        let Some(map) = answer(&Doing::new("read", "ConfigMap", source), maps.get_opt(&source.name)).await? else {
            return Err(Problem::field("source", format!("There is no ConfigMap {source}.")));
        };
        let keys: Vec<_> = map.data.unwrap_or_default().into_keys().collect();
        if keys.contains(&draft.spec.action) {
            return Ok(());
        }
        let there = if keys.is_empty() { "It is empty.".to_owned() } else { format!("It has: {}.", keys.join(", ")) };
        Err(Problem::field(
            "action",
            format!(
                "ConfigMap {source} has no key “{}”. {there}",
                draft.spec.action.chars().take(60).collect::<String>()
            ),
        ))
    }

    pub(crate) async fn submit_operation(&self, user: &User, new: &NewOperation) -> Result<OperationName, Problem> {
        let plan = self.plan_operation(user, new).await?;
        let operations: Api<ClusterOperation> = Api::all(self.shared.access.client(user)?);
        // Before anything else is judged: a second press of the button finds what the first one made.
        if let Some(name) = &plan.draft.name
            && self.is_taken(name)
        {
            return self.submitted_already(&operations, user, &plan, name).await;
        }
        let confirmed = Some(new.expected_inputs.trim()).filter(|sha| !sha.is_empty());
        if confirmed.is_some_and(|sha| sha != plan.inputs) {
            let message = "The cluster's inventory or variables were changed since this was reviewed. Review it again.";
            return Err(Problem::field("expected_inputs", message));
        }
        for _ in 0..5 {
            let name = plan.draft.name.clone().unwrap_or_else(|| plan::made_name(&plan.draft.spec));
            let operation = plan::operation(&plan.draft, &name, &user.name, plan.inputs.clone());
            let doing = Doing::new("create", "ClusterOperation", &name);
            match timely(operations.create(&PostParams::default(), &operation)).await {
                Ok(_) => {
                    self.until_operation(name.as_str(), |found| found.is_some()).await;
                    return Ok(name);
                }
                Err(kube::Error::Api(status)) if status.is_already_exists() => {
                    if plan.draft.name.is_some() {
                        return self.submitted_already(&operations, user, &plan, &name).await;
                    }
                }
                Err(error) => return Err(problem(&doing, &error)),
            }
        }
        Err(Problem::Unavailable { message: "No free name was found for this operation. Give it a name.".into() })
    }

    /// There is an operation of this name: the very one that is asked for, submitted a moment ago by the same person, or
    /// another one.
    async fn submitted_already(
        &self,
        operations: &Api<ClusterOperation>,
        user: &User,
        plan: &Plan,
        name: &OperationName,
    ) -> Result<OperationName, Problem> {
        let doing = Doing::new("read", "ClusterOperation", name);
        let there = answer(&doing, operations.get_opt(name.as_str())).await?;
        let wanted = plan::operation(&plan.draft, name, &user.name, plan.inputs.clone());
        match there {
            Some(there) if is_same(&there, &wanted) && (!plan.draft.is_typed || is_fresh(&there)) => {
                self.until_operation(name.as_str(), |found| found.is_some()).await;
                Ok(name.clone())
            }
            _ => Err(Problem::field("name", taken(name))),
        }
    }
}

/// The same work, by the same person. A cancel may have been asked for since.
fn is_same(there: &ClusterOperation, wanted: &ClusterOperation) -> bool {
    let by = |operation: &ClusterOperation| operation.annotations().get(crd::ANNOTATION_SUBMITTED_BY).cloned();
    let spec = ClusterOperationSpec { cancel: wanted.spec.cancel, ..there.spec.clone() };
    spec == wanted.spec && by(there) == by(wanted)
}

/// A name that somebody typed may be wanted again later, for another run; a press of a button is repeated at once.
fn is_fresh(there: &ClusterOperation) -> bool {
    const AT_ONCE: i64 = 10 * 60 * 1000;
    let age = there.metadata.creation_timestamp.as_ref().map(|made| moment::now().0 - moment::of(made).0);
    age.is_some_and(|age| age < AT_ONCE)
}

fn taken(name: &OperationName) -> String {
    format!("There is an operation called {name} already. Choose another name, or leave this empty.")
}

pub(crate) fn several(problems: Vec<FieldProblem>) -> Problem {
    Problem::fields(problems).unwrap_or(Problem::Internal)
}
