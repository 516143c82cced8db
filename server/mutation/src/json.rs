//! Changes of JSON documents, which stay JSON.

use rand::Rng;
use serde_json::{Map, Value, json};

use crate::Mutator;

/// The deepest nesting that a change adds. serde_json reads at most 128.
const DEEP: usize = 140;

impl Mutator {
    /// `sample` with one to three changes, or unchanged in one of eight cases.
    pub fn json(&mut self, sample: &Value) -> Value {
        let mut value = sample.clone();
        if !self.one_in(8) {
            for _ in 0..=self.below(3) {
                let count = count(&value);
                let at = self.below(count);
                let donor = self.below(count);
                let donor = nth(&mut value, donor).map(|donor| donor.clone()).unwrap_or_default();
                if let Some(node) = nth(&mut value, at) {
                    self.change_node(node, donor);
                }
            }
        }
        value
    }

    fn change_node(&mut self, node: &mut Value, donor: Value) {
        match (self.below(10), node) {
            (0, node) => *node = donor,
            (2 | 3, Value::Object(map)) => {
                let name = self.word();
                map.insert(name, donor);
            }
            (4, Value::Object(map)) if !map.is_empty() => {
                let name = map.keys().nth(self.below(map.len())).cloned().unwrap_or_default();
                map.remove(&name);
            }
            (5, Value::Object(map)) if !map.is_empty() => {
                let name = map.keys().nth(self.below(map.len())).cloned().unwrap_or_default();
                let value = map.remove(&name).unwrap_or_default();
                map.insert(self.text(&name), value);
            }
            (2..=4, Value::Array(items)) => {
                let at = self.below(items.len() + 1);
                items.insert(at, donor);
            }
            (5, Value::Array(items)) if !items.is_empty() => drop(items.remove(self.below(items.len()))),
            (2..=8, Value::String(text)) => *text = self.text(text),
            (_, node) => *node = self.value(),
        }
    }

    /// A value of any type.
    pub fn value(&mut self) -> Value {
        match self.below(12) {
            0 => Value::Null,
            1 => json!(self.random.random::<bool>()),
            2 => self
                .pick(&[
                    json!(0),
                    json!(-1),
                    json!(i64::MAX),
                    json!(i64::MIN),
                    json!(u64::MAX),
                    json!(i64::from(i32::MAX) + 1),
                ])
                .clone(),
            3 => self.pick(&[json!(0.5), json!(-0.0), json!(1e308), json!(1e-308), json!(9007199254740993.0)]).clone(),
            4 => json!([]),
            5 => json!({}),
            6 => (0..self.below(DEEP)).fold(Value::Null, |inner, _| json!([inner])),
            7 => (0..self.below(DEEP)).fold(Value::Null, |inner, _| json!({"a": inner})),
            8 => Value::Array(vec![json!("a"); self.below(2000)]),
            9 => {
                let count = self.below(500);
                Value::Object((0..count).map(|number| (format!("k{number}"), json!("v"))).collect::<Map<_, _>>())
            }
            _ => Value::String(self.word()),
        }
    }
}

/// The number of values in `value`, itself included.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(map) => map.values().map(count).sum(),
        _ => 0,
    }
}

/// The n-th value in `value`, itself being the first.
fn nth(value: &mut Value, n: usize) -> Option<&mut Value> {
    if n == 0 {
        return Some(value);
    }
    let mut left = n - 1;
    let children: Box<dyn Iterator<Item = &mut Value>> = match value {
        Value::Array(items) => Box::new(items.iter_mut()),
        Value::Object(map) => Box::new(map.values_mut()),
        _ => return None,
    };
    for child in children {
        let size = count(child);
        if left < size {
            return nth(child, left);
        }
        left -= size;
    }
    None
}
