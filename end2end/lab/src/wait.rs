//! Waiting for a condition: every wait has a deadline, and says what it last saw.

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

/// The same for a future, for tests that talk to Kubernetes.
pub async fn until_async<T, F>(what: &str, deadline: Duration, mut look: impl FnMut() -> F) -> Result<T, Error>
where
    F: Future<Output = Result<T, String>>,
{
    let begun = Instant::now();
    loop {
        match look().await {
            Ok(value) => return Ok(value),
            Err(last) if begun.elapsed() >= deadline => {
                return Err(Error::Late { what: what.to_owned(), seconds: deadline.as_secs(), last });
            }
            Err(_) => tokio::time::sleep(TICK).await,
        }
    }
}
