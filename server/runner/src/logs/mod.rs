//! The output of runs: how it is stored, and how the API serves it.

mod local; // answers the API's log route
mod records; // the format of the log file

pub use self::local::LocalLogs;
pub(crate) use self::records::Encoder;
