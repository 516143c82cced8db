//! The web server of the binary over a fake backend: sign-in, origins, headers, forms, the live socket.

mod audit;
mod backend;
mod compression;
mod downloads;
mod forms;
mod full_disk;
mod listening;
mod live;
mod oidc;
mod pages;
mod promises;
mod public_url;
mod rights;
mod security;
mod session_end;
mod sessions;
mod world;

#[path = "../patience/mod.rs"]
mod patience;
#[path = "../start/mod.rs"]
mod start;
