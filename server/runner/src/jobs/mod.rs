//! The Job controller: creates, stops and counts the pods of Jobs.

mod controller; // carries out the plans
mod plan; // pure: decides what to do next for one Job

pub(crate) use self::controller::{release_if_orphaned, run};
