//! Attacks on the whole program: whose rights its requests to the cluster carry, and what its responses reveal.

mod canaries;
mod cluster;
mod exposure;
mod flood;
mod fuzz;
mod least_rights;
mod metrics;
mod own_token;
mod playbook;
mod secret_forms;
mod secret_results;
mod secret_vars;
mod server;

#[path = "../ansible/mod.rs"]
mod ansible;
#[path = "../panics/mod.rs"]
mod panics;
#[path = "../patience/mod.rs"]
mod patience;
#[path = "../plain_http/mod.rs"]
mod plain_http;
#[path = "../rights/mod.rs"]
mod rights;
#[path = "../skipped/mod.rs"]
mod skipped;
#[path = "../start/mod.rs"]
mod start;
