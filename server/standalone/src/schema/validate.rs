//! OpenAPI validation with the API server's messages.

use std::collections::HashMap;

use regex::Regex;
use serde_json::Value;

use super::prune::{child, flag};
use crate::cause::Cause;

/// The compiled `pattern`s of a schema.
pub(super) struct Patterns(HashMap<String, Regex>);

impl Patterns {
    pub(super) fn new(schema: &Value) -> Result<Self, String> {
        let mut patterns = HashMap::new();
        gather(schema, &mut patterns)?;
        Ok(Self(patterns))
    }

    /// Adds a cause for each violation of `schema` in `value`.
    pub(super) fn check(&self, schema: &Value, value: &Value, path: &str, causes: &mut Vec<Cause>) {
        if value.is_null() && flag(schema, "nullable") {
            return;
        }
        if !type_fits(schema, value) {
            let wanted = schema.get("type").and_then(Value::as_str).unwrap_or("integer or string");
            let found = type_of(value);
            let message = format!("Invalid value: \"{found}\": {path} in body must be of type {wanted}: \"{found}\"");
            causes.push(Cause::new("FieldValueTypeInvalid", path, message));
            return;
        }
        if let Some(Value::Array(allowed)) = schema.get("enum")
            && !allowed.contains(value)
        {
            let list: Vec<String> = allowed.iter().map(Value::to_string).collect();
            causes.push(Cause::not_supported(path, value, &list.join(", ")));
        }
        match value {
            Value::Object(_) => self.object(schema, value, path, causes),
            Value::Array(items) => self.array(schema, items, path, causes),
            Value::String(text) => self.string(schema, text, path, causes),
            Value::Number(_) => number(schema, value, path, causes),
            _ => {}
        }
        self.combinations(schema, value, path, causes);
    }

    fn object(&self, schema: &Value, value: &Value, path: &str, causes: &mut Vec<Cause>) {
        let Value::Object(map) = value else { return };
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        for name in required.filter(|name| !map.contains_key(*name)) {
            causes.push(Cause::required(child(path, name), ""));
        }
        bounds(schema, ("minProperties", "maxProperties"), map.len(), "properties", value, path, causes);
        let properties = schema.get("properties").and_then(Value::as_object);
        let additional = schema.get("additionalProperties").filter(|schema| schema.is_object());
        for (name, member) in map {
            if let Some(schema) = properties.and_then(|all| all.get(name)).or(additional) {
                self.check(schema, member, &child(path, name), causes);
            }
        }
    }

    fn array(&self, schema: &Value, items: &[Value], path: &str, causes: &mut Vec<Cause>) {
        bounds(schema, ("minItems", "maxItems"), items.len(), "items", &Value::Array(Vec::new()), path, causes);
        let keys: Option<Vec<&str>> = match schema.get("x-kubernetes-list-type").and_then(Value::as_str) {
            Some("set") => Some(Vec::new()),
            Some("map") => schema
                .get("x-kubernetes-list-map-keys")
                .and_then(Value::as_array)
                .map(|keys| keys.iter().filter_map(Value::as_str).collect()),
            _ if flag(schema, "uniqueItems") => Some(Vec::new()),
            _ => None,
        };
        let identity = |item: &Value| match keys.as_deref() {
            None | Some([]) => item.clone(),
            Some(names) => {
                names.iter().map(|name| ((*name).to_owned(), item.get(name).cloned().unwrap_or_default())).collect()
            }
        };
        for (index, item) in items.iter().enumerate() {
            let here = format!("{path}[{index}]");
            if keys.is_some() {
                let own = identity(item);
                if items[..index].iter().any(|earlier| identity(earlier) == own) {
                    causes.push(Cause::duplicate(here.clone(), &own));
                }
            }
            if let Some(schema) = schema.get("items") {
                self.check(schema, item, &here, causes);
            }
        }
    }

    fn string(&self, schema: &Value, text: &str, path: &str, causes: &mut Vec<Cause>) {
        let value = Value::from(text);
        let length = text.chars().count();
        if let Some(least) = size(schema, "minLength").filter(|least| length < *least) {
            let why = format!("{path} in body should be at least {least} chars long");
            causes.push(Cause::invalid(path, &value, &why));
        }
        if let Some(most) = size(schema, "maxLength").filter(|most| length > *most) {
            causes.push(Cause::too_long(path, most));
        }
        if let Some(pattern) = schema.get("pattern").and_then(Value::as_str)
            && self.0.get(pattern).is_some_and(|regex| !regex.is_match(text))
        {
            let why = format!("{path} in body should match '{pattern}'");
            causes.push(Cause::invalid(path, &value, &why));
        }
        if schema.get("format").is_some_and(|format| format == "date-time") && text.parse::<jiff::Timestamp>().is_err()
        {
            let why = format!("{path} in body must be of type date-time: {value}");
            causes.push(Cause::invalid(path, &value, &why));
        }
    }

    fn combinations(&self, schema: &Value, value: &Value, path: &str, causes: &mut Vec<Cause>) {
        let branches = |name: &str| schema.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let passes = |schema: &Value| {
            let mut inner = Vec::new();
            self.check(schema, value, path, &mut inner);
            inner.is_empty()
        };
        for branch in branches("allOf") {
            self.check(branch, value, path, causes);
        }
        let mut refuse = |why| causes.push(Cause::invalid(path, value, &format!("{path} in body must {why}")));
        let any = branches("anyOf");
        if !any.is_empty() && !any.iter().any(passes) {
            refuse("validate at least one schema (anyOf)");
        }
        let one = branches("oneOf");
        if !one.is_empty() && one.iter().filter(|branch| passes(branch)).count() != 1 {
            refuse("validate one and only one schema (oneOf)");
        }
        if schema.get("not").is_some_and(passes) {
            refuse("not validate the schema (not)");
        }
    }
}

fn gather(schema: &Value, patterns: &mut HashMap<String, Regex>) -> Result<(), String> {
    match schema {
        Value::Object(map) => {
            if let Some(Value::String(pattern)) = map.get("pattern") {
                let compiled = Regex::new(pattern).map_err(|error| format!("pattern {pattern}: {error}"))?;
                patterns.insert(pattern.clone(), compiled);
            }
            map.values().try_for_each(|inner| gather(inner, patterns))
        }
        Value::Array(items) => items.iter().try_for_each(|inner| gather(inner, patterns)),
        _ => Ok(()),
    }
}

fn type_fits(schema: &Value, value: &Value) -> bool {
    if flag(schema, "x-kubernetes-int-or-string") {
        return value.is_string() || value.is_i64() || value.is_u64();
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("number") => value.is_number(),
        Some("integer") => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => true,
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn size(schema: &Value, name: &str) -> Option<usize> {
    schema.get(name).and_then(Value::as_u64).and_then(|size| usize::try_from(size).ok())
}

fn bounds(
    schema: &Value,
    (least, most): (&str, &str),
    count: usize,
    what: &str,
    value: &Value,
    path: &str,
    causes: &mut Vec<Cause>,
) {
    if let Some(least) = size(schema, least).filter(|least| count < *least) {
        causes.push(Cause::invalid(path, value, &format!("{path} in body should have at least {least} {what}")));
    }
    if let Some(most) = size(schema, most).filter(|most| count > *most) {
        let message = format!("Too many: {count}: must have at most {most} items");
        causes.push(Cause::new("FieldValueTooMany", path, message));
    }
}

fn number(schema: &Value, value: &Value, path: &str, causes: &mut Vec<Cause>) {
    let Some(number) = value.as_f64() else { return };
    let mut refuse = |why: String| causes.push(Cause::invalid(path, value, &format!("{path} in body should be {why}")));
    if let Some(most) = schema.get("maximum").and_then(Value::as_f64) {
        let exclusive = flag(schema, "exclusiveMaximum");
        if number > most || (exclusive && number >= most) {
            refuse(format!("less than {}{most}", if exclusive { "" } else { "or equal to " }));
        }
    }
    if let Some(least) = schema.get("minimum").and_then(Value::as_f64) {
        let exclusive = flag(schema, "exclusiveMinimum");
        if number < least || (exclusive && number <= least) {
            refuse(format!("greater than {}{least}", if exclusive { "" } else { "or equal to " }));
        }
    }
    if let Some(step) = schema.get("multipleOf").and_then(Value::as_f64).filter(|step| *step != 0.0)
        && (number / step).fract() != 0.0
    {
        refuse(format!("a multiple of {step}"));
    }
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let fits = match format {
        "int32" => value.as_i64().is_some_and(|number| i32::try_from(number).is_ok()),
        "int64" => value.is_i64(),
        _ => true,
    };
    if !fits && schema.get("type").is_some_and(|wanted| wanted == "integer") && number.fract() == 0.0 {
        refuse(format!("of type integer with format {format}"));
    }
}
