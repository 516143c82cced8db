//! What the recorder knows about one run. Times are numbers of ticks.

use std::io;
use std::sync::Arc;

use api::Time;
use api::availability::{Answers, Target};

use super::TARGETS;
use super::strip::{Outcome, Strip};
use crate::connect::Way;

/// From one attempt to read the kubeconfig to the next.
const KUBECONFIG: i64 = 30;
/// From one attempt to save to the next.
const SAVE: i64 = 10;
/// How long an ended run that can't be saved is kept in memory: an hour.
const KEPT: i64 = 60 * 60;

/// One run.
pub(super) struct Run {
    pub(super) operation: String,
    pub(super) strips: Vec<Strip>,
    pub(super) kubeconfig: Reader,
    /// When the operation was no longer running.
    pub(super) ended: Option<i64>,
    saving: Saving,
}

#[derive(Default)]
struct Saving {
    tried: Option<i64>,
    is_busy: bool,
    is_failing: bool,
    /// Only the first failure is logged.
    was_logged: bool,
    /// The settled slots that are in the file.
    settled: u64,
}

/// Reads the kubeconfig from time to time.
#[derive(Default)]
pub(super) struct Reader {
    pub(super) way: Option<Arc<Way>>,
    tried: Option<i64>,
    is_busy: bool,
}

/// What reading a kubeconfig gave.
pub(super) enum Kubeconfig {
    Usable(Arc<Way>),
    /// There is none, or it is refused.
    Unusable,
    /// It was not read.
    Unknown,
}

impl Reader {
    /// Whether the caller must read it now.
    pub(super) fn is_due(&mut self, tick: i64) -> bool {
        let is_due = !self.is_busy && self.tried.is_none_or(|tried| tick - tried >= KUBECONFIG);
        if is_due {
            (self.is_busy, self.tried) = (true, Some(tick));
        }
        is_due
    }

    /// Keeps what the reading gave that started at `tick`.
    pub(super) fn note(&mut self, tick: i64, found: Kubeconfig) {
        if self.tried != Some(tick) {
            return;
        }
        self.is_busy = false;
        match found {
            Kubeconfig::Usable(way) => self.way = Some(way),
            Kubeconfig::Unusable => self.way = None,
            Kubeconfig::Unknown => {}
        }
    }
}

impl Run {
    /// Continues strips that an earlier process recorded. The wall clock tells how long ago they started; `slot` is the length of a slot
    /// in milliseconds. If the clock went back, they continue without a gap.
    pub(super) fn new(operation: String, mut strips: Vec<Strip>, tick: i64, now: Time, slot: i64) -> Self {
        for strip in &mut strips {
            let passed = now.0.saturating_sub(strip.start.0) / slot.max(1);
            strip.first = tick - passed.max(i64::from(strip.settled));
        }
        let saving = Saving { settled: settled(&strips), ..Saving::default() };
        Self { operation, strips, kubeconfig: Reader::default(), ended: None, saving }
    }

    /// Begins the slot of a request that starts now. Returns whether there is room for it.
    pub(super) fn begin(&mut self, target: &Target, tick: i64, now: Time) -> bool {
        if let Some(strip) = self.strips.iter_mut().find(|strip| strip.target == *target) {
            return strip.begin(tick);
        }
        // A place for the API server is kept.
        let has_api = self.strips.iter().any(|strip| strip.target == Target::Api);
        let limit = if has_api || *target == Target::Api { TARGETS } else { TARGETS - 1 };
        if self.strips.len() >= limit {
            return false;
        }
        let mut strip = Strip::new(target.clone(), now, tick);
        let begun = strip.begin(tick);
        self.strips.push(strip);
        begun
    }

    /// Keeps how a request ended.
    pub(super) fn end(&mut self, target: &Target, tick: i64, outcome: Outcome) {
        if let Some(strip) = self.strips.iter_mut().find(|strip| strip.target == *target) {
            strip.end(tick, outcome);
        }
    }

    /// Whether the operation and all requests have ended.
    fn is_complete(&self) -> bool {
        self.ended.is_some() && self.strips.iter().all(Strip::is_idle)
    }

    /// Whether something is not saved.
    pub(super) fn has_news(&self) -> bool {
        settled(&self.strips) != self.saving.settled
    }

    /// Whether it is time to save.
    pub(super) fn is_due(&self, tick: i64) -> bool {
        let Saving { tried, is_busy, is_failing, .. } = self.saving;
        let is_time = tried.is_none_or(|tried| tick - tried >= SAVE);
        !is_busy && (is_time || self.is_complete() && !is_failing)
    }

    /// What must be saved, and the number that [`Self::end_save`] needs.
    pub(super) fn start_save(&mut self, tick: i64) -> (Vec<Strip>, u64) {
        (self.saving.tried, self.saving.is_busy) = (Some(tick), true);
        (self.strips.clone(), settled(&self.strips))
    }

    pub(super) fn end_save(&mut self, settled: u64, saved: io::Result<()>) {
        self.saving.is_busy = false;
        self.saving.is_failing = saved.is_err();
        match saved {
            Ok(()) => self.saving.settled = settled,
            Err(error) if !self.saving.was_logged => {
                self.saving.was_logged = true;
                let operation = &self.operation;
                tracing::warn!(operation, %error, "cannot save how the cluster answers during an operation; the server keeps trying");
            }
            Err(_) => {}
        }
    }

    /// Whether it may be removed from memory.
    pub(super) fn may_go(&self, tick: i64) -> bool {
        let is_old = self.ended.is_some_and(|ended| tick - ended >= KEPT);
        is_old || self.is_complete() && !self.saving.is_busy && !self.has_news()
    }
}

fn settled(strips: &[Strip]) -> u64 {
    strips.iter().map(|strip| u64::from(strip.settled)).sum()
}

/// What pages show of these strips, the API server first. `slot` is the length of a slot in milliseconds.
pub(super) fn shown(strips: &[Strip], slot: i64) -> Vec<Answers> {
    let mut shown: Vec<Answers> = strips.iter().filter_map(|strip| strip.answers(slot)).collect();
    shown.sort_by_key(|answers| answers.target != Target::Api);
    shown
}

#[cfg(test)]
mod tests {
    use api::availability::Answer;

    use super::*;

    const SLOT: i64 = 1000;

    fn run(strips: Vec<Strip>, tick: i64, now: i64) -> Run {
        Run::new("upgrade-1".into(), strips, tick, Time(now), SLOT)
    }

    fn ask(run: &mut Run, target: &Target, tick: i64) -> bool {
        let begun = run.begin(target, tick, Time(tick * SLOT));
        run.end(target, tick, Outcome::Answered);
        begun
    }

    fn service(number: usize) -> Target {
        Target::Service(format!("http://shop-{number}"))
    }

    fn spans(run: &Run) -> Vec<(Answer, u32)> {
        shown(&run.strips, SLOT)[0].spans.iter().map(|span| (span.answer, span.seconds)).collect()
    }

    #[test]
    fn a_restart_leaves_a_gap_by_the_wall_clock() {
        let mut before = run(vec![], 0, 0);
        (0..5).for_each(|tick| assert!(ask(&mut before, &Target::Api, tick)));
        // Ticks start again at 0. 12.9 s after the start, 5 slots have answers.
        let mut after = run(before.strips.clone(), 3, 12_900);
        assert!(ask(&mut after, &Target::Api, 3));
        assert_eq!(spans(&after), [(Answer::Yes, 5), (Answer::Unasked, 7), (Answer::Yes, 1)]);
        let mut turned_back = run(before.strips, 3, -50_000);
        assert!(ask(&mut turned_back, &Target::Api, 3));
        assert_eq!(spans(&turned_back), [(Answer::Yes, 6)]);
    }

    #[test]
    fn a_recording_from_long_ago_has_no_room() {
        let mut before = run(vec![], 0, 0);
        assert!(ask(&mut before, &Target::Api, 0));
        for now in [100_000 * SLOT, i64::MAX] {
            assert!(!ask(&mut run(before.strips.clone(), 0, now), &Target::Api, 0), "{now}");
        }
    }

    #[test]
    fn the_api_comes_first_and_always_has_a_place() {
        let mut run = run(vec![], 0, 0);
        let begun: Vec<bool> = (0..5).map(|number| ask(&mut run, &service(number), 0)).collect();
        assert_eq!(begun, [true, true, true, false, false]);
        assert!(ask(&mut run, &Target::Api, 1));
        let targets: Vec<_> = shown(&run.strips, SLOT).into_iter().map(|answers| answers.target).collect();
        assert_eq!(targets, [Target::Api, service(0), service(1), service(2)]);
    }

    #[test]
    fn the_kubeconfig_is_read_every_thirty_ticks() {
        let mut reader = Reader::default();
        let due: Vec<i64> = (0..70)
            .filter(|tick| {
                let is_due = reader.is_due(*tick);
                if is_due {
                    reader.note(*tick, Kubeconfig::Unknown);
                }
                is_due
            })
            .collect();
        assert_eq!(due, [0, 30, 60]);
        assert!(reader.is_due(90) && !reader.is_due(500), "never two readings at once");
    }

    #[test]
    fn a_run_is_saved_from_time_to_time_and_at_its_end() {
        let mut run = run(vec![], 0, 0);
        assert!(!run.has_news());
        let mut saves = vec![];
        for tick in 0..25 {
            ask(&mut run, &Target::Api, tick);
            if run.is_due(tick) {
                let (_, settled) = run.start_save(tick);
                assert!(!run.is_due(tick + 100), "never two saves at once");
                run.end_save(settled, Ok(()));
                saves.push(tick);
            }
        }
        assert_eq!(saves, [0, 10, 20]);
        run.ended = Some(25);
        assert!(run.has_news() && run.is_due(25) && !run.may_go(25));
        let (_, settled) = run.start_save(25);
        assert!(!run.may_go(25), "the save hasn't ended");
        run.end_save(settled, Ok(()));
        assert!(!run.has_news() && run.may_go(25));
    }

    #[test]
    fn a_run_that_cannot_be_saved_is_tried_again_for_an_hour() {
        let mut run = run(vec![], 0, 0);
        ask(&mut run, &Target::Api, 0);
        run.ended = Some(1);
        let (_, settled) = run.start_save(1);
        run.end_save(settled, Err(io::Error::other("full")));
        assert!(run.has_news() && !run.is_due(2) && run.is_due(11));
        assert!(!run.may_go(3600) && run.may_go(3601));
    }

    #[test]
    fn a_run_waits_for_its_last_request() {
        let mut run = run(vec![], 0, 0);
        assert!(run.begin(&Target::Api, 0, Time(0)));
        run.ended = Some(1);
        assert!(!run.may_go(1));
        run.end(&Target::Api, 0, Outcome::Failed("a".into()));
        assert!(run.has_news() && run.is_due(1));
    }
}
