//! What one place in the text becomes for many hosts. `n[1:5000]: {note: …}` stands once in the text and five thousand times
//! in memory, so a text within every limit could take gigabytes.

use serde_json::Value as Json;

use crate::{invalid::Kind, limits, vars::Vars};

/// Bytes that a value takes beside its text, and is counted with: many small ones take memory, too.
const VALUE: usize = 16;

/// Bytes of all copies so far.
#[derive(Default)]
pub(super) struct Copies(usize);

impl Copies {
    /// Room for `vars` on `hosts` hosts; where they are written out once, they are no copy.
    pub(super) fn of_vars(&mut self, vars: &Vars, hosts: usize) -> Result<(), Kind> {
        let copies = hosts.saturating_sub(1);
        if copies == 0 { Ok(()) } else { self.add(object(vars).saturating_mul(copies)) }
    }

    /// Room for texts that a host has from its groups.
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

/// Recursion is bounded by the document's depth.
fn weight(value: &Json) -> usize {
    VALUE
        + match value {
            Json::String(text) => text.len(),
            Json::Array(items) => items.iter().map(weight).sum(),
            Json::Object(vars) => object(vars),
            Json::Null | Json::Bool(_) | Json::Number(_) => 0,
        }
}
