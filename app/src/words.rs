//! Formats words and numbers for all pages.

pub(crate) use api::{count, thousands};

/// `etcd` becomes `Etcd`. Handles ASCII only: the case tables for the rest of Unicode would add 24 KB to the wasm.
pub(crate) fn capitalised(mut word: String) -> String {
    if let Some(first) = word.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    word
}

/// `a`, `a and b`, `a, b and 14 others`.
pub(crate) fn named(hosts: &[&str]) -> String {
    match hosts {
        [] => "no host".to_owned(),
        [one] => (*one).to_owned(),
        [a, b] => format!("{a} and {b}"),
        [a, b, c] => format!("{a}, {b} and {c}"),
        [a, b, rest @ ..] => format!("{a}, {b} and {} others", rest.len()),
    }
}

/// A number without its fraction; 0 if it is negative.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "never negative, far below 2^53")]
pub(crate) fn whole(number: f64) -> u64 {
    number.max(0.0).floor() as u64
}

#[cfg(test)]
mod tests {
    use super::capitalised;

    #[test]
    fn capitalising_changes_only_the_first_letter() {
        let words = ["etcd health", "iB", "Ω", ""].map(|word| capitalised(word.to_owned()));
        assert_eq!(words, ["Etcd health", "IB", "Ω", ""]);
    }
}
