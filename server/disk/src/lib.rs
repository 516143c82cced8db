//! What every part of the server needs that writes into the data directory: files that survive a crash, and the room that is left on
//! the disk.

mod output; // writing to stdout and stderr without a panic
mod room; // is the disk full?
mod save; // files that are written as a whole

pub use output::{complain, print};
pub use room::{FULL, Room, is_full, refuses_writes};
pub use save::{NewFile, remove_leftovers, save};
