//! Finds known values in a text, in every form that programs write them in.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use crate::forms::{self, SHORTEST};
use crate::parts::hidden;
use crate::words::{Words, is_word};

/// How many bytes the forms of all values may have before quotes within quotes are left out. The inputs of a cluster with thousands
/// of passwords have a few MiB of forms. Without a limit, some thousand passwords of quotes would take gigabytes.
pub(crate) const BUDGET: usize = 8 * 1024 * 1024;

/// Searches for a set of values.
#[derive(Debug, Default)]
pub(crate) struct Finder {
    /// The forms by their first bytes, each list sorted. A pattern of all forms would take a multiple of their memory.
    forms: HashMap<[u8; SHORTEST], Vec<Box<str>>>,
    words: Words,
}

impl Finder {
    /// `names` stay readable where they contain a value.
    pub(crate) fn of<'v>(values: impl Iterator<Item = &'v str>, names: impl Iterator<Item = String>) -> Self {
        let values: BTreeSet<&str> = values.collect();
        let words = values.iter().flat_map(|value| value.lines()).map(str::trim).filter(|line| is_word(line));
        let words = Words { values: words.map(str::to_owned).collect(), names: names.collect() };
        let mut forms: HashMap<[u8; SHORTEST], Vec<Box<str>>> = HashMap::new();
        let mut budget = BUDGET;
        for value in values {
            for form in forms::within(value, &mut budget) {
                let Some(start) = form.as_bytes().first_chunk() else { continue };
                forms.entry(*start).or_default().push(form.into());
            }
        }
        for same in forms.values_mut() {
            same.sort_unstable();
            same.dedup();
        }
        Self { forms, words }
    }

    /// The first form in `text` from byte `at` on, the longest if several begin there.
    fn find_at(&self, text: &str, at: usize) -> Option<Range<usize>> {
        let bytes = text.as_bytes();
        (at..bytes.len()).find_map(|at| {
            let same = self.forms.get(bytes[at..].first_chunk::<SHORTEST>()?)?;
            Some(at..at + longest_at_start(same, &bytes[at..])?)
        })
    }

    /// Where the values are in `text`.
    pub(crate) fn parts(&self, text: &str) -> Vec<Range<usize>> {
        let (mut parts, mut at) = (Vec::new(), 0);
        if self.forms.is_empty() {
            return parts;
        }
        while let Some(found) = self.find_at(text, at) {
            if self.words.keep(text, found.clone()) {
                at = text.ceil_char_boundary(found.start + 1);
                continue;
            }
            at = found.end;
            parts.push(found);
        }
        parts
    }

    /// `text` with `mark` in place of the values.
    pub(crate) fn masked(&self, text: String, mark: &str) -> String {
        let parts = self.parts(&text);
        hidden(text, parts, mark)
    }
}

/// The length of the longest of these forms that `text` begins with. They are sorted, and there may be very many.
fn longest_at_start(sorted: &[Box<str>], mut text: &[u8]) -> Option<usize> {
    loop {
        // If the text begins with a form, all forms that are sorted between the two begin with it, too. So what the text and the
        // last of them have in common begins with it.
        let last = sorted.partition_point(|form| form.as_bytes() <= text).checked_sub(1)?;
        let form = sorted[last].as_bytes();
        let common = form.iter().zip(text).take_while(|(a, b)| a == b).count();
        if common == form.len() {
            return Some(common);
        }
        text = &text[..common];
    }
}

/// `text` with `mark` in place of these values. `names` stay readable where they contain a value.
pub(crate) fn hide(text: String, values: &[String], names: &HashSet<&str>, mark: &str) -> String {
    let names = names.iter().map(|name| (*name).to_owned());
    Finder::of(values.iter().map(String::as_str), names).masked(text, mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(values: &[&str], text: &str) -> String {
        Finder::of(values.iter().copied(), std::iter::empty()).masked(text.to_owned(), "*")
    }

    #[test]
    fn the_first_and_then_the_longest_form_is_hidden() {
        assert_eq!(masked(&["canary1", "canary1-long", "x-canary1"], "x-canary1 canary1-long canary1-l"), "* * *-l");
        let nested = ["can1", "can1-a", "can1-ab", "can1-abcd", "can1-b", "can1-ac-x"];
        for (text, rest) in [("can1-abcx", "cx"), ("can1-abcd", ""), ("can1-acx", "cx"), ("can1-x", "-x"), ("can1", "")]
        {
            assert_eq!(masked(&nested, text), format!("*{rest}"), "{text}");
        }
        assert_eq!(masked(&["can1-b", "can1-c"], "can1-a can1-bx can1"), "can1-a *x can1");
        assert_eq!(masked(&["é!1", "ключ-é"], "aé!1b ключ-é é!"), "a*b * é!");
        assert_eq!(masked(&[], "canary"), "canary");
    }

    #[test]
    fn lines_are_hidden_although_quotes_used_up_the_budget() {
        let quotes: Vec<_> = (0..400).map(|n| format!("a{n}{}", "\"\\<é".repeat(60))).collect();
        let values = quotes.iter().map(String::as_str).chain(["z canary-1\nz canary \"2\"\n"]);
        let finder = Finder::of(values, std::iter::empty());
        let bytes: usize = finder.forms.values().flatten().map(|form| form.len()).sum();
        assert!(bytes > BUDGET / 2 && bytes <= 2 * BUDGET, "{bytes}");
        for said in ["z canary-1", "z canary \"2\"", r#"z canary \"2\""#, "z+canary-1"] {
            assert_eq!(finder.masked(said.to_owned(), "*"), "*", "{said}");
        }
        assert_eq!(finder.masked(quotes[399].clone(), "*"), "*");
    }
}
