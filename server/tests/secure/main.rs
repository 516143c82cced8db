//! The whole program, looked at by somebody who wants what is not theirs: whose rights requests carry, and what answers give away.

mod cluster;
mod exposure;
mod own_token;
mod server;

#[path = "../plain_http/mod.rs"]
mod plain_http;
#[path = "../skipped/mod.rs"]
mod skipped;
