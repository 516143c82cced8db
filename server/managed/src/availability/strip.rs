//! The answers of one target while they arrive. Pure.
//!
//! A strip consists of slots, one per tick of the recorder. The answer to a slow request arrives after those to later requests, so a
//! slot is settled, and shown, when its request and all earlier ones have ended. What is shown never changes.

use std::collections::VecDeque;

use api::Time;
use api::availability::{Answer, Answers, Outage, Span, Target};

/// The most slots of a strip: 24 hours of seconds. No operation should run that long; a strip of that length still fits a page.
pub(super) const SLOTS: u32 = 24 * 60 * 60;

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Answered,
    /// Why there was no answer, as a sentence.
    Failed(String),
    /// There was no request. Why, as a sentence, if that is known.
    Unasked(Option<String>),
}

/// Slots in a row without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) slot: u32,
    pub(super) slots: u32,
    /// Why the first request failed.
    pub(super) why: String,
}

/// The answers of one target.
#[derive(Debug, Clone)]
pub(super) struct Strip {
    pub(super) target: Target,
    /// The time of slot 0.
    pub(super) start: Time,
    /// All settled slots.
    pub(super) spans: Vec<Span>,
    pub(super) settled: u32,
    /// The longest failures, and the newest one, in the order of time.
    pub(super) failures: Vec<Failure>,
    /// Why the newest slot was not asked.
    pub(super) unasked: Option<String>,
    /// The slots after the settled ones, with `None` for those whose request hasn't ended.
    open: VecDeque<Option<Outcome>>,
    /// The recorder's tick of slot 0. Negative if an earlier process began the strip.
    pub(super) first: i64,
}

impl Strip {
    pub(super) fn new(target: Target, start: Time, tick: i64) -> Self {
        Self {
            target,
            start,
            spans: Vec::new(),
            settled: 0,
            failures: Vec::new(),
            unasked: None,
            open: VecDeque::new(),
            first: tick,
        }
    }

    /// Begins the slot of a tick, whose request starts now. Ticks that were left out become unasked slots. Returns whether there is room.
    pub(super) fn begin(&mut self, tick: i64) -> bool {
        let next = self.settled + u32::try_from(self.open.len()).unwrap_or(SLOTS);
        let Ok(slot) = u32::try_from(tick.saturating_sub(self.first)) else { return false };
        if slot < next || slot >= SLOTS {
            return false;
        }
        self.open.extend((next..slot).map(|_| Some(Outcome::Unasked(None))));
        self.open.push_back(None);
        self.settle();
        true
    }

    /// Keeps how the request of a tick ended. An unknown tick is ignored.
    pub(super) fn end(&mut self, tick: i64, outcome: Outcome) {
        let slot = tick.saturating_sub(self.first);
        let at = usize::try_from(slot - i64::from(self.settled)).ok();
        if let Some(open) = at.and_then(|at| self.open.get_mut(at)) {
            *open = Some(outcome);
            self.settle();
        }
    }

    /// Whether no request is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty()
    }

    fn settle(&mut self) {
        while let Some(outcome) = self.open.front_mut().and_then(Option::take) {
            self.open.pop_front();
            self.push(outcome);
        }
    }

    fn push(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Answered => {
                self.extend(Answer::Yes, 1);
                self.unasked = None;
            }
            Outcome::Unasked(why) => {
                self.extend(Answer::Unasked, 1);
                self.unasked = why;
            }
            Outcome::Failed(why) => {
                if self.extend(Answer::No, 1) {
                    // Only ended failures are dropped, and those don't grow any more. So the longest ones always stay.
                    keep_longest(&mut self.failures, Answers::OUTAGES);
                    self.failures.push(Failure { slot: self.settled - 1, slots: 0, why });
                }
                if let Some(failure) = self.failures.last_mut() {
                    failure.slots += 1;
                }
                self.unasked = None;
            }
        }
    }

    /// Appends settled slots. Returns whether they begin a new span.
    pub(super) fn extend(&mut self, answer: Answer, slots: u32) -> bool {
        self.settled += slots;
        match self.spans.last_mut() {
            Some(span) if span.answer == answer => {
                span.seconds += slots;
                false
            }
            _ => {
                self.spans.push(Span { seconds: slots, answer });
                true
            }
        }
    }

    /// What pages show; `None` if there is nothing to show. `slot` is the length of a slot in milliseconds.
    pub(super) fn answers(&self, slot: i64) -> Option<Answers> {
        let is_asked = self.spans.iter().any(|span| span.answer != Answer::Unasked);
        // The cluster's own page says why its kubeconfig can't be used, but no other page says why a service isn't asked.
        let is_explained = self.unasked.is_some() && self.target != Target::Api;
        if !is_asked && !is_explained {
            return None;
        }
        let mut longest = self.failures.clone();
        keep_longest(&mut longest, Answers::OUTAGES);
        let outage = |failure: Failure| Outage {
            start: Time(self.start.0.saturating_add(i64::from(failure.slot).saturating_mul(slot))),
            seconds: failure.slots,
            why: failure.why,
        };
        Some(Answers {
            target: self.target.clone(),
            start: self.start,
            spans: self.spans.clone(),
            outages: longest.into_iter().map(outage).collect(),
            unasked: self.unasked.clone(),
        })
    }
}

/// Drops the shortest failures, and of equally long ones the newer, until `limit` are left.
fn keep_longest(failures: &mut Vec<Failure>, limit: usize) {
    while failures.len() > limit {
        let shortest = failures.iter().enumerate().min_by_key(|(at, failure)| (failure.slots, usize::MAX - at));
        let Some((at, _)) = shortest else { return };
        failures.remove(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1000;

    fn strip() -> Strip {
        Strip::new(Target::Api, Time(5000), 7)
    }

    fn failed(why: &str) -> Outcome {
        Outcome::Failed(why.to_owned())
    }

    fn recorded(outcomes: impl IntoIterator<Item = Outcome>) -> Answers {
        let mut strip = strip();
        for (tick, outcome) in (7..).zip(outcomes) {
            assert!(strip.begin(tick));
            strip.end(tick, outcome);
        }
        strip.answers(SECOND).expect("answers")
    }

    fn spans(answers: &Answers) -> Vec<(Answer, u32)> {
        answers.spans.iter().map(|span| (span.answer, span.seconds)).collect()
    }

    #[test]
    fn a_late_answer_goes_to_the_second_of_its_request() {
        let mut strip = strip();
        for tick in 7..10 {
            assert!(strip.begin(tick));
        }
        strip.end(9, failed("third"));
        strip.end(8, Outcome::Answered);
        assert_eq!(strip.answers(SECOND), None, "the first request is under way");
        assert!(!strip.is_idle());
        strip.end(7, failed("first"));
        let answers = strip.answers(SECOND).unwrap();
        assert_eq!(spans(&answers), [(Answer::No, 1), (Answer::Yes, 1), (Answer::No, 1)]);
        let outage = |start, why: &str| Outage { start: Time(start), seconds: 1, why: why.to_owned() };
        assert_eq!(answers.outages, [outage(5000, "first"), outage(7000, "third")]);
        assert!(strip.is_idle());
        strip.end(7, Outcome::Answered);
        strip.end(100, Outcome::Answered);
        assert_eq!(strip.answers(SECOND).unwrap(), answers, "a settled slot doesn't change");
    }

    #[test]
    fn ticks_that_are_left_out_are_unasked() {
        let mut strip = strip();
        for tick in [7, 8, 12] {
            assert!(strip.begin(tick));
            strip.end(tick, Outcome::Answered);
        }
        assert!(!strip.begin(12) && !strip.begin(3), "a slot begins once");
        let answers = strip.answers(SECOND).unwrap();
        assert_eq!(spans(&answers), [(Answer::Yes, 2), (Answer::Unasked, 3), (Answer::Yes, 1)]);
        assert_eq!(answers.counts(), (3, 3));
    }

    #[test]
    fn an_outage_has_the_reason_of_its_first_request() {
        let answers = recorded([Outcome::Answered, failed("a"), failed("b"), Outcome::Answered, failed("c")]);
        let outages: Vec<_> =
            answers.outages.iter().map(|outage| (outage.start.0, outage.seconds, outage.why.as_str())).collect();
        assert_eq!(outages, [(6000, 2, "a"), (9000, 1, "c")]);
        assert_eq!(answers.outages(), (2, 2));
    }

    #[test]
    fn of_many_outages_the_longest_are_listed() {
        // Outages of 1, 2, …, 30 seconds, and then 5 of 1 second.
        let lengths: Vec<usize> = (1..=30).chain([1; 5]).collect();
        let all = lengths.iter().flat_map(|&length| {
            let why = failed(&format!("{length}"));
            std::iter::repeat_n(why, length).chain([Outcome::Answered])
        });
        let answers = recorded(all);
        let listed: Vec<u32> = answers.outages.iter().map(|outage| outage.seconds).collect();
        assert_eq!(listed, (11..=30).collect::<Vec<_>>());
        assert!(answers.outages.iter().all(|outage| outage.why == outage.seconds.to_string()));
        assert_eq!(answers.outages(), (35, 30), "all are counted");
    }

    #[test]
    fn of_equally_long_outages_the_first_are_listed() {
        let all = (0..50).flat_map(|number| [failed(&format!("{number}")), Outcome::Answered]);
        let listed: Vec<String> = recorded(all).outages.into_iter().map(|outage| outage.why).collect();
        assert_eq!(listed, (0..20).map(|number| number.to_string()).collect::<Vec<_>>());
    }

    #[test]
    fn a_strip_ends_after_a_day() {
        let mut strip = strip();
        let last = 7 + i64::from(SLOTS) - 1;
        for tick in [7, last] {
            assert!(strip.begin(tick));
            strip.end(tick, Outcome::Answered);
        }
        assert!(!strip.begin(last + 1));
        assert_eq!(strip.settled, SLOTS);
    }

    #[test]
    fn a_service_that_is_never_asked_is_shown_with_the_reason() {
        let unasked = || Outcome::Unasked(Some("It is a metadata service.".to_owned()));
        let mut api = strip();
        let mut service = Strip::new(Target::Service("http://169.254.169.254".to_owned()), Time(0), 7);
        for strip in [&mut api, &mut service] {
            strip.begin(7);
            strip.end(7, unasked());
        }
        assert_eq!(api.answers(SECOND), None);
        let answers = service.answers(SECOND).unwrap();
        assert_eq!((answers.counts(), answers.unasked.as_deref()), ((0, 0), Some("It is a metadata service.")));
        service.begin(8);
        service.end(8, Outcome::Answered);
        assert_eq!(service.answers(SECOND).unwrap().unasked, None);
    }
}
