//! Sentences about a secret after its name, in messages: `db_password: must not be empty`. They aren't its value.
//! `deploy/runner/kubeonkube_masking.py` has the same function.

use std::sync::LazyLock;

use regex::Regex;

use crate::pattern::pattern;

/// A word as sentences have it.
pub(crate) static WORD: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:[A-Z]?[a-z]+(?:'[a-z]+)?|[A-Z]{1,4}|[0-9]{1,3})$"));

/// A text without one of these words is no sentence.
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

/// Further words of messages. A text with any other word may be a passphrase: `the correct horse`.
pub(crate) const OF_MESSAGES: [&str; 109] = [
    "able",
    "accepted",
    "admin",
    "administrator",
    "allowed",
    "already",
    "api",
    "argument",
    "ask",
    "attempting",
    "authenticate",
    "available",
    "bytes",
    "characters",
    "check",
    "configured",
    "connect",
    "contain",
    "contains",
    "content",
    "created",
    "days",
    "decode",
    "decrypt",
    "decrypted",
    "default",
    "defined",
    "denied",
    "deprecated",
    "digits",
    "disabled",
    "empty",
    "enabled",
    "encrypted",
    "error",
    "exist",
    "exists",
    "field",
    "file",
    "find",
    "format",
    "found",
    "given",
    "hours",
    "ignored",
    "key",
    "keys",
    "known",
    "least",
    "length",
    "letters",
    "load",
    "longer",
    "lowercase",
    "match",
    "minutes",
    "more",
    "name",
    "named",
    "new",
    "newline",
    "number",
    "object",
    "old",
    "open",
    "optional",
    "parse",
    "password",
    "passwords",
    "path",
    "permission",
    "plain",
    "please",
    "provided",
    "read",
    "refused",
    "rejected",
    "seconds",
    "secret",
    "secrets",
    "server",
    "set",
    "shorter",
    "space",
    "spaces",
    "special",
    "string",
    "sudo",
    "today",
    "token",
    "tokens",
    "too",
    "type",
    "unavailable",
    "unchanged",
    "unexpected",
    "unknown",
    "unset",
    "unsupported",
    "updated",
    "uppercase",
    "used",
    "user",
    "valid",
    "value",
    "values",
    "variable",
    "vault",
    "yesterday",
];

/// A number is part of a sentence before these words only. Any other may be a PIN.
pub(crate) const UNITS: [&str; 9] =
    ["bits", "bytes", "characters", "days", "digits", "hours", "letters", "minutes", "seconds"];

/// Whether a text is a sentence that consists of words of messages.
pub(crate) fn is_prose(text: &str) -> bool {
    let words: Vec<_> =
        text.trim_matches(' ').split(' ').map(|word| word.trim_end_matches([',', '.', ';', '!', '?'])).collect();
    let lower: Vec<_> = words.iter().map(|word| word.to_ascii_lowercase()).collect();
    let is_one_of = |all: &[&str], word: &String| all.contains(&word.as_str());
    let is_counted = |at: usize| lower.get(at + 1).is_some_and(|word| is_one_of(&UNITS, word));
    let is_known = |(at, word): (usize, &String)| {
        let is_number = word.starts_with(|c: char| c.is_ascii_digit());
        if is_number { is_counted(at) } else { is_one_of(&OF_SENTENCES, word) || is_one_of(&OF_MESSAGES, word) }
    };
    words.len() > 1
        && words.iter().all(|word| WORD.is_match(word))
        && lower.iter().enumerate().all(is_known)
        && lower.iter().any(|word| is_one_of(&OF_SENTENCES, word))
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
            "the cat has no hat",
            "legal must zebra only when ocean",
            "open the gate",
            "the 123",
            "the password is 123",
            "the 'hunter'",
            "in 1234",
            "the  hunter",
        ] {
            assert!(!is_prose(text), "{text}");
        }
    }
}
