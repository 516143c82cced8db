//! `cargo xtask run`: builds everything and serves the console.

use std::os::unix::process::CommandExt;

use crate::builds::Builds;
use crate::clean_command::command;
use crate::{doctor, programs, site};

/// Name of the background build.
const WASM: &str = "wasm";

pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    doctor::require(doctor::For::Run)?;
    // Both builds at once: each of them ends with minutes on one processor. The wasm takes longer, so it has the same priority.
    let mut builds = Builds::default();
    builds.start(WASM, site::compile(site::Kind::Dev))?;
    let program = programs::build_program("")?;
    builds.wait(WASM)?;
    site::build(site::Kind::Dev)?;
    let mut serve = command(&program.to_string_lossy());
    serve.arg("serve").args(arguments);
    // Also for contributors who work in a pod. A flag for another Kubernetes API takes precedence.
    serve.env("KUBEONKUBE_MODE", "standalone");
    // The server replaces this process, so that Ctrl-C and signals reach it directly.
    Err(serve.exec().into())
}
