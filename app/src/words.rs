//! Formats words and numbers for all pages.

/// `etcd` becomes `Etcd`. Handles ASCII only: the case tables for the rest of Unicode would add 24 KB to the wasm.
pub(crate) fn capitalised(mut word: String) -> String {
    if let Some(first) = word.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    word
}

/// `1 host`, `12,408 lines`.
#[must_use]
pub(crate) fn count(n: u64, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{} {many}", thousands(n)) }
}

/// `12,408`.
#[must_use]
pub(crate) fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
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
