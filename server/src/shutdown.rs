//! The end: asked for by a signal, orderly, and within bounds. Runs are never part of it: they go on by themselves.

use std::{io, process, time::Duration};

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    task::{JoinHandle, JoinSet},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

/// How long requests and tasks may take to end.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Cancels `stop` on SIGTERM or SIGINT; a second signal ends the process at once.
pub fn on_signals(stop: CancellationToken) -> io::Result<()> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::spawn(async move {
        let name = either(&mut terminate, &mut interrupt).await;
        tracing::info!(signal = name, "stopping; runs go on");
        stop.cancel();
        either(&mut terminate, &mut interrupt).await;
        tracing::warn!("asked twice: stopping at once");
        process::exit(130);
    });
    Ok(())
}

async fn either(terminate: &mut Signal, interrupt: &mut Signal) -> &'static str {
    tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
    }
}

/// The long-running tasks of the rooms, each with its name, and what they do once.
#[derive(Default)]
pub struct Tasks {
    lasting: JoinSet<&'static str>,
    once: JoinSet<&'static str>,
}

impl Tasks {
    pub fn spawn(&mut self, name: &'static str, work: impl Future<Output = ()> + Send + 'static) {
        self.lasting.spawn(async move {
            work.await;
            name
        });
    }

    /// A task that runs already.
    pub fn adopt(&mut self, name: &'static str, task: JoinHandle<()>) {
        self.spawn(name, async move {
            if let Err(error) = task.await {
                tracing::error!(task = name, %error, "a task ended badly");
            }
        });
    }

    /// Work that ends by itself.
    pub fn spawn_once(&mut self, name: &'static str, work: impl Future<Output = ()> + Send + 'static) {
        self.once.spawn(async move {
            work.await;
            name
        });
    }

    /// Resolves when a task ended although nobody asked it to, with its name: a bug, and the server can't go on without it.
    pub async fn broken(&mut self) -> String {
        match self.lasting.join_next().await {
            Some(Ok(name)) => name.to_owned(),
            Some(Err(error)) => error.to_string(),
            None => std::future::pending().await,
        }
    }

    /// Waits for all tasks, which were told to stop; gives up on those that take too long.
    pub async fn join(mut self) {
        let all = async {
            while let Some(ended) = tokio::select! {
                Some(ended) = self.lasting.join_next() => Some(ended),
                Some(ended) = self.once.join_next() => Some(ended),
                else => None,
            } {
                if let Err(error) = ended {
                    tracing::error!(%error, "a task ended badly");
                }
            }
        };
        if timeout(PATIENCE, all).await.is_err() {
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
    async fn a_task_that_ends_by_itself_is_named() {
        let mut tasks = Tasks::default();
        tasks.spawn("endless", std::future::pending());
        tasks.spawn("controller", async {});
        assert_eq!(tasks.broken().await, "controller");
    }
}
