//! Waiting for a condition: every wait has a deadline, and says what it last saw.
//!
//! A look that hangs must not outlive its wait. [`until_async`] sees to that: it gives up a look at the deadline. [`until`]
//! can't give up a look of its own thread: its looks have to end by themselves, within seconds. Files and connections of
//! this crate do; a program does by its own option (`kubectl --request-timeout=3s`), a line on a machine by
//! [`Machine::run_within`](crate::Machine::run_within).

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::error::Error;

/// Between two looks.
const TICK: Duration = Duration::from_millis(100);

/// Looks again and again until `look` gives a value; past the deadline the error tells the last reason why not.
///
/// ```
/// use std::time::Duration;
/// let mut looks = 0;
/// let found = lab::wait::until("the third look", Duration::from_secs(5), || {
///     looks += 1;
///     if looks == 3 { Ok(looks) } else { Err(format!("look {looks}")) }
/// });
/// assert_eq!(found.unwrap(), 3);
/// ```
pub fn until<T>(what: &str, deadline: Duration, mut look: impl FnMut() -> Result<T, String>) -> Result<T, Error> {
    let begun = Instant::now();
    loop {
        match look() {
            Ok(value) => return Ok(value),
            Err(last) if begun.elapsed() >= deadline => {
                return Err(Error::Late { what: what.to_owned(), seconds: deadline.as_secs(), last });
            }
            Err(_) => thread::sleep(TICK),
        }
    }
}

/// The same for a future, for tests that talk to Kubernetes. A look that has not ended by the deadline is given up.
pub async fn until_async<T, F>(what: &str, deadline: Duration, mut look: impl FnMut() -> F) -> Result<T, Error>
where
    F: Future<Output = Result<T, String>>,
{
    let end = tokio::time::Instant::now() + deadline;
    let mut last = "nothing was seen".to_owned();
    loop {
        match tokio::time::timeout_at(end, look()).await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(why)) => last = why,
            Err(_) => last += ", and then a look that had no end",
        }
        if tokio::time::Instant::now() >= end {
            return Err(Error::Late { what: what.to_owned(), seconds: deadline.as_secs(), last });
        }
        tokio::time::sleep(TICK).await;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test]
    async fn a_look_that_hangs_ends_with_the_wait_which_tells_what_was_seen_before() {
        let looks = Cell::new(0);
        let wait = until_async("an answer", Duration::from_millis(300), || async {
            looks.set(looks.get() + 1);
            if looks.get() < 3 {
                Err::<(), _>(format!("refused {}", looks.get()))
            } else {
                std::future::pending().await
            }
        });
        let ended = tokio::time::timeout(Duration::from_secs(20), wait).await.expect("the wait ends");
        let said = ended.unwrap_err().to_string();
        assert!(said.contains("refused 2, and then a look that had no end"), "{said}");
    }
}
