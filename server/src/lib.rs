//! The program: command line, settings, sign-in, pages, live socket, and the wiring of the rooms. It implements nothing of
//! what the console does; it starts those who do and introduces them to each other.

#![recursion_limit = "512"]

pub mod assets;
pub mod backup;
pub mod banner;
pub mod cli;
pub mod config;
pub mod demo;
mod download;
pub mod forms;
pub mod guard;
pub mod health;
mod kubectl;
mod kubernetes;
mod live;
pub mod login;
pub mod pages;
mod rooms;
pub mod router;
pub mod serve;
pub mod session;
pub mod shutdown;
pub mod telemetry;
