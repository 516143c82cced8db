//! Variables: of a host, of a group, or a file of them.

use serde_json::{Map, Value};

use crate::{
    document,
    invalid::{Invalid, Kind},
};

/// Variables in the order they were written. A `!vault` value is its cipher text (it begins with `$ANSIBLE_VAULT`).
pub type Vars = Map<String, Value>;

/// Reads a variables file such as `group_vars.yml`: a mapping at the top, or nothing at all.
///
/// # Errors
/// Not YAML, not a mapping, a name that stands twice, or beyond [`crate::limits`].
pub fn parse_vars(text: &str) -> Result<Vars, Invalid> {
    let Some(value) = document::read(text)? else { return Ok(Vars::new()) };
    match &value {
        document::Value::Map(entries) => Ok(document::to_object(entries)),
        other => Err(Invalid::whole(Kind::NotAMapping { what: "a variables file".into(), found: other.kind() })),
    }
}

/// A variable's value as a short text: texts as they are, everything else as JSON.
pub(crate) fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
