//! The program `kubeonkube`: it reads the command line, starts the other crates, connects them to each other, and serves the
//! console over HTTP. What the console does with clusters is not decided here.

#![recursion_limit = "512"]

// Command line, settings, and the log.
pub mod cli;
pub mod config;
pub mod panics;
pub mod telemetry;

// The commands that end at once.
pub mod air_gapped;
pub mod doctor;
pub mod login;
pub mod state;

// `kubeonkube serve`.
pub mod audit;
mod metrics;
pub mod oidc;
pub mod session;
pub mod startup;
pub mod web;
