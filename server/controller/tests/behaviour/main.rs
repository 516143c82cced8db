//! Behaviour tests of the controller, with the embedded API and a fake kubelet. The controller has the rights of
//! deploy/kubernetes/rbac.yaml.
//!
//! Labels such as `k2_` in test names stand for defects of the reference controller; `docs/defects-of-the-reference.md` explains them.

mod budget;
mod cancelling;
mod children;
mod claims;
mod contention;
mod crashes;
#[path = "../../../tests/embedded_api/mod.rs"]
mod embedded_api;
mod forged;
mod freshness;
mod full_disk;
mod joining;
mod kubelet;
mod masking;
#[path = "../../../tests/patience/mod.rs"]
mod patience;
mod races;
mod references;
mod refusals;
mod relay;
mod restoring;
mod retention;
#[path = "../../../tests/rights/mod.rs"]
mod rights;
mod samples;
mod secret_log;
mod secret_results;
mod signatures;
mod standing;
mod turns;
mod world;
