//! Known causes of failures, recognised by what ssh, sudo, apt, kubeadm, ansible and other programs print.
//!
//! [`table`] lists the causes. `end2end/lab/tests/causes` makes the programs fail, and `produced.json` has what they printed. A new cause
//! is one entry in the table, and a task there or a message in `tests.rs`. `field_tests.rs` measures how often the causes are right.

mod table;

use super::reason::Next;

/// A cause for which the page knows the next step.
#[derive(Debug, PartialEq, Eq)]
pub struct Cause {
    /// Its name in tests.
    pub key: &'static str,
    /// What the messages of this cause contain; one sign is enough. The parts of a sign, separated by `…`, are in one line, in
    /// this order.
    signs: &'static [&'static str],
    /// Where the signs are from.
    pub proof: Proof,
    /// What it means and what to do.
    pub sentence: &'static str,
    pub next: Next,
}

/// Where the signs of a cause are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// A test of the lab makes the programs fail for this cause, and checks that their messages tell it.
    Produced,
    /// From the sources of the programs and from reports. No test produces this cause.
    Quoted,
}

/// The key of the cause that is shown before all others, because the connection may be intercepted.
pub const HOST_KEY_CHANGED: &str = "host-key-changed";

impl Cause {
    /// The cause that a message tells, if it is a known one.
    #[must_use]
    pub fn of(message: &str) -> Option<&'static Self> {
        let tells = |sign: &str| message.lines().any(|line| contains(line, sign));
        table::CAUSES.iter().find(|cause| cause.signs.iter().any(|sign| tells(sign)))
    }
}

/// Whether a line contains the parts of a sign in their order.
fn contains(line: &str, sign: &str) -> bool {
    let mut rest = line;
    sign.split('…').all(|part| match rest.split_once(part) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

#[cfg(test)]
mod field_tests;
#[cfg(test)]
mod tests;
