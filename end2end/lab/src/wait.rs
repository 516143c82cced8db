//! Waiting for a condition. Every wait has a deadline, and its error contains the last state.
//!
//! [`until_async`] cancels its check at the deadline. [`until`] can't, because its check runs in the caller's thread. So a
//! check must end by itself, within seconds. This crate's file accesses and connections do. Give a program a time limit
//! (`kubectl --request-timeout=3s`), and use [`Machine::run_within`](crate::Machine::run_within) for a command on a
//! machine.

use std::thread;
use std::time::{Duration, Instant};

use crate::error::Error;

/// The deadline of everything that happens at once on a quiet computer, or after a few seconds. A wait ends as soon as its
/// condition holds, so a long deadline costs time only where something is broken. A short one fails on a busy computer.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// The pause between two checks.
const TICK: Duration = Duration::from_millis(100);

/// Repeats `check` until it returns a value. After the deadline, returns an error with the reason of the last failed check.
pub fn until<T>(what: &str, deadline: Duration, mut check: impl FnMut() -> Result<T, String>) -> Result<T, Error> {
    let started = Instant::now();
    loop {
        match check() {
            Ok(value) => return Ok(value),
            Err(last) if started.elapsed() >= deadline => {
                return Err(Error::Late { what: what.to_owned(), seconds: deadline.as_secs(), last });
            }
            Err(_) => thread::sleep(TICK),
        }
    }
}

/// The same for a future, for tests that talk to Kubernetes. At the deadline, a running check is cancelled.
pub async fn until_async<T, F>(what: &str, deadline: Duration, mut check: impl FnMut() -> F) -> Result<T, Error>
where
    F: Future<Output = Result<T, String>>,
{
    let end = tokio::time::Instant::now() + deadline;
    let mut last = "no check has ended".to_owned();
    loop {
        match tokio::time::timeout_at(end, check()).await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(why)) => last = why,
            Err(_) => last += ", and then a check that didn't end",
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

    #[test]
    fn a_check_is_repeated_until_it_returns_a_value() {
        let mut checks = 0;
        let found = until("the third check", PATIENCE, || {
            checks += 1;
            if checks == 3 { Ok(checks) } else { Err(format!("check {checks}")) }
        });
        assert_eq!(found.unwrap(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_hanging_check_is_cancelled_and_the_last_state_reported() {
        let checks = Cell::new(0);
        let wait = until_async("an answer", PATIENCE, || async {
            checks.set(checks.get() + 1);
            if checks.get() < 3 {
                Err::<(), _>(format!("refused {}", checks.get()))
            } else {
                std::future::pending().await
            }
        });
        let said = wait.await.unwrap_err().to_string();
        assert!(said.contains("refused 2, and then a check that didn't end"), "{said}");
    }
}
