//! What the console promises, over the embedded API: real requests, real stores, real news.

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
