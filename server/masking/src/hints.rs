//! Which secrets a log can't hide well, for the pages on which users write them.

use std::collections::BTreeSet;

use crate::forms::SHORTEST;
use crate::known;
use crate::value::HARMLESS;
use crate::words::is_word;

/// A longer word is hardly part of another.
const LONGEST_WORD: usize = 16;

/// Sentences about the secret variables in `text` (inventory or variables) that a log can't hide well. `names` are the cluster's
/// hosts and groups.
#[must_use]
pub fn hints(text: &str, names: &[&str]) -> Vec<String> {
    let found = known::found(&[text]).0;
    let of_names = found.iter().flat_map(|(value, variables)| variables.iter().map(move |variable| (variable, value)));
    let sorted: BTreeSet<_> = of_names.filter_map(|(variable, value)| hint(variable, value, names)).collect();
    sorted.into_iter().collect()
}

/// The same for one variable. `None` if its value can be hidden.
#[must_use]
pub fn hint(variable: &str, value: &str, names: &[&str]) -> Option<String> {
    let value = value.trim();
    if variable.is_empty() || value.contains("{{") || HARMLESS.iter().any(|word| value.eq_ignore_ascii_case(word)) {
        return None;
    }
    let why = if value.len() < SHORTEST {
        format!("is shorter than {SHORTEST} characters, so logs show it")
    } else if names.contains(&value) {
        "is also the name of a host or a group, so logs show it".to_owned()
    } else if is_word(value) && value.len() <= LONGEST_WORD {
        "is a word or a number, so logs hide it only where it stands alone".to_owned()
    } else {
        return None;
    };
    Some(format!("The value of {variable} {why}. Use a longer value of letters and digits."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_can_not_be_hidden_are_named() {
        let text = "ansible_password: node\nb_token: abc\nc_secret: web-1\nd_pwd: hunter22\ne_key: true\nf_pass: '{{ x }}'\nuser: abc\ncommand: app --password=node\ng: {h_password: node}\ni: {ansible_password: swordfish}\n";
        let hints = hints(text, &["web-1"]);
        let starts = [
            "The value of ansible_password is a word",
            "The value of b_token is shorter",
            "The value of c_secret is also",
            "The value of h_password is a word",
        ];
        assert_eq!(hints.len(), starts.len(), "{hints:?}");
        for (hint, start) in hints.iter().zip(starts) {
            assert!(hint.starts_with(start), "{hint}");
        }
        assert!(!hints.concat().contains("web-1") && !hints.concat().contains("abc"), "{hints:?}");
    }
}
