//! The lab of these tests: booted once for all of them.

use lab::Lab;

/// The running lab; whoever comes first boots it, with all that any of these tests needs.
pub(crate) fn lab() -> Lab {
    Lab::shared(&["--machines", "3", "--meta-nodes", "2", "--releases=1.34"]).unwrap_or_else(|error| panic!("{error}"))
}
