//! What the console promises, over the embedded API: real requests, real stores, real news.

extern crate kubeonkube_console as console;

#[path = "claims/access.rs"]
mod access;
#[path = "claims/bad_input.rs"]
mod bad_input;
#[path = "claims/configuration.rs"]
mod configuration;
#[path = "claims/lists.rs"]
mod lists;
#[path = "claims/operations.rs"]
mod operations;
#[path = "claims/preview.rs"]
mod preview;
#[path = "claims/registration.rs"]
mod registration;
#[path = "claims/run_end.rs"]
mod run_end;
#[path = "claims/unregister.rs"]
mod unregister;
#[path = "claims/world.rs"]
mod world;
