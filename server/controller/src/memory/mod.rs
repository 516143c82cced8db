//! What one process remembers besides its stores. Losing it costs requests, never correctness.

pub(crate) mod checks;
pub(crate) mod ended_pods;
pub(crate) mod expectations;
pub(crate) mod first_tries;
pub(crate) mod run_secrets;
pub(crate) mod used_by;
