//! The controller's clock.

use crd::Time;

/// The time in whole seconds, as the API stores it: a time that is read back equals the one that was written.
pub(crate) fn now() -> Time {
    let second = jiff::Timestamp::now().as_second();
    Time(jiff::Timestamp::from_second(second).unwrap_or(jiff::Timestamp::UNIX_EPOCH))
}
