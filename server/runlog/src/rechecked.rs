//! Checks regularly whether a viewer may still read a log, and says why if the log ends early.

use std::time::Duration;

use api::Problem;
use api::backend::Frames;
use api::log::LogFrame;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use tokio::time::sleep;

/// The time between two checks of the right to read. The answer to an access review is cached for the same time.
const AGAIN: Duration = Duration::from_secs(30);

struct Rechecked<F> {
    frames: Frames<LogFrame>,
    may: F,
    /// Runs beside the frames: a slow access review delays no line.
    check: BoxFuture<'static, Result<(), Problem>>,
    otherwise: Problem,
}

/// Passes on `frames` while `may` allows it. If `frames` stop before the end of the run, the last frame is `Closed` with the reason
/// `otherwise`.
pub(crate) fn rechecked<F>(frames: Frames<LogFrame>, may: F, otherwise: Problem) -> Frames<LogFrame>
where
    F: Fn() -> BoxFuture<'static, Result<(), Problem>> + Send + 'static,
{
    let rechecked = Rechecked { frames, check: later(&may), may, otherwise };
    stream::unfold(Some(rechecked), async |rechecked| {
        let mut rechecked = rechecked?;
        let frame = rechecked.next().await;
        let is_last = matches!(frame, LogFrame::End(_) | LogFrame::Closed(_));
        Some((frame, (!is_last).then_some(rechecked)))
    })
    .boxed()
}

/// The next check. It starts after [`AGAIN`].
fn later<F>(may: &F) -> BoxFuture<'static, Result<(), Problem>>
where
    F: Fn() -> BoxFuture<'static, Result<(), Problem>>,
{
    let asked = may();
    sleep(AGAIN).then(move |()| asked).boxed()
}

impl<F> Rechecked<F>
where
    F: Fn() -> BoxFuture<'static, Result<(), Problem>>,
{
    async fn next(&mut self) -> LogFrame {
        loop {
            tokio::select! {
                answer = &mut self.check => match answer {
                    Ok(()) => self.check = later(&self.may),
                    Err(problem) => return LogFrame::Closed(problem),
                },
                frame = self.frames.next() => return frame.unwrap_or_else(|| LogFrame::Closed(self.otherwise.clone())),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use api::log::LogEnd;

    use super::*;

    fn gone() -> Problem {
        Problem::NotFound { what: "log".into(), name: "grow".into() }
    }

    /// A reader who loses the right at the third check.
    fn twice() -> (Arc<AtomicUsize>, impl Fn() -> BoxFuture<'static, Result<(), Problem>> + Send + 'static) {
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = asked.clone();
        let may = move || {
            let asked = asked.clone();
            async move {
                let refused = Problem::Forbidden { message: "You may not read this any more.".into() };
                if asked.fetch_add(1, Ordering::Relaxed) < 2 { Ok(()) } else { Err(refused) }
            }
            .boxed()
        };
        (counted, may)
    }

    #[tokio::test(start_paused = true)]
    async fn a_viewer_without_the_right_gets_the_reason_and_no_more_lines() {
        let (asked, may) = twice();
        let lines = stream::unfold(1, async |first| {
            sleep(Duration::from_secs(10)).await;
            Some((LogFrame::Lines { first, lines: Vec::new() }, first + 1))
        });
        let seen: Vec<_> = rechecked(lines.boxed(), may, gone()).collect().await;
        assert_eq!(asked.load(Ordering::Relaxed), 3);
        let (last, lines) = seen.split_last().expect("at least one frame");
        assert!((8..=9).contains(&lines.len()), "three times 30 s: {seen:?}");
        assert!(matches!(last, LogFrame::Closed(Problem::Forbidden { .. })), "{last:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_follow_never_ends_without_a_reason() {
        let allowed = || async { Ok(()) }.boxed();
        let cut: Vec<_> = rechecked(stream::empty().boxed(), allowed, gone()).collect().await;
        assert_eq!(cut, [LogFrame::Closed(gone())]);
        let end = LogFrame::End(LogEnd { lines: 0, missing: 0 });
        let whole: Vec<_> = rechecked(stream::iter([end.clone()]).boxed(), allowed, gone()).collect().await;
        assert_eq!(whole, [end]);
    }
}
