//! The ansible that tests run, what checks its playbooks, and Python's client of Kubernetes, in virtual environments below `target/`.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::Context;

use crate::clean_command::{check, command, output, root};

/// The folder with the programs of the runner image's ansible.
pub(crate) fn ansible() -> anyhow::Result<String> {
    let image = fs::read_to_string(root().join("deploy/runner/requirements.txt"))?;
    let pinned = image
        .split_whitespace()
        .find(|word| word.starts_with("ansible-core=="))
        .context("the image pins ansible-core")?;
    environment("ansible", "ansible-playbook", &[pinned.to_owned()])
}

/// The folder with yamllint and ansible-lint.
pub(crate) fn linters() -> anyhow::Result<String> {
    environment("linters", "ansible-lint", &pinned("deploy/runner/tests/linters.txt")?)
}

/// A Python with the client of Kubernetes.
pub(crate) fn python_client() -> anyhow::Result<String> {
    let folder = environment("python-client", "python3", &pinned("server/standalone/tests/python/requirements.txt")?)?;
    Ok(format!("{folder}/python3"))
}

/// The packages that a file names, one per line.
fn pinned(file: &str) -> anyhow::Result<Vec<String>> {
    let text = fs::read_to_string(root().join(file))?;
    Ok(text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect())
}

/// Runs yamllint and ansible-lint on the playbooks. Any finding is an error.
pub(crate) fn lint_playbooks() -> anyhow::Result<()> {
    let folder = root().join("deploy/runner");
    let programs = linters()?;
    let program = |name: &str| command(&format!("{programs}/{name}"));
    check(
        program("yamllint").args(["--strict", "--config-file", "tests/.yamllint", "playbooks"]).current_dir(&folder),
    )?;
    let path = env::var("PATH").unwrap_or_default();
    check(
        program("ansible-lint")
            // ansible-lint runs ansible's programs and yamllint. Offline: the playbooks need no collection.
            .env("PATH", format!("{programs}:{path}"))
            .env("ANSIBLE_ROLES_PATH", folder.join("playbooks/roles"))
            .args(["--offline", "-q", "--strict", "--config-file", "tests/.ansible-lint"])
            // It looks for files only beside its configuration, so a folder elsewhere would be checked without a single file.
            .args(yaml_files(&folder.join("playbooks"))?)
            .current_dir(&folder),
    )
}

/// The YAML files below a folder.
fn yaml_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(yaml_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "yml") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The folder with the programs of a virtual environment with `packages`. Creates it if `program` is missing in it, or if it was made
/// with another Python.
fn environment(name: &str, program: &str, packages: &[String]) -> anyhow::Result<String> {
    let folder = root().join("target/tools").join(name);
    let python = python()?;
    let made_with = fs::canonicalize(folder.join("bin/python3")).ok();
    let made_for = folder.join("packages");
    let wanted = packages.join(" ");
    let is_same = fs::read_to_string(&made_for).is_ok_and(|made| made == wanted);
    if made_with.as_deref() != Some(Path::new(&python)) || !is_same || !folder.join("bin").join(program).exists() {
        check(command(&python).args(["-m", "venv", "--clear"]).arg(&folder))?;
        let pip = folder.join("bin/pip");
        check(command(&pip.to_string_lossy()).args(["install", "--quiet"]).args(packages).current_dir(root()))?;
        fs::write(made_for, wanted)?;
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
    fn packages_are_pinned() {
        for file in ["deploy/runner/tests/linters.txt", "server/standalone/tests/python/requirements.txt"] {
            let packages = pinned(file).unwrap();
            assert!(!packages.is_empty() && packages.iter().all(|package| package.contains("==")), "{packages:?}");
        }
    }

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
