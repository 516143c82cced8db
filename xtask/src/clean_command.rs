//! Child processes with the settings of the workspace, whatever environment xtask was started in.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").to_owned()
}

/// `program`, run in the root, without the variables that cargo or an outer build sets.
///
/// Flags in the environment would replace those of `.cargo/config.toml` and rebuild everything. `cargo run` also sets
/// `CARGO_MANIFEST_*` and `CARGO_PKG_*` for xtask. ring's build script reads them: it would rebuild ring and all crates that
/// depend on it each time `cargo test` and xtask take turns.
pub(crate) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_TARGET_DIR", "CARGO_BUILD_TARGET"] {
        command.env_remove(name);
    }
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CARGO_MANIFEST_") || name.starts_with("CARGO_PKG_")) {
            command.env_remove(name);
        }
    }
    command
}

/// Runs the command to its end.
///
/// # Errors
/// If it can't be started or fails; the error names the command line.
pub(crate) fn check(command: &mut Command) -> anyhow::Result<()> {
    let line = line(command);
    let status = command.status().with_context(|| format!("can't start {line}"))?;
    if !status.success() {
        bail!("{line}: {status}");
    }
    Ok(())
}

/// The standard output of the command, or `None` if it fails.
pub(crate) fn output(command: &mut Command) -> Option<String> {
    let output = command.stderr(std::process::Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn line(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|a| a.to_string_lossy().into_owned()));
    words.join(" ")
}
