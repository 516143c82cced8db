//! The tasks of a running server, and how they end.

use std::time::Duration;

use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

/// How long requests and tasks may take to end after a stop.
pub(super) const STOP_WITHIN: Duration = Duration::from_secs(10);

/// Named tasks: some run until the stop, others end by themselves.
#[derive(Default)]
pub(super) struct Tasks {
    lasting: JoinSet<&'static str>,
    once: JoinSet<&'static str>,
}

impl Tasks {
    /// Starts a task that runs until the stop.
    pub(super) fn spawn(&mut self, name: &'static str, work: impl Future<Output = ()> + Send + 'static) {
        self.lasting.spawn(async move {
            work.await;
            name
        });
    }

    /// Adds a task that was started elsewhere and runs until the stop.
    pub(super) fn adopt(&mut self, name: &'static str, task: JoinHandle<()>) {
        self.spawn(name, async move {
            if let Err(error) = task.await {
                tracing::error!(task = name, %error, "a task failed");
            }
        });
    }

    /// Starts a task that ends by itself.
    pub(super) fn spawn_once(&mut self, name: &'static str, work: impl Future<Output = ()> + Send + 'static) {
        self.once.spawn(async move {
            work.await;
            name
        });
    }

    /// Resolves with the name of a task that ended before the stop. That is a bug, and the server can't continue without the task.
    pub(super) async fn broken(&mut self) -> String {
        match self.lasting.join_next().await {
            Some(Ok(name)) => name.to_owned(),
            Some(Err(error)) => error.to_string(),
            None => std::future::pending().await,
        }
    }

    /// Waits for all tasks after the stop. Aborts those that take longer than [`STOP_WITHIN`].
    pub(super) async fn join(mut self) {
        let all = async {
            while let Some(ended) = tokio::select! {
                Some(ended) = self.lasting.join_next() => Some(ended),
                Some(ended) = self.once.join_next() => Some(ended),
                else => None,
            } {
                if let Err(error) = ended {
                    tracing::error!(%error, "a task failed");
                }
            }
        };
        if timeout(STOP_WITHIN, all).await.is_err() {
            tracing::warn!(left = self.lasting.len() + self.once.len(), "some tasks did not end in time");
            self.lasting.shutdown().await;
            self.once.shutdown().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_that_ends_too_early_is_named() {
        let mut tasks = Tasks::default();
        tasks.spawn("endless", std::future::pending());
        tasks.spawn("controller", async {});
        assert_eq!(tasks.broken().await, "controller");
    }
}
