//! Where a known value in a text is the value, and where it is only a part of a word: with the password `node`, `node2` and
//! `kube_node` are still the names of a host and a group. `deploy/runner/kubeonkube_masking.py` has the same functions.

use std::collections::HashSet;
use std::ops::Range;

/// How many bytes around a value are looked at to find its word: the name of a host may have 253 characters.
const LONGEST_NAME: usize = 256;

/// Values that are words, and the names that must stay readable.
#[derive(Debug, Clone, Default)]
pub(crate) struct Words {
    pub(crate) values: HashSet<String>,
    /// Names of hosts and groups.
    pub(crate) names: HashSet<String>,
}

/// Whether a value is a word, or a number: other words contain it.
pub(crate) fn is_word(value: &str) -> bool {
    value.chars().all(char::is_alphabetic) || value.chars().all(|c| c.is_ascii_digit())
}

impl Words {
    /// Whether the value at `found` is part of a name or of a longer word, and stays.
    pub(crate) fn keep(&self, text: &str, found: Range<usize>) -> bool {
        let value = &text[found.clone()];
        let (part, whole) = (word_around(text, &found, "_-"), word_around(text, &found, "_-."));
        if self.names.contains(part) || self.names.contains(whole) {
            return true;
        }
        // `-phunter`: a flag and its value in one word.
        let is_flag =
            |word: &str| word.strip_suffix(value).is_some_and(|flag| flag.len() == 2 && flag.starts_with('-'));
        self.values.contains(value) && whole != value && !is_flag(whole)
    }
}

/// The word that contains `found`: letters, digits and `joining`, which joins but neither begins nor ends a word. A letter after
/// a backslash is no part of a word: `\n`.
fn word_around<'t>(text: &'t str, found: &Range<usize>, joining: &str) -> &'t str {
    let is_part = |c: char| c.is_alphanumeric() || joining.contains(c);
    let before = &text[text.ceil_char_boundary(found.start.saturating_sub(LONGEST_NAME))..found.start];
    let mut start = found.start - (before.len() - before.trim_end_matches(is_part).len());
    if start < found.start && text[..start].ends_with('\\') {
        start += text[start..].chars().next().map_or(0, char::len_utf8);
    }
    let after = &text[found.end..text.floor_char_boundary(found.end + LONGEST_NAME)];
    let end = found.end + (after.len() - after.trim_start_matches(is_part).len());
    let leading = text[start..found.start].trim_start_matches(['.', '_']);
    let trailing = text[found.end..end].trim_end_matches(['.', '-', '_']);
    &text[found.start - leading.len()..found.end + trailing.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(value: &str, text: &str, names: &[&str]) -> bool {
        let values = if is_word(value) { HashSet::from([value.to_owned()]) } else { HashSet::new() };
        let words = Words { values, names: names.iter().map(|name| (*name).to_owned()).collect() };
        let at = text.find(value).unwrap();
        words.keep(text, at..at + value.len())
    }

    #[test]
    fn longer_words_and_names_stay() {
        for text in
            ["node2", "kube_node", "task-node-x", "node.example.test", "nodes", "1node", "the node-1 is", "Knotennodes"]
        {
            assert!(kept("node", text, &[]), "{text}");
        }
        assert!(kept("node1", "on node1: ok", &["node1"]) && kept("node1", "on node10 ok", &["node10"]));
        assert!(kept("node1", "node1.example.test", &["node1"]) && kept("8080", "port 18080", &[]));
    }

    #[test]
    fn the_value_alone_is_hidden() {
        for text in [
            "node",
            "pass=node.",
            "a node, b",
            "\"node\"",
            r"a\nnode\n",
            "login -pnode x",
            "--node",
            "path/node/x",
            "node:",
        ] {
            assert!(!kept("node", text, &["node2"]), "{text}");
        }
        assert!(!kept("hunter22", "xhunter22y", &["node"]));
    }
}
