//! Tells the open pages which topics changed, so that they fetch them again.
//!
//! Each subscriber has a set of changed topics that it has not taken yet. Several changes of a topic are one entry, so the set
//! of a slow subscriber stays small, and the last change is never lost.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};

use api::live::Topic;
use parking_lot::Mutex;
use tokio::sync::Notify;

/// An object in the stores was changed, created or deleted, or something else changed that pages show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    Cluster(String),
    Operation {
        name: String,
        cluster: String,
    },
    /// What every page shows about the server itself. No object has changed.
    Notice,
}

impl Change {
    /// The topics whose pages must be fetched again.
    fn topics(self) -> Vec<Topic> {
        match self {
            Self::Cluster(name) => vec![Topic::Clusters, Topic::Cluster(name)],
            Self::Operation { name, cluster } => {
                vec![Topic::Operations, Topic::Operation(name), Topic::Clusters, Topic::Cluster(cluster)]
            }
            // The frame of the pages follows these two.
            Self::Notice => vec![Topic::Clusters, Topic::Operations],
        }
    }
}

#[derive(Default)]
pub(crate) struct Subscriber {
    pending: Mutex<BTreeSet<Topic>>,
    news: Notify,
}

impl Subscriber {
    fn add(&self, topics: &[Topic]) {
        self.pending.lock().extend(topics.iter().cloned());
        self.news.notify_one();
    }

    /// Waits for the next changed topic.
    pub(crate) async fn next(&self) -> Topic {
        loop {
            let next = self.pending.lock().pop_first();
            match next {
                Some(topic) => return topic,
                None => self.news.notified().await,
            }
        }
    }
}

/// The subscribers. One that was dropped is removed at the next subscription.
#[derive(Default)]
pub(crate) struct News {
    subscribers: Mutex<Vec<Weak<Subscriber>>>,
}

impl News {
    pub(crate) fn subscribe(&self) -> Arc<Subscriber> {
        let subscriber = Arc::new(Subscriber::default());
        let mut all = self.subscribers.lock();
        all.retain(|s| s.strong_count() > 0);
        all.push(Arc::downgrade(&subscriber));
        subscriber
    }

    pub(crate) fn tell(&self, change: Change) {
        let topics = change.topics();
        let all = self.subscribers.lock();
        for subscriber in all.iter().filter_map(Weak::upgrade) {
            subscriber.add(&topics);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_slow_subscriber_gets_each_changed_topic_once() {
        let news = News::default();
        let slow = news.subscribe();
        for _ in 0..1000 {
            for name in ["a", "b"] {
                news.tell(Change::Operation { name: name.into(), cluster: "prod".into() });
            }
        }
        let mut topics = Vec::new();
        for _ in 0..5 {
            topics.push(slow.next().await);
        }
        let wanted = [
            Topic::Clusters,
            Topic::Cluster("prod".into()),
            Topic::Operations,
            Topic::Operation("a".into()),
            Topic::Operation("b".into()),
        ];
        assert_eq!(topics, wanted);
        assert!(futures::poll!(std::pin::pin!(slow.next())).is_pending());
    }

    #[test]
    fn dropped_subscribers_are_removed() {
        let news = News::default();
        drop(news.subscribe());
        let _one = news.subscribe();
        assert_eq!(news.subscribers.lock().len(), 1);
    }
}
