//! What our playbooks will create from an inventory and its variables, and why they would refuse it. Mirrors the playbooks' role `variables`.

mod network;
mod problems;
mod settings;

pub use network::Network;
pub use problems::{PlanProblem, problems};
pub use settings::{Settings, default_of};
