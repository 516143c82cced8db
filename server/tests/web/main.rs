//! The web server of the binary over a fake backend: sign-in, origins, headers, forms, the live socket.

mod backend;
mod downloads;
mod forms;
mod listening;
mod live;
mod pages;
mod promises;
mod public_url;
mod rights;
mod security;
mod session_end;
mod sessions;
mod world;
