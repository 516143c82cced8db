//! ansible-core from PyPI in a Debian root file system. `deploy/runner/requirements.txt` pins every wheel by its hash.

use std::path::Path;
use std::process::Command;

use crate::build::debian;
use crate::build::part::{Built, Part};
use crate::error::Error;
use crate::layout::workspace;
use crate::{files, program};

/// The version of Debian 12's Python, for which wheels are installed. pip itself may run with another version.
const PYTHON: &str = "3.11";

/// The wheels of ansible-core, relative to the repository.
pub(crate) const REQUIREMENTS: &str = "deploy/runner/requirements.txt";
/// How wheels are installed, here and in the Dockerfile.
const INSTALL: &[&str] =
    &["-m", "pip", "install", "--no-compile", "--no-deps", "--only-binary=:all:", "--require-hashes"];

/// The root file system of the runner image, in which Jobs run.
pub(crate) fn runner_root(part: &Part, _: &Built, to: &Path) -> Result<(), Error> {
    let root = to.join("root");
    debian::install(part.name, &root)?;
    let library = root.join(format!("usr/local/lib/python{PYTHON}/dist-packages"));
    program::run(
        Command::new("python3")
            .args(INSTALL)
            .args(["--quiet", "--python-version", PYTHON, "--platform", "manylinux2014_x86_64", "--target"])
            .arg(&library)
            .arg("--requirement")
            .arg(workspace().join(REQUIREMENTS)),
    )?;
    for script in files::children(&library.join("bin")) {
        // pip writes the path of its own interpreter into the first line.
        let text = files::read(&script)?;
        let code = text.split_once('\n').map_or("", |(_, code)| code);
        let name = script.file_name().unwrap_or_default();
        files::write(&root.join("usr/local/bin").join(name), 0o755, format!("#!/usr/bin/python3\n{code}"))?;
    }
    files::remove(&library.join("bin"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::dockerfile;

    #[test]
    fn the_dockerfile_installs_the_same_wheels_in_the_same_place() {
        let file = workspace().join(dockerfile::RUNNER);
        let text = files::read(&file).unwrap();
        assert!(text.contains(&format!("COPY {REQUIREMENTS} /requirements.txt\n")));
        assert!(text.contains(&format!(
            "RUN python3 {} --target /packages --requirement /requirements.txt\n",
            INSTALL.join(" ")
        )));
        let library = format!("/usr/local/lib/python{PYTHON}/dist-packages/");
        assert_eq!(
            dockerfile::read(&file).unwrap().from_stages,
            [("/packages/".to_owned(), library), ("/packages/bin/".to_owned(), "/usr/local/bin/".to_owned())]
        );
    }
}
