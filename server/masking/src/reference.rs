//! References of one variable to another. What a secret refers to is secret, too.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use regex::Regex;

use crate::pattern::pattern;

/// A value that is only a reference to another variable: `{{ name }}`, `{{ map.entry }}`, `{{ map['entry'] }}`,
/// `{{ map.get('entry') }}` or `{{ list[0] }}`, perhaps with filters.
pub(crate) static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"^\{\{-?\s*(\w+(?:\.get\(\s*["']\w+["'][^(){}]*\)|\.\w+|\[["']\w+["']\]|\[-?\d+\])*)"#,
        r#"\s*(?:\|[^{}]*)?-?\}\}$"#,
    ))
});

/// What is no name in a reference: a method, its default value, and the number of an item. All items of a list are referred to.
pub(crate) static NO_NAME: LazyLock<Regex> = LazyLock::new(|| pattern(r#"\.get\(|["']\s*,[^()]*\)|\[-?\d+\]"#));

/// The variable that a filter takes if there is no other value.
pub(crate) static DEFAULT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\bd(?:efault)?\(\s*([A-Za-z_]\w*(?:\.\w+)*)\s*[,)]"));

/// What joins the operands of an expression.
static OPERATOR: LazyLock<Regex> = LazyLock::new(|| pattern(r"~|\+|\bor\b|\bif\b.*?\belse\b"));

static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"\w+"));

/// How many references may lead to a value.
pub(crate) const LONGEST_CHAIN: usize = 5;

/// The paths that secrets refer to, such as `map.entry`.
#[derive(Debug, Default)]
pub(crate) struct References {
    /// The last name first.
    paths: HashSet<Vec<String>>,
    /// How many names the paths have. Few numbers, so a path is looked up a few times however many references there are.
    lengths: BTreeSet<usize>,
    /// All names in them.
    names: HashSet<String>,
    rounds: usize,
}

impl References {
    /// Adds those that the values consist of. Whether there were new ones, so that the inputs have to be searched again.
    pub(crate) fn add_all<'v>(&mut self, values: impl IntoIterator<Item = &'v String>) -> bool {
        let known = self.paths.len();
        for mut path in values.into_iter().flat_map(|value| paths(value)) {
            path.reverse();
            self.lengths.insert(path.len());
            self.names.extend(path.iter().cloned());
            self.paths.insert(path);
        }
        self.rounds += 1;
        self.paths.len() > known && self.rounds <= LONGEST_CHAIN
    }

    /// Whether one of them ends this path. `path` begins with the last name.
    pub(crate) fn contain<'p>(&self, path: &(impl Iterator<Item = &'p str> + Clone)) -> bool {
        self.lengths.iter().any(|length| {
            let names: Vec<String> = path.clone().take(*length).map(str::to_owned).collect();
            names.len() == *length && self.paths.contains(&names)
        })
    }

    /// How many names the longest of them has.
    pub(crate) fn longest(&self) -> usize {
        self.lengths.last().copied().unwrap_or_default()
    }

    /// Whether one of them has this name anywhere.
    pub(crate) fn have_name(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Whether one of them is a variable with this name.
    pub(crate) fn contain_name(&self, name: &str) -> bool {
        self.contain(&std::iter::once(name))
    }
}

/// The paths in a value that is a template: `{{ a ~ b.c }}` has two.
fn paths(value: &str) -> Vec<Vec<String>> {
    let inner = value.trim().strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
    let inner = inner.filter(|inner| !inner.contains("{{"));
    let operands = inner.into_iter().flat_map(|inner| OPERATOR.split(inner));
    let of_defaults = inner.into_iter().flat_map(|inner| DEFAULT.captures_iter(inner)).map(|found| found[1].to_owned());
    let operands = operands.map(str::to_owned).chain(of_defaults);
    operands.filter_map(|operand| path(&format!("{{{{{operand}}}}}"))).collect()
}

/// The names in a reference.
pub(crate) fn path(value: &str) -> Option<Vec<String>> {
    let reference = REFERENCE.captures(value.trim())?;
    let names = NO_NAME.replace_all(reference.get(1)?.as_str(), " ");
    let names: Vec<_> = WORD.find_iter(&names).map(|name| name.as_str().to_owned()).collect();
    // `hostvars['m1'].name` and `vars.name` are variables with that name.
    let before = match names.first().map(String::as_str) {
        Some("hostvars") => 2,
        Some("vars") => 1,
        _ => 0,
    };
    Some(names[before.min(names.len() - 1)..].to_vec())
}
