//! Which objects a list or watch is about.

mod field;
mod label;

use serde_json::Value;

pub(crate) use field::FieldSelector;
pub(crate) use label::LabelSelector;

use crate::kind::Kind;

#[derive(Debug, Default)]
pub(crate) struct Selectors {
    pub(crate) labels: LabelSelector,
    pub(crate) fields: FieldSelector,
}

impl Selectors {
    pub(crate) fn match_object(&self, kind: &Kind, object: &Value) -> bool {
        self.labels.matches(object) && self.fields.matches(kind, object)
    }
}
