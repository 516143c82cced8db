//! Converts the fields of an action's parameters to arguments, and back.

use std::collections::BTreeMap;

use api::FieldProblem;
use operation::{Action, Options, Parameter, Value};

/// The arguments for the fields of `action` on `cluster`, or the errors of the fields. `free` are the extra arguments that the
/// user typed; they may set a variable, too.
pub(super) fn arguments(
    action: &Action,
    cluster: &str,
    fields: &BTreeMap<String, String>,
    free: &[String],
) -> Result<Vec<String>, Vec<FieldProblem>> {
    let (mut arguments, mut problems) = (Vec::new(), Vec::new());
    for parameter in action.parameters {
        let typed = fields.get(parameter.field).map_or("", String::as_str);
        match confirmed(parameter, typed, cluster).and_then(|()| argument(parameter, typed, free)) {
            Ok(None) => {}
            Ok(Some(value)) => {
                let variables =
                    [(parameter.variable, value.as_str())].into_iter().chain(parameter.answers.iter().copied());
                arguments.extend(variables.flat_map(|(name, value)| ["-e".to_owned(), format!("{name}={value}")]));
            }
            Err(message) => problems.push(FieldProblem { field: parameter.field.into(), message }),
        }
    }
    if problems.is_empty() { Ok(arguments) } else { Err(problems) }
}

/// Whether a confirmation, if this is one and not empty, names the cluster.
fn confirmed(parameter: &Parameter, typed: &str, cluster: &str) -> Result<(), String> {
    match parameter.value {
        Value::Confirmation(_) if !["", cluster].contains(&typed.trim()) => {
            Err(format!("This isn't the cluster's name. Type {cluster} to confirm."))
        }
        _ => Ok(()),
    }
}

/// The value of a parameter; `None` if it is not set, or set by the extra arguments.
fn argument(parameter: &Parameter, typed: &str, free: &[String]) -> Result<Option<String>, String> {
    let value = value(parameter.value, typed);
    let is_free = !Options::read(free).unwrap_or_default().values_of(parameter.variable).is_empty();
    match (value, parameter.missing) {
        (None, Some(missing)) if !is_free => Err(missing.into()),
        (None, _) => Ok(None),
        (Some(_), _) if is_free && matches!(parameter.value, Value::Confirmation(_)) => Ok(None),
        (Some(_), _) if is_free => Err(format!(
            "The extra arguments also set {}=, which would override this field. Set it only once.",
            parameter.variable
        )),
        (Some(value), _) => is_valid(parameter.value, &value).map(|()| Some(value)),
    }
}

/// Converts the typed text to the value of the variable; `None` if it is empty.
fn value(kind: Value, typed: &str) -> Option<String> {
    let text = match kind {
        Value::Hosts => typed.split(',').map(str::trim).filter(|name| !name.is_empty()).collect::<Vec<_>>().join(","),
        Value::Version | Value::Path => typed.trim().to_owned(),
        Value::Confirmation(value) => if typed.trim().is_empty() { "" } else { value }.to_owned(),
    };
    Some(text).filter(|text| !text.is_empty())
}

fn is_valid(kind: Value, value: &str) -> Result<(), String> {
    match kind {
        // No space, for example, because ansible would read the rest as a second variable.
        Value::Hosts if !value.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ',')) => {
            Err("Write names of the inventory, separated by commas: worker3, worker4.".into())
        }
        Value::Version if !is_version(value) => Err("Write all three numbers, like 1.36.4.".into()),
        Value::Path if !is_path(value) => {
            Err("Write an absolute path of letters, digits and . - _ /, like /var/backups/etcd.db.".into())
        }
        _ => Ok(()),
    }
}

fn is_path(text: &str) -> bool {
    text.starts_with('/') && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '/'))
}

fn is_version(text: &str) -> bool {
    let numbers: Vec<&str> = text.strip_prefix('v').unwrap_or(text).split('.').collect();
    numbers.len() == 3 && numbers.iter().all(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()))
}

/// What happens to a variable of an earlier run when the form is filled in again.
pub(super) enum TakenBack<'a> {
    /// It is the value of this field.
    Field(&'static str, &'a str),
    /// It is dropped: it is a confirmation, which the user must repeat, or an answer that is added again.
    Dropped,
}

/// The field of `action` for `argument`, such as `kube_version=1.36.4`; `None` if the action has no such parameter.
pub(super) fn take_back<'a>(action: &Action, argument: &'a str) -> Option<TakenBack<'a>> {
    let (name, value) = argument.split_once('=')?;
    if action.parameters.iter().any(|p| p.answers.iter().any(|(answer, _)| *answer == name)) {
        return Some(TakenBack::Dropped);
    }
    let parameter = action.parameters.iter().find(|p| p.variable == name)?;
    Some(match parameter.value {
        Value::Confirmation(_) => TakenBack::Dropped,
        Value::Hosts | Value::Version | Value::Path => TakenBack::Field(parameter.field, value),
    })
}

#[cfg(test)]
mod tests {
    use operation::{ACTIONS, action};

    use super::*;

    /// The arguments for the cluster `lab`.
    fn asked(playbook: &str, fields: &[(&str, &str)], free: &[&str]) -> Result<String, String> {
        let fields = fields.iter().map(|(field, value)| ((*field).to_owned(), (*value).to_owned())).collect();
        let free: Vec<_> = free.iter().map(|line| (*line).to_owned()).collect();
        let made = arguments(action(ACTIONS, playbook).unwrap(), "lab", &fields, &free);
        made.map(|arguments| arguments.join(" ")).map_err(|problems| problems[0].field.clone())
    }

    #[test]
    fn only_the_fields_of_the_action_become_arguments() {
        let all = [("nodes", " w3,w4 , "), ("version", "1.36.4"), ("confirmed", "lab")];
        let made = |playbook| asked(playbook, &all, &["--check"]).unwrap();
        assert_eq!(made("remove-node.yml"), "-e node=w3,w4 -e skip_confirmation=true");
        assert_eq!(made("upgrade-cluster.yml"), "-e kube_version=1.36.4");
        assert_eq!(made("reset.yml"), "-e reset_confirmation=yes");
        assert_eq!(
            asked("etcd-restore.yml", &[("snapshot", " /b/etcd.db "), ("restored", " lab ")], &[]).unwrap(),
            "-e etcd_restore_file=/b/etcd.db -e etcd_restore_confirmation=yes"
        );
        assert_eq!(made("ping.yml"), "");
    }

    #[test]
    fn a_missing_or_invalid_value_is_refused_at_its_field() {
        let refused = |playbook, field: &str, value: &str, free: &[&str]| {
            assert_eq!(asked(playbook, &[(field, value)], free), Err(field.to_owned()), "{playbook} {value:?}");
        };
        refused("remove-node.yml", "nodes", " , ", &[]);
        refused("remove-node.yml", "nodes", "w3 force=true", &[]);
        refused("remove-node.yml", "nodes", "w3", &["-e", "node=w1"]);
        refused("upgrade-cluster.yml", "version", "1.34", &[]);
        refused("upgrade-cluster.yml", "version", "1.36.4", &["-e", "kube_version=1"]);
        refused("reset.yml", "confirmed", "", &[]);
        refused("reset.yml", "confirmed", "yes", &[]);
        refused("etcd-restore.yml", "snapshot", "etcd.db", &[]);
        refused("etcd-restore.yml", "snapshot", "/etcd.db x=y", &[]);
        assert_eq!(asked("remove-node.yml", &[("nodes", "")], &["-e", "node=w3"]), Ok(String::new()));
        assert_eq!(asked("reset.yml", &[], &["-e", "reset_confirmation=yes"]), Ok(String::new()));
    }
}
