//! Secrets that templates compose of several texts: `password: "pre{{ part }}post"`. The parts alone needn't be secret.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use regex::Regex;

use crate::pattern::pattern;
use crate::reference::path;

/// A template with an expression.
static EXPRESSION: LazyLock<Regex> = LazyLock::new(|| pattern(r"\{\{[^{}]*\}\}"));

/// How many values of one variable are tried, and how many results of one template. Each host may have its own.
const MOST_VALUES: usize = 4096;
const MOST_RESULTS: usize = 4096;
const LONGEST_RESULT: usize = 4096;
/// How many expressions are filled in for one result.
const DEEPEST: usize = 8;
/// How many texts of a template with values of several maps are filled in.
const MOST_MIXED: usize = 1024;
/// How many bytes all texts may have that are filled in, and what each result counts in addition: it has many forms.
const BUDGET: usize = 2 * 1024 * 1024;
const OF_A_RESULT: usize = 64;

/// The map that a scalar is an entry of: the numbers of its document and of its node.
pub(crate) type Map = (usize, usize);

/// The scalars of documents by their names.
pub(crate) struct Parts<'d> {
    scalars: HashMap<&'d str, Values<'d>>,
    budget: usize,
}

/// The values of one name, and where those of each map are among them.
#[derive(Default)]
struct Values<'d> {
    all: Vec<(Map, &'d str)>,
    of_maps: HashMap<Map, Vec<usize>>,
}

/// A text that is filled in, and the map of the value that was filled in last.
type Filled = (String, Option<Map>);

impl<'d> Parts<'d> {
    pub(crate) fn of(scalars: impl Iterator<Item = (Map, &'d str, &'d str)>) -> Self {
        let mut parts: HashMap<_, Values<'d>> = HashMap::new();
        for (map, name, value) in scalars.filter(|(_, _, value)| value.len() <= LONGEST_RESULT) {
            let values = parts.entry(name).or_default();
            if values.all.len() < MOST_VALUES {
                values.of_maps.entry(map).or_default().push(values.all.len());
                values.all.push((map, value));
            }
        }
        Self { scalars: parts, budget: BUDGET }
    }

    /// What a text with templates becomes. Empty if it has none, or one that isn't known.
    pub(crate) fn composed(&mut self, text: &str) -> BTreeSet<String> {
        if self.budget == 0 || !text.contains("{{") || text.len() > LONGEST_RESULT {
            return BTreeSet::new();
        }
        let (mut open, mut results) = (vec![(text.to_owned(), None)], BTreeSet::new());
        for _ in 0..=DEEPEST {
            let (with, without): (Vec<_>, Vec<_>) = open.into_iter().partition(|(text, _)| text.contains("{{"));
            results.extend(without.into_iter().map(|(text, _)| text));
            open = self.next(&with);
        }
        results
    }

    /// Each text with the values of its next expression, within the limits. Those with values of one map, such as that of a host, are the
    /// first.
    fn next(&mut self, texts: &[Filled]) -> Vec<Filled> {
        let (mut together, mut mixed) = (Vec::new(), Vec::new());
        for (text, map) in texts {
            let Some(found) = EXPRESSION.find(text) else { continue };
            let name = path(found.as_str()).and_then(|path| path.last().cloned());
            let Some(values) = name.and_then(|name| self.scalars.get(name.as_str())) else { continue };
            let with = |(of, value): &(Map, &'d str)| (text, found.as_str(), *value, *of);
            let Some((map, of_map)) = map.and_then(|map| Some((map, values.of_maps.get(&map)?))) else {
                together.extend(values.all.iter().take(MOST_RESULTS.saturating_sub(together.len())).map(with));
                continue;
            };
            let own = of_map.iter().take(MOST_RESULTS.saturating_sub(together.len()));
            together.extend(own.map(|at| with(&values.all[*at])));
            let others = values.all.iter().filter(|(of, _)| *of != map);
            mixed.extend(others.take(MOST_MIXED - mixed.len()).map(with));
        }
        let mut filled = Vec::new();
        for (text, expression, value, of) in together.into_iter().take(MOST_RESULTS).chain(mixed) {
            // The same expression has the same value everywhere.
            let text = text.replace(expression, value);
            let size = text.len() + if text.contains("{{") { 0 } else { OF_A_RESULT };
            if size > self.budget {
                self.budget = 0;
                break;
            }
            if text.len() <= LONGEST_RESULT {
                self.budget -= size;
                filled.push((text, Some(of)));
            }
        }
        filled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled_in_within_limits() {
        let many: Vec<_> = (0..100).map(|n| format!("{n}")).collect();
        let named = |name, value| ((0, 0), name, value);
        let scalars = many.iter().map(|value| named("n", value.as_str()));
        let scalars =
            scalars.chain([("a", "x{{ b }}"), ("b", "y"), ("loop", "{{ loop }}{{ loop }}")].map(|(a, b)| named(a, b)));
        let mut parts = Parts::of(scalars);
        let mut composed = |text| parts.composed(text).into_iter().collect::<Vec<_>>();
        assert_eq!(composed("1{{ a | trim }}2{{ b }}"), ["1xy2y"]);
        assert_eq!(composed("{{ n }}{{ n }}").len(), 100);
        for text in ["plain", "{{ unknown }}{{ b }}", "{{ loop }}", "{{ n }}{{ loop }}", "{{ {{ b }}"] {
            assert_eq!(composed(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn values_of_one_host_are_filled_in_together() {
        let values: Vec<_> = (0..1000).map(|n| format!("x{n}")).collect();
        let of_host = |n: usize| [((0, n), "a", values[n].as_str()), ((0, n), "b", values[n].as_str())];
        let scalars = (0..1000).flat_map(of_host).chain([((1, 0), "c", "y"), ((2, 0), "d", "z1"), ((3, 0), "d", "z2")]);
        let mut parts = Parts::of(scalars);
        let found = parts.composed("{{ a }}-{{ b }}");
        assert!(
            found.len() <= MOST_RESULTS + MOST_MIXED
                && values.iter().all(|value| found.contains(&format!("{value}-{value}")))
        );
        // A host has its own value of one variable only.
        assert_eq!(parts.composed("{{ c }}-{{ d }}").into_iter().collect::<Vec<_>>(), ["y-z1", "y-z2"]);
        assert_eq!((parts.composed("{{ a }}-{{ c }}").len(), parts.composed("{{ c }}-{{ a }}").len()), (1000, 1000));
    }

    #[test]
    fn the_budget_limits_the_results_of_all_templates() {
        let values: Vec<_> = (0..MOST_VALUES).map(|n| format!("x{n}")).collect();
        let mut parts = Parts::of(values.iter().enumerate().map(|(n, value)| ((0, n), "a", value.as_str())));
        let templates = (0..1000).map(|n| format!("{n}-{{{{ a }}}}"));
        let found: usize = templates.map(|text| parts.composed(&text).len()).sum();
        assert!((MOST_VALUES..=BUDGET / OF_A_RESULT).contains(&found), "{found}");
    }
}
