//! What the controller does, over the embedded API and with a kubelet that only pretends.

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
