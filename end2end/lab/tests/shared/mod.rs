//! The lab that all these tests share.

use lab::Lab;

/// The running lab. The first test boots it, with everything that any of these tests needs.
pub(crate) fn lab() -> Lab {
    Lab::shared(&["--machines", "3", "--meta-nodes", "2", "--releases=1.36"]).unwrap_or_else(|error| panic!("{error}"))
}
