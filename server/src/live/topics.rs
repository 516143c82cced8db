//! Which topics a tab wants, and when it may hear of one: at most four times a second each, and always of the last change.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use api::live::Topic;
use tokio::time::Instant;

/// The shortest time between two frames of one topic. With what a page then fetches, a change is on screen within 300 ms.
pub(super) const INTERVAL: Duration = Duration::from_millis(250);

/// How many topics one tab may want.
pub(super) const LIMIT: usize = 200;

#[derive(Debug, Default)]
pub(super) struct Topics {
    wanted: BTreeSet<Topic>,
    /// Topics that were told within the last interval: when the next word may go out, and whether there is one.
    resting: BTreeMap<Topic, (Instant, bool)>,
}

impl Topics {
    /// Replaces what is wanted; returns what is new. The page hears of those at once: they may have changed between its
    /// rendering and now.
    pub(super) fn want(&mut self, topics: Vec<Topic>, now: Instant) -> Vec<Topic> {
        let wanted: BTreeSet<Topic> = topics.into_iter().take(LIMIT).collect();
        let new: Vec<Topic> = wanted.difference(&self.wanted).cloned().collect();
        self.wanted = wanted;
        new.into_iter().filter(|topic| self.changed(topic, now)).collect()
    }

    /// A topic changed: whether to say so now. If not, it is due later or not wanted.
    pub(super) fn changed(&mut self, topic: &Topic, now: Instant) -> bool {
        if !self.wanted.contains(topic) {
            return false;
        }
        match self.resting.get_mut(topic) {
            Some((until, pending)) if *until > now => {
                *pending = true;
                false
            }
            _ => {
                self.resting.insert(topic.clone(), (now + INTERVAL, false));
                true
            }
        }
    }

    /// When to ask for [`Topics::due`] again.
    pub(super) fn next(&self) -> Option<Instant> {
        self.resting.values().map(|(until, _)| *until).min()
    }

    /// Topics whose rest is over and that changed meanwhile.
    pub(super) fn due(&mut self, now: Instant) -> Vec<Topic> {
        let over: Vec<_> = self.resting.extract_if(.., |_, (until, _)| *until <= now).collect();
        let changed = over.into_iter().filter(|(_, (_, pending))| *pending).map(|(topic, _)| topic);
        let mut due: Vec<Topic> = changed.collect();
        due.retain(|topic| self.changed(topic, now));
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_told_four_times_a_second_at_most_and_its_last_change_always() {
        let (mut topics, start) = (Topics::default(), Instant::now());
        let at = |ms| start + Duration::from_millis(ms);
        topics.want(vec![Topic::Clusters], at(0));
        let mut told = vec![0];
        // A change every 10 ms for a second, the timer looked at as the socket does.
        for ms in (10..=1_000).step_by(10) {
            told.extend(
                topics.next().filter(|next| *next <= at(ms)).and_then(|_| topics.due(at(ms)).pop()).map(|_| ms),
            );
            told.extend(topics.changed(&Topic::Clusters, at(ms)).then_some(ms));
        }
        assert_eq!(told, [0, 250, 500, 750, 1000]);
        assert_eq!(topics.due(at(1_250)), [Topic::Clusters], "the last change was lost");
        assert!(topics.due(at(1_500)).is_empty());
        assert_eq!(topics.next(), None, "nothing to wait for when all is said");
    }

    #[test]
    fn only_what_a_tab_wants_is_told_and_what_is_new_at_once() {
        let (mut topics, now) = (Topics::default(), Instant::now());
        let one = Topic::Operation("grow".into());
        assert!(!topics.changed(&one, now));
        assert_eq!(topics.want(vec![Topic::Clusters, one.clone()], now), [Topic::Clusters, one.clone()]);
        assert!(topics.want(vec![one.clone()], now).is_empty(), "it was told already");
        assert!(!topics.changed(&Topic::Clusters, now + INTERVAL), "not wanted any more");
        assert!(topics.changed(&one, now + INTERVAL));
        let many = (0..LIMIT + 50).map(|n| Topic::Cluster(format!("c{n:04}"))).collect();
        assert_eq!(topics.want(many, now).len(), LIMIT);
    }
}
