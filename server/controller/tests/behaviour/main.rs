//! Behaviour tests of the controller, with the embedded API and a fake kubelet.
//!
//! Labels such as `k2_` in test names stand for defects of the reference controller; `docs/defects-of-the-reference.md` explains them.

mod budget;
mod cancelling;
mod children;
mod claims;
mod contention;
mod crashes;
mod freshness;
mod kubelet;
mod masking;
mod races;
mod references;
mod refusals;
mod relay;
mod restoring;
mod retention;
mod samples;
mod turns;
mod world;
