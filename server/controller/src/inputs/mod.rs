//! What an operation runs with: its inputs are read from the API, checked, and frozen in a snapshot. The snapshot is the immutable
//! Secret `<operation>-inputs`, which the Job mounts.
//!
//! The order depends on how the operation gets its turn. One that takes the turn itself ([`crate::turn::take`]) reads and checks its
//! inputs first, then writes its turn, then its snapshot. One that has the turn already ([`crate::next::Next::Prepare`]), because the
//! operation before it handed the turn over or because a process stopped, reads and checks its inputs after that.

pub(crate) mod access;
pub(crate) mod difference;
pub(crate) mod evaluate;
pub(crate) mod plan;
pub(crate) mod read;
pub(crate) mod snapshot;
pub(crate) mod validate;
