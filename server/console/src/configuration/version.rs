//! The version that a change is based on: the object's resourceVersion and a hash of the text.
//!
//! The resourceVersion alone is not enough: it also changes when a controller sets a label, which is not a conflict.

use sha2::{Digest, Sha256};

/// `<resourceVersion>.<start of the text's SHA-256>`
pub(crate) fn of(resource_version: &str, text: &str) -> String {
    format!("{resource_version}.{}", digest(text))
}

/// Whether `version` belongs to this text.
pub(crate) fn is_of(version: &str, text: &str) -> bool {
    version.rsplit_once('.').is_some_and(|(_, based_on)| based_on == digest(text))
}

fn digest(text: &str) -> String {
    Sha256::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_another_text_makes_a_version_stale() {
        let based_on = of("12", "a: 1\n");
        assert!(is_of(&based_on, "a: 1\n"));
        assert!(!is_of(&based_on, "a: 2\n"));
        assert!(!is_of("", "a: 1\n") && !is_of("12", "a: 1\n"));
    }
}
