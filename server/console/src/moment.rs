//! Converts times of the Kubernetes API to times of the pages.

use api::Time;

pub(crate) fn of(time: &crd::Time) -> Time {
    Time(time.0.as_millisecond())
}

pub(crate) fn now() -> Time {
    Time(jiff::Timestamp::now().as_millisecond())
}
