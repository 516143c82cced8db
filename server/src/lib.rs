//! The program `kubeonkube`: it reads the command line, starts the other crates, connects them to each other, and serves the
//! console over HTTP. What the console does with clusters is not decided here.

#![recursion_limit = "512"]

// Command line and settings.
pub mod cli;
pub mod config;
pub mod telemetry;

// The commands that end at once.
pub mod backup;
pub mod login;

// `kubeonkube serve`.
pub mod session;
pub mod startup;
pub mod web;
