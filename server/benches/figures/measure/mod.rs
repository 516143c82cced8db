//! Shared by all benchmarks: the measured program, objects to fill it with, and the report.

pub(crate) mod objects;
pub(crate) mod program;
pub(crate) mod report;

use std::time::Duration;

/// The longest time to wait for anything.
const DEADLINE: Duration = Duration::from_secs(300);

/// Calls `look` until it returns a value.
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
