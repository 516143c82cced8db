//! Programs that tests use and a machine may lack.

use std::env;
use std::path::PathBuf;

/// The program that the environment variable `variable` names, otherwise the one called `name` on PATH.
pub(crate) fn tool(name: &str, variable: &str) -> Option<PathBuf> {
    let on_path = || env::split_paths(&env::var_os("PATH")?).map(|dir| dir.join(name)).find(|file| file.is_file());
    env::var_os(variable).map(PathBuf::from).or_else(on_path)
}
