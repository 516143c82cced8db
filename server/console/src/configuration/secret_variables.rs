//! The secret variables of a cluster: their names are shown, values are only written (docs/adr/0016-secret-variables.md).

use api::Problem;
use api::configuration::{SecretVariableChange, SecretVariables};
use crd::{Cluster, DataRef};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client, ResourceExt};
use serde_json::json;

use crate::kube_problem::{Doing, answer, problem, timely};
use crate::made::{made, owns};

/// Form fields of the name and the value.
const NAME: &str = "variable";
const VALUE: &str = "secret_value";
/// Shorter values aren't masked in logs (`server/masking`): they would hide too much.
const SHORTEST_VALUE: usize = 4;
/// How often a reference is written if others change the Cluster at the same time.
const TRIES: usize = 5;
/// ansible has no limit; this keeps names readable.
const LONGEST_NAME: usize = 100;
/// Maximum size of a value, in bytes. The snapshot of an operation holds all inputs, and has about 1 MB.
const LARGEST_VALUE: usize = 64 * 1024;

/// The names of the secret variables. `names` are the cluster's hosts and groups.
pub(super) async fn read(client: Client, cluster: &Cluster, names: &[&str]) -> Result<SecretVariables, Problem> {
    let Some(at) = &cluster.spec.secret_vars_ref else {
        return Ok(SecretVariables { changeable: true, ..SecretVariables::default() });
    };
    let shown = SecretVariables { secret: Some(at.to_string()), ..SecretVariables::default() };
    let secret = match find(client, at).await {
        Ok(Some(secret)) => secret,
        Ok(None) => {
            let problem =
                Some(format!("Secret {at} doesn't exist, so no operation can run. The first variable creates it."));
            return Ok(SecretVariables { problem, changeable: true, ..shown });
        }
        // A user without this right still sees the other inputs.
        Err(Problem::Forbidden { message }) => return Ok(SecretVariables { problem: Some(message), ..shown }),
        Err(other) => return Err(other),
    };
    let problem = is_for_variables(&secret, at).err();
    let hint = |(name, value): (&String, &ByteString)| masking::hint(name, &String::from_utf8_lossy(&value.0), names);
    Ok(SecretVariables {
        hints: secret.data.iter().flatten().filter_map(hint).collect(),
        version: secret.resource_version().unwrap_or_default(),
        changeable: problem.is_none(),
        names: secret.data.iter().flatten().map(|(name, _)| name.clone()).collect(),
        foreign: !owns(cluster, &secret),
        problem,
        ..shown
    })
}

/// Sentences about names that ansible never reads. None if the user may not read the Secret.
pub(crate) async fn warnings(client: Client, cluster: &Cluster) -> Vec<String> {
    let Some(at) = &cluster.spec.secret_vars_ref else { return Vec::new() };
    let secret = find(client, at).await.ok().flatten();
    let names = secret.iter().flat_map(|secret| secret.data.iter().flatten().map(|(name, _)| name));
    // Without the value, which a warning could quote.
    let warnings = names.flat_map(|name| inventory::advice_on_variable(name, ""));
    warnings.map(|warning| format!("Secret variables: {warning}")).collect()
}

/// Sets or deletes one variable. Each can be repeated. Returns the version of the Secret.
pub(super) async fn change(
    client: Client,
    cluster: &Cluster,
    change: &SecretVariableChange,
) -> Result<String, Problem> {
    // The store may not show yet that an earlier variable has named the Secret.
    let cluster = &now(&client, cluster).await?;
    let (name, value) = match change {
        SecretVariableChange::Set { name, value } => (name.trim(), Some(checked(name.trim(), value)?)),
        SecretVariableChange::Delete { name } if name.trim().is_empty() => {
            return Err(Problem::field(NAME, "Choose the variable to delete."));
        }
        SecretVariableChange::Delete { name } => (name.trim(), None),
    };
    let at = match &cluster.spec.secret_vars_ref {
        Some(at) => at.clone(),
        None if cluster.spec.hosts_conf_ref.namespace.is_empty() => {
            let message = "This cluster has no inventory, so no operation would use the variable.".into();
            return Err(Problem::Invalid { message, fields: Vec::new() });
        }
        // Beside its other inputs.
        None => DataRef::new(&cluster.spec.hosts_conf_ref.namespace, crd::secret_vars_name(&cluster.name_any())),
    };
    let secrets: Api<Secret> = Api::namespaced(client.clone(), &at.namespace);
    let secret = match (find(client.clone(), &at).await?, value) {
        (Some(secret), value) => {
            is_for_variables(&secret, &at).map_err(|message| Problem::Invalid { message, fields: Vec::new() })?;
            if cluster.spec.secret_vars_ref.is_none() && !owns(cluster, &secret) {
                let message = format!(
                    "Secret {at} exists and doesn't belong to this cluster. To use it, set spec.secretVarsRef of the Cluster with kubectl."
                );
                return Err(Problem::Invalid { message, fields: Vec::new() });
            }
            // A merge patch changes only this key, and the version makes sure that it is the Secret whose type was checked.
            let version = secret.resource_version();
            let patch = json!({"metadata": {"resourceVersion": version}, "data": {name: value.map(bytes)}});
            let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
            answer(&Doing::new("save", "Secret", &at), secrets.patch(&at.name, &params, &patch)).await?
        }
        (None, Some(value)) => {
            let secret = Secret {
                metadata: made(cluster, &at.name),
                type_: Some(crd::SECRET_VARS_TYPE.into()),
                data: Some([(name.to_owned(), bytes(value))].into()),
                ..Secret::default()
            };
            let params = PostParams::default();
            answer(&Doing::new("create", "Secret", &at), secrets.create(&params, &secret)).await?
        }
        (None, None) => return Ok(String::new()),
    };
    if cluster.spec.secret_vars_ref.is_none() && value.is_some() {
        refer(&client, cluster, &at).await?;
    }
    Ok(secret.resource_version().unwrap_or_default())
}

/// Names the Secret in the Cluster, unless that names one already.
async fn refer(client: &Client, cluster: &Cluster, at: &DataRef) -> Result<(), Problem> {
    let clusters: Api<Cluster> = Api::all(client.clone());
    let name = cluster.name_any();
    let mut cluster = cluster.clone();
    for _ in 0..TRIES {
        let patch = json!({"metadata": {"resourceVersion": cluster.resource_version()}, "spec": {"secretVarsRef": at}});
        match timely(clusters.patch(&name, &PatchParams::default(), &Patch::Merge(patch))).await {
            // The controller writes the status of the same object.
            Err(kube::Error::Api(status)) if status.is_conflict() => cluster = now(client, &cluster).await?,
            written => {
                return written.map(drop).map_err(|error| problem(&Doing::new("save", "Cluster", &name), &error));
            }
        }
        if cluster.spec.secret_vars_ref.is_some() {
            return Ok(());
        }
    }
    let message =
        format!("Cluster {name} is changed all the time. The variable is saved, but not used yet: save it again.");
    Err(Problem::Unavailable { message })
}

async fn now(client: &Client, cluster: &Cluster) -> Result<Cluster, Problem> {
    let clusters: Api<Cluster> = Api::all(client.clone());
    let name = cluster.name_any();
    answer(&Doing::new("read", "Cluster", &name), clusters.get(&name)).await
}

async fn find(client: Client, at: &DataRef) -> Result<Option<Secret>, Problem> {
    let secrets: Api<Secret> = Api::namespaced(client, &at.namespace);
    answer(&Doing::new("read", "Secret", at), secrets.get_opt(&at.name)).await
}

fn is_for_variables(secret: &Secret, at: &DataRef) -> Result<(), String> {
    if secret.type_.as_deref() == Some(crd::SECRET_VARS_TYPE) {
        return Ok(());
    }
    Err(format!(
        "Secret {at} doesn't have the type {}, so runs don't use it. A type can't be changed: create another Secret with this type.",
        crd::SECRET_VARS_TYPE
    ))
}

/// The value to store.
fn checked<'v>(name: &str, value: &'v str) -> Result<&'v str, Problem> {
    if name.is_empty() {
        return Err(Problem::field(NAME, "Type the name of the variable, such as ansible_become_password."));
    }
    let unread = inventory::name_is_unread(name);
    if !crd::is_variable_name(name) || name.len() > LONGEST_NAME {
        let message = format!(
            "A name has letters, digits and “_”, doesn't start with a digit, and has at most {LONGEST_NAME} characters. {}",
            unread.unwrap_or_default()
        );
        return Err(Problem::field(NAME, message.trim_end()));
    }
    if let Some(why) = unread {
        return Err(Problem::field(NAME, format!("Ansible never reads a variable with this name. {why}")));
    }
    if value.is_empty() {
        return Err(Problem::field(VALUE, "Type the value. To remove a variable, delete it."));
    }
    if value.len() < SHORTEST_VALUE {
        let message = format!("A value needs at least {SHORTEST_VALUE} characters. Logs would show a shorter one.");
        return Err(Problem::field(VALUE, message));
    }
    if value.len() > LARGEST_VALUE {
        let message = format!("This has {} bytes; at most {LARGEST_VALUE} are allowed.", value.len());
        return Err(Problem::field(VALUE, message));
    }
    Ok(value)
}

fn bytes(value: &str) -> ByteString {
    ByteString(value.as_bytes().to_vec())
}
