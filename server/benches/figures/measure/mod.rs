//! What all benchmarks share: the program under measurement, and how figures are told.

pub(crate) mod objects;
pub(crate) mod program;
pub(crate) mod report;

use std::time::Duration;

/// How long anything that is waited for may take.
const DEADLINE: Duration = Duration::from_secs(300);

/// The value, as soon as there is one.
pub(crate) async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let looking = async {
        let mut tick = tokio::time::interval(Duration::from_millis(20));
        loop {
            tick.tick().await;
            if let Some(found) = look().await {
                return found;
            }
        }
    };
    tokio::time::timeout(DEADLINE, looking).await.unwrap_or_else(|_| panic!("waited too long for {what}"))
}
