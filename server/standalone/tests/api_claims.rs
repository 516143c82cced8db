//! The behaviour that the embedded API promises to kube-rs and kubectl.

#![expect(clippy::needless_pass_by_value, reason = "tests pass json! literals by value")]

extern crate kubeonkube_standalone as standalone;

#[path = "../../tests/embedded_api/mod.rs"]
mod embedded_api;
#[path = "../../tests/patience/mod.rs"]
mod patience;
#[path = "../../tests/skipped/mod.rs"]
mod skipped;
#[path = "../../tests/small_disk/mod.rs"]
mod small_disk;
#[path = "../../tests/tool/mod.rs"]
mod tool;
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
#[path = "api/discovery.rs"]
mod discovery;
#[path = "api/durability.rs"]
mod durability;
#[path = "api/full_disk.rs"]
mod full_disk;
#[path = "api/kubectl.rs"]
mod kubectl;
#[path = "api/limits.rs"]
mod limits;
#[path = "api/listing.rs"]
mod listing;
#[path = "api/logs.rs"]
mod logs;
#[path = "api/python.rs"]
mod python;
#[path = "api/updating.rs"]
mod updating;
#[path = "api/validating.rs"]
mod validating;
#[path = "api/watching.rs"]
mod watching;
#[path = "api/wire.rs"]
mod wire;
