//! `x-kubernetes-validations`.

use std::cell::OnceCell;

use kube_cel::{CompiledSchema, RootContext, Validator, compile_schema};
use serde_json::Value;

use crate::failure::Cause;
use crate::kind::Kind;

thread_local! {
    /// Registering the function library costs more than most rules; a validator can't be shared between threads.
    static VALIDATOR: OnceCell<Validator> = const { OnceCell::new() };
}

pub(super) struct Compiled {
    schema: CompiledSchema,
    any: bool,
}

impl Compiled {
    pub(super) fn new(schema: &Value) -> Result<Self, String> {
        let compiled = compile_schema(schema);
        let any = inspect(&compiled)?;
        Ok(Self { schema: compiled, any })
    }

    pub(super) fn any(&self) -> bool {
        self.any
    }

    /// Rules about `oldSelf` count only when there is an `old`.
    pub(super) fn check(&self, kind: &Kind, object: &Value, old: Option<&Value>, causes: &mut Vec<Cause>) {
        if !self.any {
            return;
        }
        let root =
            RootContext { api_version: kind.api_version(), api_group: kind.group.clone(), kind: kind.kind.clone() };
        let checked = VALIDATOR.with(|validator| {
            let validator = validator.get_or_init(Validator::new);
            validator.validate_compiled_with_context(&self.schema, object, old, Some(&root))
        });
        for error in checked.err().into_iter().flat_map(kube_cel::ValidationErrors::into_vec) {
            let field = error.field_path.trim_start_matches('.').to_owned();
            let at = object.pointer(&format!("/{}", field.replace('.', "/"))).unwrap_or(&Value::Null);
            let why = error.message.as_str();
            causes.push(match error.reason.as_deref() {
                Some("FieldValueForbidden") => Cause::forbidden(field, why),
                Some("FieldValueRequired") => Cause::required(field, why),
                Some("FieldValueDuplicate") => {
                    let message = format!("Duplicate value: {}", crate::failure::shown(at));
                    Cause { reason: "FieldValueDuplicate", field, message }
                }
                _ => Cause::invalid(field, at, why),
            });
        }
    }
}

/// Whether there is any rule; an error when one doesn't compile.
fn inspect(schema: &CompiledSchema) -> Result<bool, String> {
    if let Some(error) = schema.compilation_errors().first() {
        return Err(format!("a validation rule doesn't compile: {error}"));
    }
    let mut any = !schema.validations.is_empty();
    let children =
        schema.properties.values().chain(schema.items.as_deref()).chain(schema.additional_properties.as_deref());
    for child in children.chain(&schema.all_of).chain(&schema.any_of).chain(&schema.one_of) {
        any |= inspect(child)?;
    }
    Ok(any)
}
