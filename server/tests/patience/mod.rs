//! How long tests wait.

use std::time::Duration;

/// How long a test waits for what it expects, before it fails: long enough for a machine that others use, too.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
