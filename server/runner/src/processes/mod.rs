//! Which processes belong to a run: by identity where the number is known, otherwise by a mark in the environment.

mod identity; // a process, safe against reuse of its number
mod marked; // all processes of a run, found by their mark

pub(crate) use self::identity::Identity;
pub(crate) use self::marked::{MARK, kill_marked};
