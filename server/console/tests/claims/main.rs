//! Tests the console with the embedded API, real stores and real subscriptions.

extern crate kubeonkube_console as console;

mod access;
mod bad_input;
mod configuration;
mod creation;
#[path = "../../../tests/embedded_api/mod.rs"]
mod embedded_api;
mod engines;
mod kubeconfigs;
mod lists;
mod nodes;
mod operations;
#[path = "../../../tests/patience/mod.rs"]
mod patience;
mod preview;
mod private_key;
mod registration;
mod run_end;
mod secret_variables;
mod sources;
mod unregister;
mod upgrades;
mod warnings;
mod watch;
mod world;
