//! The patterns of this crate.

use regex::Regex;

/// Compiles a constant pattern.
pub(crate) fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is a tested constant")
}
