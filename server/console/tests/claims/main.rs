//! Tests the console with the embedded API, real stores and real subscriptions.

extern crate kubeonkube_console as console;

mod access;
mod bad_input;
mod configuration;
mod lists;
mod operations;
mod preview;
mod registration;
mod run_end;
mod unregister;
mod world;
