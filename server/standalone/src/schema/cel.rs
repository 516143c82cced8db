//! CEL rules: `x-kubernetes-validations`.

use std::cell::OnceCell;

use kube_cel::{CompiledSchema, RootContext, Validator, compile_schema};
use serde_json::Value;

use crate::cause::{Cause, shown};

thread_local! {
    /// One per thread, because a validator can't be shared. Registering its functions costs more than most rules do.
    static VALIDATOR: OnceCell<Validator> = const { OnceCell::new() };
}

pub(super) struct Compiled {
    schema: CompiledSchema,
    root: RootContext,
    any: bool,
}

impl Compiled {
    pub(super) fn new(schema: &Value, root: RootContext) -> Result<Self, String> {
        let compiled = compile_schema(schema);
        let any = inspect(&compiled)?;
        Ok(Self { schema: compiled, root, any })
    }

    /// Whether the schema has any rule.
    pub(super) fn any(&self) -> bool {
        self.any
    }

    /// Rules that use `oldSelf` are skipped if there is no `old`.
    pub(super) fn check(&self, object: &Value, old: Option<&Value>, causes: &mut Vec<Cause>) {
        if !self.any {
            return;
        }
        let checked = VALIDATOR.with(|validator| {
            let validator = validator.get_or_init(Validator::new);
            validator.validate_compiled_with_context(&self.schema, object, old, Some(&self.root))
        });
        for error in checked.err().into_iter().flat_map(kube_cel::ValidationErrors::into_vec) {
            let field = error.field_path.trim_start_matches('.').to_owned();
            let at = object.pointer(&format!("/{}", field.replace('.', "/"))).unwrap_or(&Value::Null);
            let why = error.message.as_str();
            // Since Kubernetes 1.36, messages leave out objects and lists.
            let omitted = at.is_object() || at.is_array();
            causes.push(match error.reason.as_deref() {
                Some("FieldValueForbidden") => Cause::forbidden(field, why),
                Some("FieldValueRequired") => Cause::required(field, why),
                Some("FieldValueDuplicate") if omitted => Cause::new("FieldValueDuplicate", field, "Duplicate value"),
                Some("FieldValueDuplicate") => Cause::duplicate(field, &shown(at)),
                _ if omitted => Cause::new("FieldValueInvalid", field, format!("Invalid value: {why}")),
                _ => Cause::invalid(field, at, why),
            });
        }
    }
}

/// Whether the schema has any rule, or which one doesn't compile.
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
