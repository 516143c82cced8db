//! Finds known values in a text, in every form that programs write them in.

use std::collections::{BTreeSet, HashSet};

use regex::Regex;

use crate::forms;
use crate::words::{Words, is_word};

/// From this many bytes of forms on, values are searched for only as they are.
const LARGEST: usize = 64 * 1024 * 1024;

/// Searches for a set of values.
#[derive(Debug, Default)]
pub(crate) struct Finder {
    pattern: Option<Regex>,
    words: Words,
}

impl Finder {
    /// `names` stay readable where they contain a value.
    pub(crate) fn of<'v>(values: impl Iterator<Item = &'v str>, names: impl Iterator<Item = String>) -> Self {
        let values: BTreeSet<&str> = values.collect();
        let words = values.iter().flat_map(|value| value.lines()).map(str::trim).filter(|line| is_word(line));
        let words = Words { values: words.map(str::to_owned).collect(), names: names.collect() };
        let mut forms = BTreeSet::new();
        let mut bytes = 0;
        for value in values {
            // Values of thousands of quotes would have gigabytes of forms.
            let of_value = if bytes < LARGEST { forms::forms(value) } else { BTreeSet::from([value.to_owned()]) };
            bytes += of_value.iter().map(String::len).sum::<usize>();
            forms.extend(of_value);
        }
        let mut forms: Vec<_> = forms.into_iter().collect();
        forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        let alternatives: Vec<_> = forms.iter().map(|form| regex::escape(form)).collect();
        // Very many or very long values may exceed the size limit of a pattern. The shortest forms have priority then: of a long
        // value these are its lines.
        let pattern = (!alternatives.is_empty()).then(|| {
            (0..8).find_map(|halving| {
                let left_out = alternatives.len() - alternatives.len().div_ceil(1 << halving);
                Regex::new(&alternatives[left_out..].join("|")).ok()
            })
        });
        Self { pattern: pattern.flatten(), words }
    }

    /// `text` with `mark` in place of the values.
    pub(crate) fn masked(&self, text: String, mark: &str) -> String {
        let Some(pattern) = &self.pattern else { return text };
        let (mut out, mut copied, mut at) = (String::new(), 0, 0);
        while let Some(found) = pattern.find_at(&text, at) {
            if self.words.keep(&text, found.range()) {
                at = text.ceil_char_boundary(found.start() + 1);
                continue;
            }
            out.extend([&text[copied..found.start()], mark]);
            copied = found.end();
            at = copied;
        }
        if copied == 0 { text } else { out + &text[copied..] }
    }
}

/// `text` with `mark` in place of these values. `names` stay readable where they contain a value.
pub(crate) fn hide(text: String, values: &[String], names: &HashSet<&str>, mark: &str) -> String {
    if !values.iter().any(|value| value.lines().any(|line| text.contains(line.trim()))) {
        return text;
    }
    let names = names.iter().map(|name| (*name).to_owned());
    Finder::of(values.iter().map(String::as_str), names).masked(text, mark)
}
