//! The behaviour that the embedded API promises to kube-rs and kubectl.

#![expect(clippy::needless_pass_by_value, reason = "tests pass json! literals by value")]

#[path = "../../tests/skipped/mod.rs"]
mod skipped;
#[path = "api/world.rs"]
mod world;

#[path = "api/applies.rs"]
mod applies;
#[path = "api/clients.rs"]
mod clients;
#[path = "api/collecting.rs"]
mod collecting;
#[path = "api/creating.rs"]
mod creating;
#[path = "api/deleting.rs"]
mod deleting;
#[path = "api/durability.rs"]
mod durability;
#[path = "api/kubectl.rs"]
mod kubectl;
#[path = "api/listing.rs"]
mod listing;
#[path = "api/logs.rs"]
mod logs;
#[path = "api/updating.rs"]
mod updating;
#[path = "api/validating.rs"]
mod validating;
#[path = "api/watching.rs"]
mod watching;
#[path = "api/wire.rs"]
mod wire;
