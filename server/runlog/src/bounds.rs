//! Replaces absurd numbers of an event, so that the sums and differences that pages show can't overflow. A program that a playbook runs
//! may write any event.

use api::run::{EventBody, RunEvent};

/// Year 9999, in milliseconds.
const LAST_MOMENT: i64 = 253_402_300_799_999;
/// More results than any playbook has on one host.
const MOST_RESULTS: u32 = 1_000_000;
/// A year, in milliseconds.
const LONGEST: u64 = 366 * 24 * 3_600_000;

/// `logged`: when the line was logged, in milliseconds since the Unix epoch.
pub(crate) fn apply(event: &mut RunEvent, logged: i64) {
    if !(0..=LAST_MOMENT).contains(&event.at) {
        event.at = logged.clamp(0, LAST_MOMENT);
    }
    match &mut event.body {
        EventBody::HostResult { ms, .. } => *ms = (*ms).min(LONGEST),
        EventBody::Stats { hosts } => {
            for stats in hosts.values_mut() {
                let counts = [
                    &mut stats.ok,
                    &mut stats.changed,
                    &mut stats.unreachable,
                    &mut stats.failed,
                    &mut stats.skipped,
                    &mut stats.rescued,
                    &mut stats.ignored,
                ];
                counts.into_iter().for_each(|count| *count = (*count).min(MOST_RESULTS));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use api::progress::RunProgress;
    use api::run::{HostResult, HostStats, StepRole};

    use super::*;

    #[test]
    fn absurd_numbers_give_a_progress_without_overflow() {
        let (most, result) = (u32::MAX, HostResult::Failed);
        let stats = HostStats {
            ok: most,
            changed: most,
            unreachable: most,
            failed: most,
            skipped: most,
            ..HostStats::default()
        };
        let name = || "m1".to_owned();
        let bodies = [
            EventBody::StepStart { step: most, role: StepRole::Main, title: name() },
            EventBody::TaskStart { task: most, play: most, name: name(), action: name(), handler: false },
            EventBody::HostStart { task: most, host: name() },
            EventBody::HostResult {
                task: most,
                host: name(),
                result,
                ms: u64::MAX,
                message: None,
                item: None,
                ignored: false,
            },
            EventBody::Retry { task: most, host: name(), attempt: most, retries: most },
            EventBody::Stats { hosts: [(name(), stats)].into() },
            EventBody::Stats { hosts: [(name(), stats)].into() },
            EventBody::StepEnd { step: most, rc: i32::MIN },
        ];
        let mut progress = RunProgress::default();
        for (n, body) in (1..).zip(bodies) {
            let mut event = RunEvent { n, at: if n % 2 == 0 { i64::MIN } else { i64::MAX }, after: 1, body };
            apply(&mut event, 7);
            assert_eq!(event.at, 7);
            progress.apply(&event);
        }
        assert_eq!((progress.last_event, progress.tasks[0].ms(), progress.totals.failed), (8, 0, 1));
        assert_eq!(progress.recap()["m1"].failed, 2 * MOST_RESULTS);
        assert_eq!(progress.standing_failures().len(), 1);
    }
}
