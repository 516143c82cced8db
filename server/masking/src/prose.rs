//! Sentences about a secret after its name, in messages: `db_password: must not be empty`. They aren't its value.
//! `deploy/runner/kubeonkube_masking.py` has the same function.

use std::sync::LazyLock;

use regex::Regex;

use crate::pattern::pattern;
use crate::value::FILE;

/// A word as sentences have it.
pub(crate) static WORD: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:[A-Z]?[a-z]+(?:'[a-z]+)?|[A-Z]{1,4}|[0-9]{1,3})$"));

/// A text without one of these words is no sentence.
pub(crate) const OF_SENTENCES: [&str; 75] = [
    "a",
    "an",
    "and",
    "are",
    "at",
    "be",
    "been",
    "busy",
    "but",
    "by",
    "can",
    "can't",
    "cannot",
    "could",
    "couldn't",
    "denied",
    "did",
    "didn't",
    "does",
    "doesn't",
    "don't",
    "error",
    "exited",
    "expected",
    "expired",
    "failed",
    "for",
    "from",
    "had",
    "has",
    "hasn't",
    "have",
    "if",
    "illegal",
    "in",
    "incorrect",
    "invalid",
    "is",
    "isn't",
    "it",
    "its",
    "left",
    "may",
    "missing",
    "must",
    "no",
    "not",
    "of",
    "on",
    "only",
    "or",
    "refused",
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
    "unexpected",
    "was",
    "wasn't",
    "were",
    "when",
    "while",
    "will",
    "with",
    "without",
    "wrong",
    "you",
    "your",
];

/// Further words of messages. A text with any other word may be a passphrase: `the correct horse`.
pub(crate) const OF_MESSAGES: [&str; 149] = [
    "able",
    "accepted",
    "access",
    "account",
    "address",
    "admin",
    "administrator",
    "agent",
    "allowed",
    "already",
    "api",
    "argument",
    "ask",
    "attempting",
    "authenticate",
    "authentication",
    "available",
    "bytes",
    "character",
    "characters",
    "check",
    "code",
    "command",
    "configured",
    "connect",
    "connection",
    "contain",
    "contains",
    "content",
    "create",
    "created",
    "current",
    "data",
    "days",
    "decode",
    "decrypt",
    "decrypted",
    "default",
    "defined",
    "deprecated",
    "digits",
    "directories",
    "directory",
    "disabled",
    "empty",
    "enabled",
    "encoding",
    "encrypted",
    "end",
    "entry",
    "eof",
    "exist",
    "exists",
    "field",
    "file",
    "find",
    "format",
    "found",
    "given",
    "helper",
    "hours",
    "ignored",
    "information",
    "input",
    "key",
    "keys",
    "known",
    "least",
    "length",
    "letters",
    "line",
    "load",
    "lock",
    "locked",
    "longer",
    "lowercase",
    "manipulation",
    "match",
    "method",
    "minutes",
    "modify",
    "more",
    "name",
    "named",
    "namespace",
    "new",
    "newline",
    "number",
    "object",
    "old",
    "open",
    "operation",
    "optional",
    "out",
    "parent",
    "parse",
    "password",
    "passwords",
    "path",
    "permission",
    "permitted",
    "plain",
    "please",
    "port",
    "process",
    "program",
    "provided",
    "read",
    "reading",
    "rejected",
    "root",
    "seconds",
    "secret",
    "secrets",
    "server",
    "set",
    "shorter",
    "space",
    "spaces",
    "special",
    "status",
    "string",
    "such",
    "sudo",
    "timed",
    "timeout",
    "today",
    "token",
    "tokens",
    "too",
    "type",
    "unavailable",
    "unchanged",
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
    "view",
    "write",
    "writing",
    "yesterday",
];

/// A number is part of a sentence before these words, and after [`NUMBERED`]. Any other may be a PIN.
pub(crate) const UNITS: [&str; 14] = [
    "attempts",
    "bits",
    "bytes",
    "characters",
    "days",
    "digits",
    "hours",
    "left",
    "letters",
    "minutes",
    "remaining",
    "seconds",
    "times",
    "tries",
];

pub(crate) const NUMBERED: [&str; 4] = ["code", "line", "port", "status"];

/// Whether a text is a sentence that consists of words of messages, and perhaps of paths.
pub(crate) fn is_prose(text: &str) -> bool {
    let words: Vec<_> =
        text.trim_matches(' ').split(' ').map(|word| word.trim_end_matches([',', '.', ';', ':', '!', '?'])).collect();
    let lower: Vec<_> = words.iter().map(|word| word.to_ascii_lowercase()).collect();
    let is_word = |word: &str| OF_SENTENCES.contains(&word) || OF_MESSAGES.contains(&word);
    let is_known = |(at, word): (usize, &String)| is_word(word) || FILE.is_match(words[at]) || is_counted(&lower, at);
    words.iter().all(|word| WORD.is_match(word) || FILE.is_match(word))
        && words.iter().filter(|word| !FILE.is_match(word)).count() > 1
        && lower.iter().enumerate().all(is_known)
        && lower.iter().any(|word| OF_SENTENCES.contains(&word.as_str()))
}

/// Whether a word is a number that the words of a sentence count. `lower` are the words in lower case.
pub(crate) fn is_counted(lower: &[String], at: usize) -> bool {
    let is_one_of = |all: &[&str], word: &String| all.contains(&word.as_str());
    let is_number = (1..=3).contains(&lower[at].len()) && lower[at].bytes().all(|byte| byte.is_ascii_digit());
    is_number
        && (lower.get(at + 1).is_some_and(|word| is_one_of(&UNITS, word))
            || at.checked_sub(1).is_some_and(|before| is_one_of(&NUMBERED, &lower[before])))
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
