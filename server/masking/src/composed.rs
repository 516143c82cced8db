//! Secrets that templates compose of several texts: `password: "pre{{ part }}post"`. The parts alone needn't be secret.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use regex::Regex;

use crate::pattern::pattern;
use crate::reference::path;

/// A template with an expression.
static EXPRESSION: LazyLock<Regex> = LazyLock::new(|| pattern(r"\{\{[^{}]*\}\}"));

/// How many values of one variable are tried. Each host may have its own.
const MOST_VALUES: usize = 8;
/// How many results one template may have, and how long each may be.
const MOST_RESULTS: usize = 16;
const LONGEST_RESULT: usize = 4096;
/// How many expressions are filled in for one result.
const DEEPEST: usize = 8;

/// The scalars of documents by their names.
pub(crate) struct Parts<'d>(HashMap<&'d str, BTreeSet<&'d str>>);

impl<'d> Parts<'d> {
    pub(crate) fn of(scalars: impl Iterator<Item = (&'d str, &'d str)>) -> Self {
        let mut parts: HashMap<_, BTreeSet<_>> = HashMap::new();
        for (name, value) in scalars.filter(|(_, value)| value.len() <= LONGEST_RESULT) {
            let values = parts.entry(name).or_default();
            if values.len() < MOST_VALUES {
                values.insert(value);
            }
        }
        Self(parts)
    }

    /// What a text with templates becomes. Empty if it has none, or one that isn't known.
    pub(crate) fn composed(&self, text: &str) -> BTreeSet<String> {
        if !text.contains("{{") || text.len() > LONGEST_RESULT {
            return BTreeSet::new();
        }
        let (mut open, mut results) = (BTreeSet::from([text.to_owned()]), BTreeSet::new());
        for _ in 0..=DEEPEST {
            let (with, without): (BTreeSet<_>, BTreeSet<_>) = open.into_iter().partition(|text| text.contains("{{"));
            results.extend(without);
            open = with.iter().flat_map(|text| self.filled_in(text)).take(MOST_RESULTS).collect();
        }
        results
    }

    /// The text with each value of its first expression. The same expression has the same value everywhere.
    fn filled_in(&self, text: &str) -> Vec<String> {
        let Some(found) = EXPRESSION.find(text) else { return Vec::new() };
        let name = path(found.as_str()).and_then(|path| path.last().cloned());
        let values = name.and_then(|name| self.0.get(name.as_str())).into_iter().flatten();
        values.map(|value| text.replace(found.as_str(), value)).filter(|text| text.len() <= LONGEST_RESULT).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled_in_within_limits() {
        let many: Vec<_> = (0..100).map(|n| format!("{n}")).collect();
        let scalars = many.iter().map(|value| ("n", value.as_str()));
        let scalars = scalars.chain([("a", "x{{ b }}"), ("b", "y"), ("loop", "{{ loop }}{{ loop }}")]);
        let parts = Parts::of(scalars);
        let composed = |text| parts.composed(text).into_iter().collect::<Vec<_>>();
        assert_eq!(composed("1{{ a | trim }}2{{ b }}"), ["1xy2y"]);
        assert_eq!(composed("{{ n }}{{ n }}").len(), MOST_VALUES);
        for text in ["plain", "{{ unknown }}{{ b }}", "{{ loop }}", "{{ n }}{{ loop }}", "{{ {{ b }}"] {
            assert_eq!(composed(text), [""; 0], "{text}");
        }
    }
}
