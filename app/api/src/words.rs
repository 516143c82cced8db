//! Numbers in sentences.

/// A number with its noun: `1 host`, `12,408 lines`.
#[must_use]
pub fn count(n: u64, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{} {many}", thousands(n)) }
}

/// `12,408`.
#[must_use]
pub fn thousands(n: u64) -> String {
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

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn only_one_is_singular() {
        let hosts = |n| count(n, "host", "hosts");
        assert_eq!([hosts(0), hosts(1), hosts(2), hosts(1_200)], ["0 hosts", "1 host", "2 hosts", "1,200 hosts"]);
    }
}
