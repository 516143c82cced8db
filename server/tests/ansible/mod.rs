//! The ansible installation that tests use.

use std::env;
use std::path::PathBuf;

/// The `bin` folder of the installation: `$KUBEONKUBE_TEST_ANSIBLE`, or `$KUBEONKUBE_ANSIBLE`.
pub(crate) fn folder() -> Option<PathBuf> {
    let given = ["KUBEONKUBE_TEST_ANSIBLE", "KUBEONKUBE_ANSIBLE"].iter().find_map(env::var_os);
    given.filter(|value| !value.is_empty()).map(PathBuf::from)
}
