//! The console's own web layer over a fake backend: sign-in, origins, headers, forms, the live socket.

mod backend;
mod downloads;
mod forms;
mod live;
mod pages;
mod security;
mod sessions;
mod world;
