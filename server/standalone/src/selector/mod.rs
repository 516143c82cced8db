//! Label and field selectors: which objects of a kind a list, a watch or a deletion is about.
//!
//! Label selectors have all operators of Kubernetes. Field selectors work on the fields that the API server offers for
//! the kind, and on the `selectableFields` of a custom one; any other field is a 400.

mod field;
mod label;

use serde_json::Value;

use crate::failure::Failure;
use crate::kind::Kind;

#[derive(Debug, Default)]
pub(crate) struct Selectors {
    labels: label::LabelSelector,
    fields: field::FieldSelector,
}

impl Selectors {
    pub(crate) fn parse(kind: &Kind, labels: &str, fields: &str) -> Result<Self, Failure> {
        Ok(Self { labels: label::LabelSelector::parse(labels)?, fields: field::FieldSelector::parse(kind, fields)? })
    }

    pub(crate) fn match_object(&self, kind: &Kind, object: &Value) -> bool {
        self.labels.matches(object) && self.fields.matches(kind, object)
    }
}
