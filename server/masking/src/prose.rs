//! Sentences about a secret after its name, in messages: `db_password: must not be empty`. They aren't its value.
//! `deploy/runner/kubeonkube_masking.py` has the same function.

use std::sync::LazyLock;

use regex::Regex;

use crate::pattern::pattern;

/// A word as sentences have it.
pub(crate) static WORD: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:[A-Z]?[a-z]+(?:'[a-z]+)?|[A-Z]{1,4}|[0-9]{1,3})$"));

/// A text without one of these words may be a passphrase: `correct horse battery`.
pub(crate) const OF_SENTENCES: [&str; 64] = [
    "a",
    "an",
    "and",
    "are",
    "at",
    "be",
    "been",
    "but",
    "by",
    "can",
    "can't",
    "cannot",
    "could",
    "couldn't",
    "did",
    "didn't",
    "does",
    "doesn't",
    "don't",
    "expired",
    "failed",
    "for",
    "from",
    "had",
    "has",
    "hasn't",
    "have",
    "if",
    "in",
    "incorrect",
    "invalid",
    "is",
    "isn't",
    "it",
    "its",
    "missing",
    "must",
    "no",
    "not",
    "of",
    "on",
    "only",
    "or",
    "required",
    "should",
    "since",
    "than",
    "that",
    "the",
    "there",
    "this",
    "to",
    "unable",
    "undefined",
    "was",
    "wasn't",
    "were",
    "when",
    "while",
    "will",
    "without",
    "wrong",
    "you",
    "your",
];

/// After these words, a sentence may tell the secret: `is sesame`, `changed to sesame`.
pub(crate) const TELLING: [&str; 11] =
    ["as", "be", "enter", "equals", "is", "now", "to", "use", "value", "was", "with"];

/// Further words that are no secret after [`TELLING`].
pub(crate) const NOT_TOLD: [&str; 44] = [
    "able",
    "accepted",
    "allowed",
    "already",
    "authenticate",
    "available",
    "configured",
    "connect",
    "contain",
    "created",
    "decrypt",
    "decrypted",
    "defined",
    "denied",
    "deprecated",
    "disabled",
    "empty",
    "enabled",
    "encrypted",
    "find",
    "found",
    "given",
    "ignored",
    "known",
    "load",
    "longer",
    "open",
    "optional",
    "parse",
    "provided",
    "read",
    "refused",
    "rejected",
    "set",
    "shorter",
    "too",
    "unavailable",
    "unchanged",
    "unknown",
    "unset",
    "unsupported",
    "updated",
    "used",
    "valid",
];

/// Whether a text is a sentence of ordinary words that tells no secret.
pub(crate) fn is_prose(text: &str) -> bool {
    let words: Vec<_> =
        text.trim_matches(' ').split(' ').map(|word| word.trim_end_matches([',', '.', ';', '!', '?'])).collect();
    let lower: Vec<_> = words.iter().map(|word| word.to_ascii_lowercase()).collect();
    let is_of_sentence = |word: &String| OF_SENTENCES.contains(&word.as_str());
    let is_told = |two: &[String]| {
        TELLING.contains(&two[0].as_str()) && !is_of_sentence(&two[1]) && !NOT_TOLD.contains(&two[1].as_str())
    };
    words.len() > 1
        && words.iter().all(|word| WORD.is_match(word))
        && lower.iter().any(is_of_sentence)
        && !lower.windows(2).any(is_told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_told_from_passphrases() {
        for text in [
            "Attempting to decrypt but no vault secrets found",
            "must not be empty",
            "must be at least 12 characters",
            "invalid format",
            "it has expired",
            "expired since yesterday, ask admin",
            "The API can't read it.",
            "is not set",
        ] {
            assert!(is_prose(text), "{text}");
        }
        for text in [
            "",
            "expired",
            "hunter",
            "correct horse battery",
            "it is hunter",
            "changed to hunter for the user",
            "is hunter22",
            "not: hunter",
            "the Hunter-horse",
            "the hunTer",
            "log in with hunter",
            "the 'hunter'",
            "in 1234",
            "the  hunter",
        ] {
            assert!(!is_prose(text), "{text}");
        }
    }
}
