//! What a part is. The table of all parts is in [`parts`](super::parts).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// One part.
pub(crate) struct Part {
    pub(crate) name: &'static str,
    /// The files and folders it is made from, relative to the repository. Their content is part of its key.
    pub(crate) files: &'static [&'static str],
    /// Other parts it is made from.
    pub(crate) needs: &'static [&'static str],
    /// Increase it to rebuild the part after a change that isn't in its files.
    pub(crate) revision: u32,
    /// Parts of different lanes are built at the same time.
    pub(crate) lane: Lane,
    pub(crate) make: fn(&Part, &Built, &Path) -> Result<(), Error>,
}

/// What building a part mainly uses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// The Go compiler: processors.
    Compile,
    /// Debian packages and Python wheels: network and disk.
    Install,
}

/// The folders of built parts, by the part's name.
pub(crate) type Built = BTreeMap<&'static str, PathBuf>;

/// The file with the version of the Go toolchain that compiles all Go programs.
pub(crate) const GO_TOOLCHAIN: &str = "end2end/lab/parts/go-toolchain.txt";
