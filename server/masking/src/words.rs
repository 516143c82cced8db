//! Where a known value in a text is the value, and where it is only a part of a word: with the password `node`, `node2` and
//! `kube_node` are still the names of a host and a group. `deploy/runner/kubeonkube_masking.py` has the same functions.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use crate::forms::SHORTEST;

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

/// Those of the names (of hosts and groups) that contain a line of a secret value, so that logs must keep them: see
/// [`crate::Masker`]. There may be thousands of names and of lines, so each part of a name is looked up.
#[must_use]
pub fn names_with<'n>(secrets: &[String], names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let lines = secrets.iter().flat_map(|secret| secret.lines()).map(str::trim);
    let lines: HashSet<&str> = lines.filter(|line| (SHORTEST..=LONGEST_NAME).contains(&line.len())).collect();
    let lengths: BTreeSet<usize> = lines.iter().map(|line| line.len()).collect();
    let has_line = |name: &&str| {
        let parts =
            |at: usize| lengths.iter().map_while(move |length| (at + length <= name.len()).then_some(at..at + length));
        (0..name.len()).flat_map(parts).any(|part| name.get(part).is_some_and(|part| lines.contains(part)))
    };
    names.into_iter().filter(has_line).collect()
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
    fn names_with_a_line_of_a_secret_are_found() {
        let names = ["web-1", "db7", "canary.example.org", "kube_nöde"];
        let found = |secrets: &[&str]| {
            names_with(&secrets.iter().map(|secret| (*secret).to_owned()).collect::<Vec<_>>(), names)
        };
        assert_eq!(found(&["first\n web-1 \n", "canary"]), ["web-1", "canary.example.org"]);
        assert_eq!(found(&["nöde", "ary."]), ["canary.example.org", "kube_nöde"]);
        // Values that are shorter than what logs are searched for, or longer than any name.
        assert_eq!(found(&["db7", "web", "canary.example.org.longer", ""]), [""; 0]);
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
