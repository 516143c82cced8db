//! Points in time, and how pages show them. The server sends its time with every answer, so that server and browser render
//! the same words.

use serde::{Deserialize, Serialize};

/// An instant in milliseconds since the Unix epoch (UTC).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(pub i64);

impl Time {
    /// The age of this time at `now`, in words: `just now`, `14 min ago`, `2 h ago`, `yesterday`, `6 d ago`.
    #[must_use]
    pub fn ago(self, now: Time) -> String {
        let seconds = (now.0 - self.0).max(0) / 1000;
        match seconds {
            0..=4 => "just now".into(),
            5..=59 => format!("{seconds} s ago"),
            60..=3599 => format!("{} min ago", seconds / 60),
            3600..=86_399 => format!("{} h ago", seconds / 3600),
            86_400..=172_799 => "yesterday".into(),
            _ => format!("{} d ago", seconds / 86_400),
        }
    }

    /// The duration from `self` to `end`, in words: `under 1 s`, `48 s`, `3 min 51 s`, `2 h 5 min`. Times of the
    /// Kubernetes API are whole seconds, so shorter durations are unknown.
    #[must_use]
    pub fn until(self, end: Time) -> String {
        match end.0 - self.0 {
            ..1000 => "under 1 s".into(),
            ms => duration(ms),
        }
    }

    /// The time as `2026-11-21 07:00:05 UTC`, for tooltips and for browsers without JavaScript.
    #[must_use]
    pub fn utc(self) -> String {
        let (days, rest) = (self.0.div_euclid(86_400_000), self.0.rem_euclid(86_400_000) / 1000);
        let (year, month, day) = civil(days);
        format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC", rest / 3600, rest / 60 % 60, rest % 60)
    }
}

/// A duration of `ms` milliseconds, in words.
#[must_use]
pub fn duration(ms: i64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0 => format!("{ms} ms"),
        1..=59 => format!("{seconds} s"),
        60..=3599 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// Converts days since the Unix epoch to year, month and day of the proleptic Gregorian calendar
/// (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`).
fn civil(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    (yoe + era * 400 + i64::from(month <= 2), month, doy - (153 * mp + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_durations_are_shown_in_words() {
        let at = |s: i64| Time(s * 1000);
        assert_eq!(at(0).ago(at(3)), "just now");
        assert_eq!(at(0).ago(at(61)), "1 min ago");
        assert_eq!(at(0).ago(at(90_000)), "yesterday");
        assert_eq!(at(10).ago(at(0)), "just now", "an age is never negative, even if another clock is ahead");
        assert_eq!(Time(0).until(Time(231_000)), "3 min 51 s");
        assert_eq!(Time(0).until(Time(0)), "under 1 s");
    }

    #[test]
    fn times_are_converted_to_calendar_dates() {
        assert_eq!(Time(0).utc(), "1970-01-01 00:00:00 UTC");
        assert_eq!(Time(1_709_164_800_000).utc(), "2024-02-29 00:00:00 UTC");
        assert_eq!(Time(-1000).utc(), "1969-12-31 23:59:59 UTC");
    }
}
