//! Structural schemas of custom resources.
//!
//! Pruning removes unknown fields, then missing fields get their defaults, then the schema and its CEL rules
//! (`x-kubernetes-validations`) are checked. A violation is a [`Cause`] of a 422, in the API server's words.

mod cel;
mod prune;
mod validate;

use kube_cel::RootContext;
use serde_json::Value;

pub(crate) use prune::{fill_defaults, lost, prune};

use crate::cause::Cause;

/// The compiled rules of a schema.
pub(crate) struct Rules {
    cel: cel::Compiled,
    patterns: validate::Patterns,
}

impl Rules {
    /// `root` is the kind that CEL rules see. The error says which pattern or CEL rule doesn't compile.
    pub(crate) fn new(schema: &Value, root: RootContext) -> Result<Self, String> {
        Ok(Self { cel: cel::Compiled::new(schema, root)?, patterns: validate::Patterns::new(schema)? })
    }

    /// Every violation in `object`, which replaces `old`.
    pub(crate) fn check(&self, schema: &Value, object: &Value, old: Option<&Value>) -> Vec<Cause> {
        let mut causes = Vec::new();
        self.patterns.check(schema, object, "", &mut causes);
        // CEL rules rely on the types of the schema. On wrong types they fail for misleading reasons.
        let blocking = |cause: &Cause| {
            matches!(cause.reason, "FieldValueRequired" | "FieldValueTypeInvalid" | "FieldValueNotSupported")
        };
        if !causes.iter().any(blocking) {
            self.cel.check(object, old, &mut causes);
        } else if self.cel.any() {
            let why = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
            causes.push(Cause::new("FieldValueInvalid", "<nil>", format!("Invalid value: null: {why}")));
        }
        causes
    }
}
