//! The limits on the size and the depth of objects and patches. They keep one request from filling the memory.
//!
//! A real API server has the same ones for sizes: its own limit on a request, and etcd's on an object. The depth and the number
//! of steps matter only here: the state file is read with a limited depth, and field ownership keeps the path of every leaf.

use std::fmt::Arguments;
use std::io::{self, Write};

use serde_json::Value;

use crate::failure::Failure;

/// Bytes of a request's body, and bytes that one JSON patch may copy or move.
pub(crate) const REQUEST: usize = 3 << 20;
/// Bytes of an object as JSON: etcd's limit on a request, 1.5 MiB.
pub(crate) const OBJECT: usize = 3 << 19;
/// Nested objects and lists. `serde_json` reads at most 127 back from the state file.
const DEPTH: usize = 100;
/// Steps of the paths to all leaves together. Each takes about 64 bytes while field ownership is computed.
const STEPS: usize = 1 << 20;

pub(crate) fn too_large(why: Arguments<'_>) -> Failure {
    Failure::new(413, "RequestEntityTooLarge", format!("Request entity too large: {why}"))
}

/// Refuses an object that would take much more memory than its text. Call this before anything else walks through the object.
pub(crate) fn check_shape(object: &Value) -> Result<(), Failure> {
    check_depth(object, 0)?;
    let mut left = STEPS;
    if spend_steps(object, 1, &mut left) {
        return Ok(());
    }
    Err(too_large(format_args!(
        "the paths to all fields of the object have more than {STEPS} steps; use fewer or less nested fields"
    )))
}

/// Refuses an object above [`OBJECT`]. One that is larger already, from an older version, may become smaller.
pub(crate) fn check_size(object: &Value, old: Option<&Value>) -> Result<(), Failure> {
    let size = size(object, usize::MAX).unwrap_or(usize::MAX);
    if size <= OBJECT || old.and_then(|old| self::size(old, usize::MAX)).is_some_and(|old| size <= old) {
        return Ok(());
    }
    Err(too_large(format_args!(
        "the object would have {size} bytes as JSON, the limit is {OBJECT}; split it into several objects"
    )))
}

/// Refuses a value that is nested too deeply if it is put below `above` other objects or lists.
pub(crate) fn check_depth(value: &Value, above: usize) -> Result<(), Failure> {
    if above < DEPTH && fits(value, DEPTH - above) {
        return Ok(());
    }
    Err(too_large(format_args!("objects and lists can be nested {DEPTH} levels deep; use a flatter object")))
}

/// Bytes of `value` as JSON. `None` if there are more than `most`: then the count stops early, and nothing is allocated.
pub(crate) fn size(value: &Value, most: usize) -> Option<usize> {
    let mut counter = Counter { bytes: 0, most };
    serde_json::to_writer(&mut counter, value).ok().map(|()| counter.bytes)
}

/// Whether `value` has at most `levels` nested objects and lists.
fn fits(value: &Value, levels: usize) -> bool {
    match value {
        Value::Object(_) | Value::Array(_) if levels == 0 => false,
        Value::Object(members) => members.values().all(|member| fits(member, levels - 1)),
        Value::Array(items) => items.iter().all(|item| fits(item, levels - 1)),
        _ => true,
    }
}

/// Takes the steps to the leaves of `value`, which is `depth` steps away from the root, from `left`. False if there are too many.
fn spend_steps(value: &Value, depth: usize, left: &mut usize) -> bool {
    match value {
        Value::Object(members) if !members.is_empty() => {
            members.values().all(|member| spend_steps(member, depth + 1, left))
        }
        Value::Array(items) if !items.is_empty() => items.iter().all(|item| spend_steps(item, depth + 1, left)),
        _ => left.checked_sub(depth).is_some_and(|rest| {
            *left = rest;
            true
        }),
    }
}

struct Counter {
    bytes: usize,
    most: usize,
}

impl Write for Counter {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.bytes += text.len();
        if self.bytes > self.most { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(text.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_size_is_counted_without_writing_the_text() {
        let value = json!({"a": ["ä\n", 1.5, null, {}]});
        assert_eq!(size(&value, 100), Some(value.to_string().len()));
        assert_eq!(size(&value, value.to_string().len() - 1), None);
    }

    #[test]
    fn an_object_above_the_limit_may_only_become_smaller() {
        let of = |bytes: usize| Value::from("x".repeat(bytes - 2));
        assert!(check_size(&of(OBJECT), None).is_ok());
        assert_eq!(check_size(&of(OBJECT + 1), None).unwrap_err().code, 413);
        assert!(check_size(&of(OBJECT + 1), Some(&of(OBJECT + 1))).is_ok());
        assert!(check_size(&of(OBJECT + 2), Some(&of(OBJECT + 1))).is_err());
    }

    #[test]
    fn deep_objects_and_long_paths_are_refused() {
        let around = |inner| [("a".to_owned(), inner)].into_iter().collect();
        let nested = |levels: usize, leaf: Value| (0..levels).fold(leaf, |inner, _| around(inner));
        assert!(check_shape(&nested(DEPTH, Value::Null)).is_ok());
        assert!(check_shape(&nested(DEPTH + 1, Value::Null)).is_err());
        let wide = |leaves: usize| Value::Array(vec![Value::Null; leaves]);
        assert!(check_shape(&nested(10, wide(50_000))).is_ok());
        assert!(check_shape(&nested(90, wide(50_000))).is_err());
    }
}
