//! Writing to stdout and stderr without a panic. `println!` and `eprintln!` panic when the write fails, and often both lead into a file
//! on the disk that is full.

use std::fmt::Display;
use std::io::{self, Write};

/// Writes a line to stderr. If that fails, the line is dropped: there is no other place to report it.
pub fn complain(line: impl Display) {
    // One write, so that the lines of several threads don't mix.
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// Writes `text` to stdout.
pub fn print(text: impl Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    write!(out, "{text}")?;
    out.flush()
}
