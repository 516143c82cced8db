//! Structural schemas of custom resources: pruning, defaults, validation and CEL rules.

mod cel;
mod prune;
mod validate;

use serde_json::Value;

pub(crate) use prune::{fill_defaults, lost, prune};

use crate::failure::Cause;
use crate::kind::Kind;

/// A schema, compiled once.
pub(crate) struct Rules {
    cel: cel::Compiled,
    patterns: validate::Patterns,
}

impl Rules {
    /// Fails with the reason when a pattern or a CEL rule doesn't compile.
    pub(crate) fn new(schema: &Value) -> Result<Self, String> {
        Ok(Self { cel: cel::Compiled::new(schema)?, patterns: validate::Patterns::new(schema)? })
    }

    /// Everything that is wrong with `object`; `old` is what it replaces.
    pub(crate) fn check(&self, kind: &Kind, schema: &Value, object: &Value, old: Option<&Value>) -> Vec<Cause> {
        let mut causes = Vec::new();
        self.patterns.check(schema, object, "", &mut causes);
        // CEL rules may rely on types: with wrong ones they would fail for the wrong reason.
        let blocking = |cause: &Cause| {
            matches!(cause.reason, "FieldValueRequired" | "FieldValueTypeInvalid" | "FieldValueNotSupported")
        };
        if !causes.iter().any(blocking) {
            self.cel.check(kind, object, old, &mut causes);
        } else if self.cel.any() {
            let why = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
            causes.push(Cause::invalid("<nil>", &Value::Null, why));
        }
        causes
    }
}
