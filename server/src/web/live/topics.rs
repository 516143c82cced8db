//! Which topics a tab wants, and when to send it a frame: at most four times a second per topic, and always after the last
//! change.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use api::live::Topic;
use tokio::time::Instant;

/// The shortest time between two frames of one topic. Together with the page's own request, a change is on screen within 300 ms.
pub(super) const INTERVAL: Duration = Duration::from_millis(250);

/// How many topics one tab may want.
pub(super) const LIMIT: usize = 200;

#[derive(Debug, Default)]
pub(super) struct Topics {
    wanted: BTreeSet<Topic>,
    /// Topics sent within the last interval: when the next frame may be sent, and whether there has been a change since.
    recent: BTreeMap<Topic, (Instant, bool)>,
}

impl Topics {
    /// Replaces the wanted topics and returns the new ones, which are sent at once: they may have changed since the page was
    /// rendered.
    pub(super) fn want(&mut self, topics: Vec<Topic>, now: Instant) -> Vec<Topic> {
        let wanted: BTreeSet<Topic> = topics.into_iter().take(LIMIT).collect();
        let new: Vec<Topic> = wanted.difference(&self.wanted).cloned().collect();
        self.wanted = wanted;
        new.into_iter().filter(|topic| self.changed(topic, now)).collect()
    }

    /// Records a change. Returns whether to send it now; otherwise it is due later or not wanted.
    pub(super) fn changed(&mut self, topic: &Topic, now: Instant) -> bool {
        if !self.wanted.contains(topic) {
            return false;
        }
        match self.recent.get_mut(topic) {
            Some((until, pending)) if *until > now => {
                *pending = true;
                false
            }
            _ => {
                self.recent.insert(topic.clone(), (now + INTERVAL, false));
                true
            }
        }
    }

    /// When to call [`Topics::due`] next.
    pub(super) fn next(&self) -> Option<Instant> {
        self.recent.values().map(|(until, _)| *until).min()
    }

    /// Topics whose interval is over and that have changed meanwhile.
    pub(super) fn due(&mut self, now: Instant) -> Vec<Topic> {
        let over: Vec<_> = self.recent.extract_if(.., |_, (until, _)| *until <= now).collect();
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
    fn a_topic_is_sent_at_most_four_times_a_second() {
        let (mut topics, start) = (Topics::default(), Instant::now());
        let at = |ms| start + Duration::from_millis(ms);
        topics.want(vec![Topic::Clusters], at(0));
        let mut sent = vec![0];
        // A change every 10 ms for a second, with the timer checked as the socket does.
        for ms in (10..=1_000).step_by(10) {
            sent.extend(
                topics.next().filter(|next| *next <= at(ms)).and_then(|_| topics.due(at(ms)).pop()).map(|_| ms),
            );
            sent.extend(topics.changed(&Topic::Clusters, at(ms)).then_some(ms));
        }
        assert_eq!(sent, [0, 250, 500, 750, 1000]);
        assert_eq!(topics.due(at(1_250)), [Topic::Clusters], "the last change was lost");
        assert!(topics.due(at(1_500)).is_empty());
        assert_eq!(topics.next(), None, "nothing is due after the last change was sent");
    }

    #[test]
    fn only_wanted_topics_are_sent_and_new_ones_at_once() {
        let (mut topics, now) = (Topics::default(), Instant::now());
        let one = Topic::Operation("grow".into());
        assert!(!topics.changed(&one, now));
        assert_eq!(topics.want(vec![Topic::Clusters, one.clone()], now), [Topic::Clusters, one.clone()]);
        assert!(topics.want(vec![one.clone()], now).is_empty(), "it was sent already");
        assert!(!topics.changed(&Topic::Clusters, now + INTERVAL), "no longer wanted");
        assert!(topics.changed(&one, now + INTERVAL));
        let many = (0..LIMIT + 50).map(|n| Topic::Cluster(format!("c{n:04}"))).collect();
        assert_eq!(topics.want(many, now).len(), LIMIT);
    }
}
