//! Attacks on the whole program: whose rights its requests to the cluster carry, and what its responses reveal.

mod cluster;
mod exposure;
mod own_token;
mod server;

#[path = "../plain_http/mod.rs"]
mod plain_http;
#[path = "../skipped/mod.rs"]
mod skipped;
