//! Variables: of a host, of a group, or a file of them.

use serde_json::{Map, Value};

use crate::document;
use crate::invalid::{Invalid, Kind};
use crate::lookalike;

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
    let Some(value) = document::read(text)? else { return Ok(Vars::new()) };
    match &value {
        document::Value::Map(entries) => Ok(document::to_object(entries)),
        other => Err(Invalid::whole(Kind::NotAMapping { what: "a variables file".into(), found: other.kind() })),
    }
}

/// The value of a variable as text: a text as it is, anything else as JSON.
pub(crate) fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
