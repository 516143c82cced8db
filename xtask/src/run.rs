//! `cargo xtask run`: build everything, serve the console.

use crate::{
    clean_command::{check, command, root},
    doctor, site,
};

pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    doctor::require(doctor::For::Run)?;
    site::build(site::Kind::Dev)?;
    check(command("cargo").args(["build", "--package", "kubeonkube"]))?;
    let mut serve = command(&root().join("target/debug/kubeonkube").to_string_lossy());
    serve.arg("serve").args(arguments);
    // The server replaces this process, so that Ctrl-C and signals reach it directly.
    let error = std::os::unix::process::CommandExt::exec(&mut serve);
    Err(error.into())
}
