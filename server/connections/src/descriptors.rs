//! The process's limit of open descriptors: sockets, files and pipes.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The limit before and after [`raise`].
#[derive(Debug, Clone, Copy)]
pub struct Raised {
    /// `None` if there was no limit.
    pub before: Option<u64>,
    pub now: u64,
}

/// Raises the soft limit to the hard one. The usual soft limit of 1,024 exists for programs that use select(2).
pub fn raise() -> Raised {
    let Rlimit { current: before, maximum } = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: maximum, maximum };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::warn!(%error, limit = before, "the limit of open descriptors can't be raised");
    }
    Raised { before, now: getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX) }
}

/// Sets the soft limit to the one that was found before [`raise`]. A run inherits the limits of the server, and some programs close every
/// possible descriptor when they start: with the hard limit of some machines, a billion, that takes minutes.
pub fn restore(before: u64) {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let current = Some(maximum.map_or(before, |maximum| before.min(maximum)));
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current, maximum }) {
        disk::complain(format_args!("kubeonkube: the limit of open descriptors can't be set to {before}: {error}"));
    }
}
