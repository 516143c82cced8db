//! A follow that looks from time to time whether its viewer may still read, and says why when it ends early.

use std::time::Duration;

use api::{Problem, backend::Frames, log::LogFrame};
use futures::{FutureExt, StreamExt, future::BoxFuture, stream};
use tokio::time::sleep;

/// How often the right to read is asked for again: as long as the cluster's answer about a right is believed.
const AGAIN: Duration = Duration::from_secs(30);

struct Watched<F> {
    frames: Frames<LogFrame>,
    may: F,
    /// Asked beside the frames: a slow answer about the right holds no line back.
    check: BoxFuture<'static, Result<(), Problem>>,
    otherwise: Problem,
}

/// `frames` as long as `may` says so. A stream that ends without the run's end closes with `otherwise`.
pub(crate) fn watched<F>(frames: Frames<LogFrame>, may: F, otherwise: Problem) -> Frames<LogFrame>
where
    F: Fn() -> BoxFuture<'static, Result<(), Problem>> + Send + 'static,
{
    let watched = Watched { frames, check: later(&may), may, otherwise };
    stream::unfold(Some(watched), async |watched| {
        let mut watched = watched?;
        let frame = watched.next().await;
        let is_last = matches!(frame, LogFrame::End(_) | LogFrame::Closed(_));
        Some((frame, (!is_last).then_some(watched)))
    })
    .boxed()
}

/// The question, asked when it is time.
fn later<F>(may: &F) -> BoxFuture<'static, Result<(), Problem>>
where
    F: Fn() -> BoxFuture<'static, Result<(), Problem>>,
{
    let asked = may();
    sleep(AGAIN).then(move |()| asked).boxed()
}

impl<F> Watched<F>
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
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    use api::log::LogEnd;

    use super::*;

    fn gone() -> Problem {
        Problem::NotFound { what: "log".into(), name: "grow".into() }
    }

    /// A reader whose right is taken away at the third question.
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
    async fn a_viewer_whose_right_was_taken_away_is_told_so_and_sees_no_more() {
        let (asked, may) = twice();
        let lines = stream::unfold(1, async |first| {
            sleep(Duration::from_secs(10)).await;
            Some((LogFrame::Lines { first, lines: Vec::new() }, first + 1))
        });
        let seen: Vec<_> = watched(lines.boxed(), may, gone()).collect().await;
        assert_eq!(asked.load(Ordering::Relaxed), 3);
        let (last, lines) = seen.split_last().expect("something came");
        assert!((8..=9).contains(&lines.len()), "three times 30 s: {seen:?}");
        assert!(matches!(last, LogFrame::Closed(Problem::Forbidden { .. })), "{last:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_follow_never_ends_without_a_reason() {
        let allowed = || async { Ok(()) }.boxed();
        let cut: Vec<_> = watched(stream::empty().boxed(), allowed, gone()).collect().await;
        assert_eq!(cut, [LogFrame::Closed(gone())]);
        let end = LogFrame::End(LogEnd { lines: 0, missing: 0 });
        let whole: Vec<_> = watched(stream::iter([end.clone()]).boxed(), allowed, gone()).collect().await;
        assert_eq!(whole, [end]);
    }
}
