//! Which values are harmless under a secret name. The rule in words is in the crate's documentation.

use std::sync::LazyLock;

use regex::Regex;

use crate::pattern;

/// Switches and empty values.
const HARMLESS: [&str; 13] = ["", "true", "false", "yes", "no", "on", "off", "null", "none", "~", "{}", "[]", "omit"];

/// What encrypted values start with.
pub(crate) const VAULT: &str = "$ANSIBLE_VAULT";

/// A file below a top-level directory of Linux or of a run's pod. A leading `/` alone doesn't prove a path: one of 64 base64
/// values starts with it.
static FILE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^/(?:auth|boot|data|dev|etc|home|lib|media|mnt|opt|proc|root|run|srv|sys|tmp|usr|var)(?:/[\w.@-]+)*/?$")
});

/// Whether a value may be shown although its name is secret.
pub(crate) fn is_harmless(value: &str) -> bool {
    HARMLESS.iter().any(|word| value.eq_ignore_ascii_case(word)) || FILE.is_match(value)
}
