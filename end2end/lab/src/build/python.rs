//! ansible-core from PyPI, every wheel by its hash (`parts/ansible/requirements.txt`), inside a Debian root.

use std::{path::Path, process::Command};

use crate::{
    build::{debian, parts::Part, workshop::Built},
    error::Error,
    files,
    layout::parts,
    program,
};

/// Debian 12's Python, which runs what is installed here; whichever Python runs pip doesn't matter.
const PYTHON: &str = "3.11";

/// The root of the image in which Jobs run.
pub(crate) fn runner_root(part: &Part, _: &Built, to: &Path) -> Result<(), Error> {
    let root = to.join("root");
    debian::install(part.name, &root)?;
    let library = root.join(format!("usr/local/lib/python{PYTHON}/dist-packages"));
    program::run(
        Command::new("python3")
            .args(["-m", "pip", "install", "--quiet", "--no-compile", "--no-deps", "--only-binary=:all:"])
            .args(["--require-hashes", "--python-version", PYTHON, "--platform", "manylinux2014_x86_64", "--target"])
            .arg(&library)
            .arg("--requirement")
            .arg(parts().join("ansible/requirements.txt")),
    )?;
    for script in files::children(&library.join("bin")) {
        // pip writes its own interpreter into the first line.
        let text = files::read(&script)?;
        let code = text.split_once('\n').map_or("", |(_, code)| code);
        let name = script.file_name().unwrap_or_default();
        files::write(&root.join("usr/local/bin").join(name), 0o755, format!("#!/usr/bin/python3\n{code}"))?;
    }
    files::remove(&library.join("bin"))
}
