//! What ansible reads a scalar without quotes as. These are the rules of PyYAML, which ansible uses: those of YAML 1.1, with exceptions such
//! as `y` and `1e3`, which stay texts.

use std::fmt;

/// What ansible reads a scalar as, if not as a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    Null,
    /// `yes`, `off` and the like.
    Switch,
    Number,
    Date,
}

/// For “ansible reads it as …”.
impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Switch => "true or false",
            Self::Number => "a number",
            Self::Date => "a date",
        })
    }
}

/// What a plain scalar is to ansible. `None` if it is a text.
pub(crate) fn reading(plain: &str) -> Option<Reading> {
    let unsigned = plain.strip_prefix(['-', '+']).unwrap_or(plain);
    if matches!(plain, "" | "~" | "null" | "Null" | "NULL") {
        Some(Reading::Null)
    } else if is_switch(plain) {
        Some(Reading::Switch)
    } else if is_integer(unsigned) || is_float(unsigned) || matches!(plain, ".nan" | ".NaN" | ".NAN") {
        Some(Reading::Number)
    } else if is_date(plain) {
        Some(Reading::Date)
    } else {
        None
    }
}

/// Spelled in lower case, in upper case, or with a capital letter.
fn is_switch(plain: &str) -> bool {
    const WORDS: [&str; 6] = ["yes", "no", "true", "false", "on", "off"];
    let rest = plain.get(1..).unwrap_or_default();
    let is_even = rest == rest.to_ascii_lowercase() || plain == plain.to_ascii_uppercase();
    is_even && WORDS.contains(&plain.to_ascii_lowercase().as_str())
}

fn is_integer(unsigned: &str) -> bool {
    if unsigned == "0" {
        return true;
    }
    if let Some(digits) = unsigned.strip_prefix("0b") {
        return is_some_of(digits, |c| matches!(c, '0' | '1' | '_'));
    }
    if let Some(digits) = unsigned.strip_prefix("0x") {
        return is_some_of(digits, |c| c.is_ascii_hexdigit() || c == '_');
    }
    if let Some(digits) = unsigned.strip_prefix('0') {
        return is_some_of(digits, |c| matches!(c, '0'..='7' | '_'));
    }
    is_decimal(unsigned) || is_sexagesimal(unsigned, false)
}

fn is_float(unsigned: &str) -> bool {
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return true;
    }
    let Some((whole, fraction)) = unsigned.split_once('.') else { return false };
    if fraction.chars().all(is_digit) && is_sexagesimal(whole, true) {
        return true;
    }
    let (digits, exponent) = fraction.split_once(['e', 'E']).map_or((fraction, None), |(d, e)| (d, Some(e)));
    let is_exponent = |text: &str| text.strip_prefix(['-', '+']).is_some_and(|e| is_some_of(e, |c| c.is_ascii_digit()));
    let has_digits = if whole.is_empty() { is_decimal(digits) } else { is_decimal(whole) };
    has_digits && digits.chars().all(is_digit) && exponent.is_none_or(is_exponent)
}

/// Numbers to the base 60, such as `12:30`. An integer doesn't start with 0.
fn is_sexagesimal(text: &str, may_start_with_zero: bool) -> bool {
    let mut places = text.split(':');
    let first = places.next().unwrap_or_default();
    let mut others = places.peekable();
    let is_place = |place: &str| match place.as_bytes() {
        [digit] | [b'0'..=b'5', digit] => digit.is_ascii_digit(),
        _ => false,
    };
    is_decimal(first)
        && (may_start_with_zero || !first.starts_with('0'))
        && others.peek().is_some()
        && others.all(is_place)
}

/// `2024-01-31`, or a date with a time such as `2024-1-31T10:00:00Z`.
fn is_date(plain: &str) -> bool {
    let (date, time) = plain.split_once(['T', 't', ' ', '\t']).map_or((plain, None), |(date, time)| (date, Some(time)));
    let parts: Vec<&str> = date.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let shortest = if time.is_some() { 1 } else { 2 };
    let is_part = |part: &str| (shortest..=2).contains(&part.len()) && is_some_of(part, |c| c.is_ascii_digit());
    year.len() == 4
        && year.chars().all(|c| c.is_ascii_digit())
        && is_part(month)
        && is_part(day)
        && time.is_none_or(|time| is_time(time.trim_start_matches([' ', '\t'])))
}

/// Whether a date that [`reading`] found is one of the calendar, with a time of the clock.
pub(super) fn is_real_date(plain: &str) -> bool {
    let (date, time) = plain.split_once(['T', 't', ' ', '\t']).unwrap_or((plain, ""));
    let (clock, zone) = time.split_once(['-', '+']).unwrap_or((time, ""));
    let [year, month, day] = first_numbers(date);
    let [hours, minutes, seconds] = first_numbers(clock);
    let [zone_hours, zone_minutes, _] = first_numbers(zone);
    let is_leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    year > 0
        && (1..=12).contains(&month)
        && (1..=days).contains(&day)
        && hours < 24
        && minutes < 60
        && seconds < 60
        && zone_hours * 60 + zone_minutes < 24 * 60
}

/// Numbers that are missing are 0.
fn first_numbers(text: &str) -> [u32; 3] {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok());
    std::array::from_fn(|_| numbers.next().unwrap_or_default())
}

/// `10:00:00.25 +01:00`.
fn is_time(text: &str) -> bool {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.').unwrap_or(text.len());
    let (clock, zone) = text.split_at(end);
    let clock =
        clock.split_once('.').map_or(clock, |(clock, fraction)| if fraction.contains([':', '.']) { "" } else { clock });
    let are_digits = |part: &str, lengths: std::ops::RangeInclusive<usize>| {
        lengths.contains(&part.len()) && part.chars().all(|c| c.is_ascii_digit())
    };
    let parts: Vec<&str> = clock.split(':').collect();
    let [hours, minutes, seconds] = parts.as_slice() else { return false };
    let zone = zone.trim_start_matches([' ', '\t']);
    let is_offset = |offset: &str| {
        let (hours, minutes) = offset.split_once(':').map_or((offset, None), |(h, m)| (h, Some(m)));
        are_digits(hours, 1..=2) && minutes.is_none_or(|minutes| are_digits(minutes, 2..=2))
    };
    are_digits(hours, 1..=2)
        && are_digits(minutes, 2..=2)
        && are_digits(seconds, 2..=2)
        && (matches!(zone, "" | "Z") || zone.strip_prefix(['-', '+']).is_some_and(is_offset))
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || c == '_'
}

/// Digits, and `_` after the first.
fn is_decimal(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(is_digit)
}

/// At least one character, and all of this kind.
fn is_some_of(text: &str, is_one: impl Fn(char) -> bool) -> bool {
    !text.is_empty() && text.chars().all(is_one)
}

#[cfg(test)]
mod tests {
    use super::{Reading, reading};

    /// What the inventory plugin of ansible-core 2.18 answered for each as the name of a host and of a group.
    #[test]
    fn a_scalar_is_what_ansible_reads() {
        let table = [
            ("null", "~ null Null NULL"),
            ("true or false", "on off yes no true True TRUE false On OFF Yes NO"),
            ("a number", "1001 0 -1 +1 -0 017 0644 1_000 0_1 1__0 1_ 0x1F 0b101 12:30 12:30:45 1:2 -12:30"),
            ("a number", "1.5 .5 1. 0. 1.0e+3 190:20:30.15 .inf -.inf +.inf .nan"),
            ("a date", "2024-01-01 2024-01-01T10:00:00Z 2001-12-14t21:59:43.10-05:00"),
            ("", "y n Y N tRue oN nULL 1.5e3 1e3 1e+3 1e5 1.e5 123e4 0o17 089 08 0b12 0x 0x1G _1 inf nan -.nan = 1:75"),
            ("", "2024-1-1 2001-12-14x 10.0.0.1 1.2.3 1.5.6 1a node1 2024-01 12:30: :30 1:2:75 2024-01-01T10:00 é -"),
        ];
        for (expected, words) in table {
            for word in words.split(' ') {
                assert_eq!(reading(word).map(|read| read.to_string()).unwrap_or_default(), expected, "{word}");
            }
        }
        for date in ["2001-12-14 21:59:43.10 -5", "2001-1-4  1:59:43", "2001-12-14 21:59:43. Z"] {
            assert_eq!(reading(date), Some(Reading::Date), "{date}");
        }
        assert_eq!(reading(""), Some(Reading::Null));
    }
}
