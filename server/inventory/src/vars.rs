//! Variables: of a host, of a group, or a file of them.

use serde_json::{Map, Value};

use crate::document::{self, Key, at};
use crate::group_like;
use crate::ini;
use crate::invalid::{Invalid, Kind};
use crate::lookalike;
use crate::variable_warnings::{ENCRYPTED, VariableWarnings};

/// Variables, in their order in the file. A `!vault` value is its cipher text, which starts with `$ANSIBLE_VAULT`.
pub type Vars = Map<String, Value>;

/// Reads a variables file such as `group_vars.yml`. It must be a mapping, or empty.
///
/// # Errors
/// Text that isn't YAML or isn't a mapping, a duplicate key, and a text beyond [`crate::limits`].
pub fn parse_vars(text: &str) -> Result<Vars, Invalid> {
    lookalike::explained(text, vars_of)
}

fn vars_of(text: &str) -> Result<Vars, Invalid> {
    no_vault(text)?;
    let ini = || ini::header(text).map(|line| Invalid::at(line, 1, Kind::IniAsVars));
    let read = document::read(text).map_err(|why| match why.kind {
        Kind::NotYaml { .. } => ini().unwrap_or(why),
        _ => why,
    })?;
    let Some(value) = read else { return Ok(Vars::new()) };
    match &value {
        document::Value::Map(entries) => no_inventory(entries).map(|()| document::to_object(entries)),
        other => {
            let kind = Kind::NotAMapping { what: "a variables file".into(), found: other.kind() };
            Err(ini().unwrap_or_else(|| Invalid::whole(kind)))
        }
    }
}

/// A text that ansible-vault encrypted as a whole.
pub(crate) fn no_vault(text: &str) -> Result<(), Invalid> {
    let is_encrypted = text.trim_start_matches('\u{FEFF}').trim_start().starts_with(ENCRYPTED);
    if is_encrypted { Err(Invalid::whole(Kind::Encrypted)) } else { Ok(()) }
}

/// An inventory would be read as variables called `all` or `kube_node`, which no playbook has.
fn no_inventory(entries: &[(Key, document::Value)]) -> Result<(), Invalid> {
    group_like::group(entries).map_or(Ok(()), |key| Err(at(key, Kind::InventoryAsVars { group: key.value.clone() })))
}

/// What ansible will never read, or not as meant, and what needs more than a run has, in a variables file. Sentences with lines; none if the file is refused.
#[must_use]
pub fn advice_on_vars(text: &str) -> Vec<String> {
    let Ok(Some(document::Value::Map(entries))) = document::read(text) else { return Vec::new() };
    let mut warnings = VariableWarnings::default();
    warnings.note(&entries);
    let mut advice = warnings.sentences;
    advice.extend(lookalike::in_values(text));
    advice
}

/// The value of a variable as text: a text as it is, anything else as JSON.
pub(crate) fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
