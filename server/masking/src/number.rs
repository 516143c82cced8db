//! Numbers as ansible's YAML reader understands them: by YAML 1.1, in which `0123` is octal and `1_000` has a separator. A
//! log shows the number that ansible got.

use std::sync::LazyLock;

use regex::Regex;

use crate::pattern::pattern;

static INTEGER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?P<sign>[-+]?)(?:0b(?P<binary>[01_]+)|0(?P<octal>[0-7_]+)|0x(?P<hexadecimal>[0-9a-fA-F_]+)",
        r"|(?P<sexagesimal>[1-9][0-9_]*(?::[0-5]?[0-9])+)|(?P<decimal>0|[1-9][0-9_]*))$"
    ))
});
static FLOAT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+][0-9]+)?$"));

/// What ansible prints for a plain scalar that it reads as a number. `None` if that is the text itself.
pub(crate) fn as_ansible_reads(text: &str) -> Option<String> {
    let number = integer(text).map(|number| number.to_string()).or_else(|| float(text))?;
    (number != text).then_some(number)
}

fn integer(text: &str) -> Option<i128> {
    let read = INTEGER.captures(text)?;
    let digits = |name| Some(read.name(name)?.as_str().replace('_', ""));
    let in_base = |name, base| Some(i128::from_str_radix(&digits(name)?, base));
    let number =
        match in_base("binary", 2).or(in_base("octal", 8)).or(in_base("hexadecimal", 16)).or(in_base("decimal", 10)) {
            Some(number) => number.ok()?,
            None => sexagesimal(&digits("sexagesimal")?)?,
        };
    Some(if &read["sign"] == "-" { -number } else { number })
}

fn sexagesimal(text: &str) -> Option<i128> {
    text.split(':').try_fold(0_i128, |sum, part| sum.checked_mul(60)?.checked_add(part.parse().ok()?))
}

fn float(text: &str) -> Option<String> {
    let number: f64 = FLOAT.find(text)?.as_str().replace('_', "").parse().ok()?;
    Some(format!("{number:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_yaml_1_1() {
        let cases = [
            ("0123", "83"),
            ("0o17", ""),
            ("0x1F2E", "7982"),
            ("1_000_000", "1000000"),
            ("12:30:45", "45045"),
            ("-0b101", "-5"),
            ("+12", "12"),
            ("12", ""),
            ("089", ""),
            ("1e5", ""),
            ("1.50", "1.5"),
            (".5", "0.5"),
            ("9999999999999999999999999999999999999999999", ""),
            ("word", ""),
        ];
        for (text, read) in cases {
            assert_eq!(as_ansible_reads(text).unwrap_or_default(), read, "{text}");
        }
    }
}
