//! The ansible that tests run: the version of the runner image, in a virtual environment below `target/`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::Context;

use crate::clean_command::{check, command, output, root};

/// The folder with ansible's programs. Creates the environment if it is missing or was made with another Python.
pub(crate) fn ansible() -> anyhow::Result<String> {
    let folder = root().join("target/tools/ansible");
    let python = python()?;
    let made_with = fs::canonicalize(folder.join("bin/python3")).ok();
    if made_with.as_deref() != Some(Path::new(&python)) || !folder.join("bin/ansible-playbook").exists() {
        let image = fs::read_to_string(root().join("deploy/runner/Dockerfile"))?;
        let pinned = image
            .split_whitespace()
            .find(|word| word.starts_with("ansible-core=="))
            .context("the image pins ansible-core")?;
        check(command(&python).args(["-m", "venv", "--clear"]).arg(&folder))?;
        check(command(&folder.join("bin/pip").to_string_lossy()).args(["install", "--quiet", pinned]))?;
    }
    Ok(folder.join("bin").to_string_lossy().into_owned())
}

/// Path of the Python for the environment. Some tests run ansible as an unprivileged user, so a Python that all users may
/// execute is preferred. A version manager's Python often lies below root's home, where others can't reach it.
fn python() -> anyhow::Result<String> {
    const FILE: &str = "import venv, ensurepip, os, sys; print(os.path.realpath(sys.executable))";
    let files: Vec<String> = ["python3", "/usr/bin/python3"]
        .iter()
        .filter_map(|python| output(command(python).args(["-c", FILE])))
        .map(|file| file.trim().to_owned())
        .collect();
    let for_all = files.iter().find(|file| others_may_run(Path::new(file)));
    for_all.or(files.first()).cloned().context("Python 3 with venv is missing")
}

/// Whether all users may execute the file and enter the folders above it.
fn others_may_run(file: &Path) -> bool {
    file.ancestors().all(|path| fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o001 != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_a_closed_folder_is_not_for_others() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("python3");
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        let open = |mode| fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
        open(0o711);
        assert!(others_may_run(&file));
        open(0o700);
        assert!(!others_may_run(&file));
    }
}
