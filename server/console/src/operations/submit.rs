//! Reviews and submits operations.

use api::configuration::Document;
use api::operation::{NewOperation, OperationReview};
use api::{FieldProblem, OperationName, Problem, User};
use crd::{ActionSource, ActionType, Cluster, ClusterOperation, ClusterOperationSpec, Engine};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::PostParams;
use kube::runtime::reflector::ObjectRef;
use kube::{Api, ResourceExt};
use masking::{hide_in_arguments, hide_in_script};
use operation::{Action, Given, Options, PlayHosts, Value, action, command, holds_variables, steps};

use super::detail::shown_arguments;
use super::limit::{Selection, machines, selection, with_plays};
use super::plan::{self, Wanted};
use super::queue::Ahead;
use super::usual::usual;
use super::warnings::{of_engine, of_inventory, warnings};
use super::{Catalogue, ahead, kubespray};
use crate::configuration::{Inputs, secret_variables_warnings};
use crate::documents::{read_inventory, read_variables};
use crate::kube_problem::{Doing, answer, problem, timely};
use crate::{Console, moment};

/// How many generated names are tried.
const TRIES: usize = 5;

/// A request that was checked with the cluster and its inputs.
struct Plan {
    spec: ClusterOperationSpec,
    /// The name that the user typed, or that an earlier review generated.
    name: Option<OperationName>,
    /// SHA-256 of the current inputs.
    inputs: String,
    commands: Vec<Vec<String>>,
    hosts: Vec<String>,
    warnings: Vec<String>,
}

/// Checks that variables with hosts name only hosts of the inventory. ansible accepts any pattern there, and the confirmation is
/// passed along, so `node=all` would remove the whole cluster.
fn named_are_hosts(wanted: &Wanted, catalogue: &Catalogue, inventory: &inventory::Inventory) -> Result<(), Problem> {
    let known = wanted.playbook().and_then(|playbook| action(catalogue.actions, playbook));
    let parameters = known.map(|action| action.parameters).unwrap_or_default();
    for parameter in parameters.iter().filter(|parameter| parameter.value == Value::Hosts) {
        let Some(options) = wanted.options.as_ref().ok().filter(|options| options.has_plain_variables()) else {
            let message = "Write each variable as -e and name=value, without quotes, brackets and files: it must be sure which nodes this is for.";
            return Err(Problem::field("extra_args", message));
        };
        let values = options.values_of(parameter.variable);
        if let Some(name) = values.iter().flat_map(|names| names.split(',')).find(|name| inventory.host(name).is_none())
        {
            let name: String = name.chars().take(60).collect();
            let message = format!("“{name}” is not a host of the inventory. Name hosts, not groups or patterns.");
            return Err(Problem::field(parameter.field, message));
        }
    }
    Ok(())
}

/// The machines that the limit of the form or of the extra arguments selects.
fn selected(new: &NewOperation, wanted: &Wanted, inventory: &inventory::Inventory) -> Result<Selection, Problem> {
    let Ok(options) = &wanted.options else { return Ok(Selection::Unknown) };
    let is_limited_twice = Options::read(&new.arguments).is_ok_and(|options| options.limit.is_some());
    if !new.limit.is_empty() && is_limited_twice {
        let message = "The extra arguments also have a limit, which would override this field. Set it only once.";
        return Err(Problem::field("limit", message));
    }
    if !options.inventories.is_empty() {
        return Ok(Selection::Unknown);
    }
    let field = if new.limit.is_empty() { "extra_args" } else { "limit" };
    selection(options.limit.as_deref().unwrap_or_default(), inventory).map_err(|why| Problem::field(field, why))
}

/// The action, if the run takes its playbook from the built-in engine.
fn built_in(wanted: &Wanted, engine: Engine) -> Option<&'static Action> {
    let is_ours = engine == Engine::Kubeonkube && wanted.spec.action_source == ActionSource::Builtin;
    wanted.action.filter(|action| is_ours && action.engines.contains(&engine))
}

/// The values of the parameter with hosts.
fn named(wanted: &Wanted) -> Vec<String> {
    let parameters = wanted.action.map(|action| action.parameters).unwrap_or_default();
    let Ok(options) = &wanted.options else { return Vec::new() };
    let with_hosts = parameters.iter().filter(|parameter| parameter.value == Value::Hosts);
    with_hosts.flat_map(|parameter| options.values_of(parameter.variable)).collect()
}

/// The manifest without secrets in arguments and scripts. Its first line says so if there are any.
fn shown_manifest(mut operation: ClusterOperation) -> String {
    let spec = ClusterOperationSpec {
        // A name of a playbook or of a key has no secrets. Hooks are names, too.
        action: hide_in_script(&operation.spec.action),
        extra_args: operation.spec.extra_args.as_deref().map(shown_arguments),
        ..operation.spec.clone()
    };
    let is_whole = spec == operation.spec;
    operation.spec = spec;
    let text = serde_saphyr::to_string(&operation).unwrap_or_default();
    if is_whole { text } else { format!("# Secrets are hidden here. The operation gets them.\n{text}") }
}

impl Console {
    /// The checks that review and submission share. Reads with the user's own client; writes nothing.
    async fn plan_operation(&self, user: &User, new: &NewOperation) -> Result<Plan, Problem> {
        let catalogue = self.catalogue();
        let wanted = plan::wanted(new, &catalogue, &self.shared.image).map_err(several)?;
        self.may_see(user).await?;
        let cluster = self.cluster(user, &new.cluster).await.map_err(|problem| match problem {
            Problem::NotFound { .. } => {
                Problem::field("cluster", format!("There is no cluster called {}.", new.cluster))
            }
            other => other,
        })?;
        let inputs = Inputs::read(self.shared.access.client(user)?, &cluster).await?;
        self.check_source(user, &wanted.spec, &cluster).await?;
        let unusable = |document: Document, why: String| unusable(new, document, &why);
        let hosts = inputs.hosts.usable().map_err(|why| unusable(Document::Inventory, why))?;
        let vars = inputs.vars.usable().map_err(|why| unusable(Document::Variables, why))?;
        let mut plan = self.planned(new, wanted, &cluster, hosts, vars)?;
        plan.warnings.extend(secret_variables_warnings(self.shared.access.client(user)?, &cluster).await);
        Ok(plan)
    }

    /// The plan of an operation with these inputs.
    fn planned(
        &self,
        new: &NewOperation,
        mut wanted: Wanted,
        cluster: &Cluster,
        hosts: &str,
        vars: &str,
    ) -> Result<Plan, Problem> {
        let catalogue = self.catalogue();
        let unusable = |document: Document, why: String| unusable(new, document, &why);
        let inventory = read_inventory(hosts).map_err(|why| unusable(Document::Inventory, why))?;
        let variables = read_variables(vars).map_err(|why| unusable(Document::Variables, why))?;
        let engine = self.engine(cluster.spec.engine, &wanted.spec.image);
        kubespray::with_defaults(&mut wanted, engine, &inventory, &variables);
        let selected = match wanted.spec.action_type {
            ActionType::Playbook => selected(new, &wanted, &inventory)?,
            ActionType::Shell => Selection::Hosts(Vec::new()),
        };
        named_are_hosts(&wanted, &catalogue, &inventory)?;
        self.refuse_playbooks_of_another_engine(cluster, &wanted)?;
        let wanted = kubespray::prepared(new, wanted, engine)?;
        let run = steps(&wanted.spec, &cluster.spec).map_err(|why| Problem::field("action", why.to_string()))?;
        let given = Given {
            variables: holds_variables(vars),
            secret_variables: cluster.spec.secret_vars_ref.is_some(),
            key: cluster.spec.ssh_auth_ref.is_some(),
        };
        let plays = built_in(&wanted, engine).map_or(PlayHosts::All, |action| action.hosts);
        let selected = with_plays(selected, plays, &named(&wanted), &inventory);
        let mut warnings = warnings(new, &wanted, &cluster.spec, &inventory, &variables, &selected, &catalogue);
        let is_outside = wanted.limit().is_some() && selected == Selection::Hosts(Vec::new());
        if let Some(playbook) = wanted.playbook().filter(|_| is_outside) {
            warnings
                .insert(0, format!("{playbook} has no tasks for these machines. Without a limit, it chooses its own."));
        }
        let touched = machines(selected, &run.steps, &inventory);
        warnings.extend(of_inventory(engine, &wanted, &inventory));
        warnings.extend(inventory::advice_on_vars(vars));
        warnings.extend(of_engine(engine, &wanted, &variables));
        Ok(Plan {
            inputs: crd::inputs_sha256(hosts, vars),
            commands: run.steps.iter().map(|step| hide_in_arguments(&command(step, given))).collect(),
            warnings,
            hosts: match touched {
                Selection::Hosts(hosts) => hosts,
                Selection::Unknown => Vec::new(),
            },
            name: new.name.clone().or_else(|| new.made_name.clone()),
            spec: wanted.spec,
        })
    }

    pub(crate) async fn review_operation(&self, user: &User, new: &NewOperation) -> Result<OperationReview, Problem> {
        // Generate a new name, because the one from an earlier review may be in use by now.
        let plan = self.plan_operation(user, &NewOperation { made_name: None, ..new.clone() }).await?;
        let queue = ahead(&self.shared.operations.state(), new.cluster.as_str());
        self.reviewed(user, plan, &queue)
    }

    /// The review of an operation on `cluster` with inputs that are not saved yet.
    pub(crate) fn review_with_inputs(
        &self,
        user: &User,
        new: &NewOperation,
        cluster: &Cluster,
        hosts: &str,
        vars: &str,
    ) -> Result<OperationReview, Problem> {
        let wanted = plan::wanted(new, &self.catalogue(), &self.shared.image).map_err(several)?;
        let mut plan = self.planned(new, wanted, cluster, hosts, vars)?;
        let queue = ahead(&self.shared.operations.state(), new.cluster.as_str());
        plan.warnings.extend(queue.outdated_by(&plan.inputs));
        self.reviewed(user, plan, &queue)
    }

    fn reviewed(&self, user: &User, plan: Plan, queue: &Ahead) -> Result<OperationReview, Problem> {
        if let Some(name) = plan.name.as_ref().filter(|name| self.is_taken(name)) {
            return Err(Problem::field("name", taken(name)));
        }
        let name = plan.name.clone().unwrap_or_else(|| plan::made_name(&plan.spec));
        let operation = plan::operation(&plan.spec, &name, &user.name, plan.inputs.clone());
        Ok(OperationReview {
            commands: plan.commands,
            hosts: plan.hosts,
            waits_for: queue.sentence(),
            warnings: plan.warnings,
            usual: usual(&operation, &self.shared.operations.state()),
            manifest: shown_manifest(operation),
            expected_inputs: plan.inputs,
            name,
        })
    }

    pub(crate) fn is_taken(&self, name: &OperationName) -> bool {
        self.shared.operations.get(&ObjectRef::new(name.as_str())).is_some()
    }

    /// Checks that the user may read the ConfigMap and that it contains the action. This must be checked here, because the
    /// controller reads the ConfigMap with its own rights.
    async fn check_source(&self, user: &User, spec: &ClusterOperationSpec, cluster: &Cluster) -> Result<(), Problem> {
        let Some(source) = &spec.action_source_ref else { return Ok(()) };
        let namespace = &cluster.spec.hosts_conf_ref.namespace;
        if source.namespace != *namespace {
            let message = format!("It must be in namespace {namespace}, where the cluster's operations run.");
            return Err(Problem::field("source", message));
        }
        let maps: Api<ConfigMap> = Api::namespaced(self.shared.access.client(user)?, &source.namespace);
        let Some(map) = answer(&Doing::new("read", "ConfigMap", source), maps.get_opt(&source.name)).await? else {
            return Err(Problem::field("source", format!("There is no ConfigMap {source}.")));
        };
        let keys: Vec<_> = map.data.unwrap_or_default().into_keys().collect();
        if keys.contains(&spec.action) {
            return Ok(());
        }
        let there = if keys.is_empty() { "It is empty.".to_owned() } else { format!("It has: {}.", keys.join(", ")) };
        Err(Problem::field(
            "action",
            format!("ConfigMap {source} has no key “{}”. {there}", spec.action.chars().take(60).collect::<String>()),
        ))
    }

    pub(crate) async fn submit_operation(&self, user: &User, new: &NewOperation) -> Result<OperationName, Problem> {
        let plan = self.plan_operation(user, new).await?;
        let operations: Api<ClusterOperation> = Api::all(self.shared.access.client(user)?);
        // Check this first: after a second click, the operation of the first click exists.
        if let Some(name) = &plan.name
            && self.is_taken(name)
        {
            return self.submitted_already(&operations, user, new, &plan, name).await;
        }
        if new.expected_inputs.as_ref().is_some_and(|sha| *sha != plan.inputs) {
            let message = "The cluster's inventory or variables were changed since this was reviewed. Review it again.";
            return Err(Problem::field("expected_inputs", message));
        }
        for _ in 0..TRIES {
            let name = plan.name.clone().unwrap_or_else(|| plan::made_name(&plan.spec));
            let operation = self.signed(plan::operation(&plan.spec, &name, &user.name, plan.inputs.clone()), user);
            let doing = Doing::new("create", "ClusterOperation", &name);
            match timely(operations.create(&PostParams::default(), &operation)).await {
                Ok(_) => {
                    self.until_operation(name.as_str(), |found| found.is_some()).await;
                    return Ok(name);
                }
                Err(kube::Error::Api(status)) if status.is_already_exists() => {
                    if plan.name.is_some() {
                        return self.submitted_already(&operations, user, new, &plan, &name).await;
                    }
                }
                Err(error) => return Err(problem(&doing, &error)),
            }
        }
        Err(Problem::Unavailable { message: "No free name was found for this operation. Give it a name.".into() })
    }

    /// Submits the operation that tests a new private key.
    pub(crate) async fn submit_key_test(
        &self,
        user: &User,
        spec: &ClusterOperationSpec,
        inputs: String,
    ) -> Result<OperationName, Problem> {
        let operations: Api<ClusterOperation> = Api::all(self.shared.access.client(user)?);
        let name = plan::random_name("key-test");
        let operation = self.signed(plan::operation(spec, &name, &user.name, inputs), user);
        let doing = Doing::new("create", "ClusterOperation", &name);
        answer(&doing, operations.create(&PostParams::default(), &operation)).await?;
        self.until_operation(name.as_str(), |found| found.is_some()).await;
        Ok(name)
    }

    /// The operation with a signature, which proves that the console wrote the name of the user.
    fn signed(&self, mut operation: ClusterOperation, user: &User) -> ClusterOperation {
        let now = crd::Time(jiff::Timestamp::now());
        if let Some(signer) = self.shared.signing.signer() {
            let signature = signer.sign_submitter(&operation, &user.name, &now);
            operation.annotations_mut().insert(crd::ANNOTATION_SUBMITTER_SIGNATURE.to_owned(), signature);
        }
        operation
    }

    /// An operation with this name exists. Succeeds if it comes from the same request by the same user, for example after a
    /// second click. A typed name must also have been submitted recently.
    async fn submitted_already(
        &self,
        operations: &Api<ClusterOperation>,
        user: &User,
        new: &NewOperation,
        plan: &Plan,
        name: &OperationName,
    ) -> Result<OperationName, Problem> {
        let doing = Doing::new("read", "ClusterOperation", name);
        let there = answer(&doing, operations.get_opt(name.as_str())).await?;
        let wanted = plan::operation(&plan.spec, name, &user.name, plan.inputs.clone());
        match there {
            Some(there) if is_same(&there, &wanted) && (new.name.is_none() || is_fresh(&there)) => {
                self.until_operation(name.as_str(), |found| found.is_some()).await;
                Ok(name.clone())
            }
            _ => Err(Problem::field("name", taken(name))),
        }
    }
}

/// Whether both have the same spec and user. `there` may have been cancelled in the meantime.
fn is_same(there: &ClusterOperation, wanted: &ClusterOperation) -> bool {
    let by = |operation: &ClusterOperation| operation.annotations().get(crd::ANNOTATION_SUBMITTED_BY).cloned();
    let spec = ClusterOperationSpec { cancel: wanted.spec.cancel, ..there.spec.clone() };
    spec == wanted.spec && by(there) == by(wanted)
}

/// Whether it was created in the last ten minutes. After that, the same typed name means a new run, not a second click.
fn is_fresh(there: &ClusterOperation) -> bool {
    const AT_ONCE: i64 = 10 * 60 * 1000;
    let age = there.metadata.creation_timestamp.as_ref().map(|made| moment::now().0 - moment::of(made).0);
    age.is_some_and(|age| age < AT_ONCE)
}

fn unusable(new: &NewOperation, document: Document, why: &str) -> Problem {
    let (what, correct_it) = (document.words(), document.correct_it());
    Problem::field("cluster", format!("The {what} of {} can't be used. {why} {correct_it}", new.cluster))
}

fn taken(name: &OperationName) -> String {
    format!("An operation called {name} already exists. Choose another name, or leave this empty.")
}

pub(crate) fn several(problems: Vec<FieldProblem>) -> Problem {
    Problem::fields(problems).unwrap_or(Problem::Internal)
}
