//! The runs that a tab follows, as one stream of frames.

use api::{Backend, OperationName, User, backend::Frames, live::LiveFrame, log::LogFrame};
use futures::{StreamExt, stream};
use tokio_stream::StreamMap;

/// How many runs one tab may follow at once.
pub(super) const LIMIT: usize = 8;

#[derive(Default)]
pub(super) struct Follows(StreamMap<OperationName, Frames<LiveFrame>>);

impl Follows {
    /// Follows `run` from these cursors, instead of any earlier follow of it. False: too many.
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
        let (runs, user, name) = (backend.runs.clone(), user.clone(), run.clone());
        // Asked for when polled, so that a slow start holds up nothing else of this socket.
        let frames = async move {
            match runs.follow(&user, &name, from.max(1), events_from.max(1)).await {
                Ok(frames) => frames.map(move |frame| to_live(&name, frame)).boxed(),
                Err(problem) => stream::iter([LiveFrame::Refused { message: problem.to_string() }]).boxed(),
            }
        };
        self.0.insert(run, stream::once(frames).flatten().boxed());
        true
    }

    /// Ends a follow.
    pub(super) fn stop(&mut self, run: &OperationName) {
        self.0.remove(run);
    }

    /// The next frame of any run; waits for ever while nothing is followed.
    pub(super) async fn next(&mut self) -> LiveFrame {
        match StreamExt::next(&mut self.0).await {
            Some((_, frame)) => frame,
            None => std::future::pending().await,
        }
    }
}

fn to_live(run: &OperationName, frame: LogFrame) -> LiveFrame {
    let run = run.clone();
    match frame {
        LogFrame::Lines { first, lines } => LiveFrame::Lines { run, first, lines },
        LogFrame::Events(events) => LiveFrame::Events { run, events },
        LogFrame::Gap { from, to } => LiveFrame::Gap { run, from, to },
        LogFrame::End(end) => LiveFrame::End { run, end },
    }
}
