//! The runs that a tab follows, as one stream of frames.

use std::sync::Arc;
use std::time::Duration;

use api::backend::{Frames, Runs};
use api::live::LiveFrame;
use api::log::LogFrame;
use api::{Backend, OperationName, Problem, User};
use futures::{StreamExt, stream};
use tokio::time::sleep;
use tokio_stream::StreamMap;

/// How many runs one tab may follow at once.
pub(super) const LIMIT: usize = 8;

/// The pause before the first retry of a failed follow. It doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

#[derive(Default)]
pub(super) struct Follows(StreamMap<OperationName, Frames<LiveFrame>>);

impl Follows {
    /// Follows `run` from these cursors and replaces an earlier follow of it. `false` if there are too many already.
    pub(super) fn start(
        &mut self,
        backend: &Backend,
        user: &User,
        run: OperationName,
        from: u64,
        events_from: u64,
    ) -> bool {
        if self.0.len() >= LIMIT && !self.0.contains_key(&run) {
            return false;
        }
        // The backend is asked only when the stream is polled, so that a slow answer doesn't block the rest of the socket.
        let follow = Follow {
            runs: backend.runs.clone(),
            user: user.clone(),
            run: run.clone(),
            line: from.max(1),
            event: events_from.max(1),
            state: State::Ask,
            pause: FIRST_PAUSE,
            shown: None,
        };
        self.0.insert(run, stream::unfold(follow, async |mut follow| Some((follow.next().await?, follow))).boxed());
        true
    }

    /// Ends a follow.
    pub(super) fn stop(&mut self, run: &OperationName) {
        self.0.remove(run);
    }

    /// The next frame of any run. Never resolves while no run is followed.
    pub(super) async fn next(&mut self) -> LiveFrame {
        match StreamExt::next(&mut self.0).await {
            Some((_, frame)) => frame,
            None => std::future::pending().await,
        }
    }
}

/// One run. After a temporary failure it is followed again from the same position.
struct Follow {
    runs: Arc<dyn Runs>,
    user: User,
    run: OperationName,
    /// The number of the next line to send.
    line: u64,
    /// The number of the next event to send.
    event: u64,
    state: State,
    pause: Duration,
    /// The reason for the interruption that the tab currently shows.
    shown: Option<String>,
}

enum State {
    Ask,
    Frames(Frames<LogFrame>),
    Pause,
    Ended,
}

impl Follow {
    async fn next(&mut self) -> Option<LiveFrame> {
        loop {
            match &mut self.state {
                State::Ask => match self.runs.follow(&self.user, &self.run, self.line, self.event).await {
                    Ok(frames) => {
                        self.state = State::Frames(frames);
                        if self.shown.take().is_some() {
                            // The next line may be far off. An empty frame makes the tab remove the reason.
                            return Some(self.lines(self.line, Vec::new()));
                        }
                    }
                    Err(problem) => {
                        if let Some(reason) = self.fails(&problem) {
                            return Some(reason);
                        }
                    }
                },
                State::Frames(frames) => match frames.next().await? {
                    LogFrame::Closed(problem) => {
                        if let Some(reason) = self.fails(&problem) {
                            return Some(reason);
                        }
                    }
                    frame => return Some(self.forward(frame)),
                },
                State::Pause => {
                    sleep(self.pause).await;
                    self.pause = (self.pause * 2).min(LONGEST_PAUSE);
                    self.state = State::Ask;
                }
                State::Ended => return None,
            }
        }
    }

    /// Retries after a temporary failure and ends after a permanent one. Returns the frame with the reason, unless the tab shows
    /// that reason already.
    fn fails(&mut self, problem: &Problem) -> Option<LiveFrame> {
        let is_temporary = matches!(problem, Problem::Unavailable { .. });
        self.state = if is_temporary { State::Pause } else { State::Ended };
        let message = problem.to_string();
        if self.shown.as_ref() == Some(&message) {
            return None;
        }
        self.shown = Some(message.clone());
        Some(if is_temporary {
            LiveFrame::Interrupted { run: self.run.clone(), message }
        } else {
            LiveFrame::Refused { message }
        })
    }

    fn forward(&mut self, frame: LogFrame) -> LiveFrame {
        self.pause = FIRST_PAUSE;
        let run = self.run.clone();
        match frame {
            LogFrame::Lines { first, lines } => self.lines(first, lines),
            LogFrame::Events(events) => {
                self.event = events.last().map_or(self.event, |last| last.n + 1);
                LiveFrame::Events { run, events }
            }
            LogFrame::Gap { from, to } => {
                self.line = self.line.max(to);
                LiveFrame::Gap { run, from, to }
            }
            LogFrame::End(end) => {
                self.state = State::Ended;
                LiveFrame::End { run, end }
            }
            // Not reached: `next` handles `Closed` itself, because it may retry.
            LogFrame::Closed(problem) => LiveFrame::Refused { message: problem.to_string() },
        }
    }

    fn lines(&mut self, first: u64, lines: Vec<api::log::LogLine>) -> LiveFrame {
        self.line = first + lines.len() as u64;
        LiveFrame::Lines { run: self.run.clone(), first, lines }
    }
}
