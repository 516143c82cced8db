//! Limits the copies of variables that apply to many hosts. `n[1:5000]: {note: …}` is in the text once but in memory five
//! thousand times, so a text within all other limits could take gigabytes.

use serde_json::Value as Json;

use crate::invalid::Kind;
use crate::limits;
use crate::vars::Vars;

/// Bytes counted for each value in addition to its text, because many small values take memory too.
const VALUE: usize = 16;

/// The bytes of all copies so far.
#[derive(Default)]
pub(super) struct Copies(usize);

impl Copies {
    /// Counts `vars` for so many hosts. For the first host they are no copy.
    pub(super) fn of_vars(&mut self, vars: &Vars, hosts: usize) -> Result<(), Kind> {
        let copies = hosts.saturating_sub(1);
        if copies == 0 { Ok(()) } else { self.add(object(vars).saturating_mul(copies)) }
    }

    /// Counts texts that a host gets from its groups.
    pub(super) fn of_texts<'t>(&mut self, texts: impl IntoIterator<Item = &'t Option<String>>) -> Result<(), Kind> {
        self.add(texts.into_iter().flatten().map(String::len).sum())
    }

    fn add(&mut self, bytes: usize) -> Result<(), Kind> {
        self.0 = self.0.saturating_add(bytes);
        if self.0 > limits::COPIED_BYTES { Err(Kind::TooManyCopies) } else { Ok(()) }
    }
}

fn object(vars: &Vars) -> usize {
    vars.iter().map(|(name, value)| name.len() + weight(value)).sum()
}

/// The limit of the document's depth also limits this recursion.
fn weight(value: &Json) -> usize {
    VALUE
        + match value {
            Json::String(text) => text.len(),
            Json::Array(items) => items.iter().map(weight).sum(),
            Json::Object(vars) => object(vars),
            Json::Null | Json::Bool(_) | Json::Number(_) => 0,
        }
}
