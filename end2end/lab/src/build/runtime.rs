//! containerd and runc for machines, with the names that the published files have. The lab serves them at [`crate::addresses::ARTIFACTS`].
//!
//! ```text
//! containerd/v2.3.4/containerd-static-2.3.4-linux-amd64.tar.gz  with a .sha256
//! runc/v1.4.3/runc.amd64                                        with a .sha256
//! ```

use std::path::Path;
use std::process::Command;

use crate::build::go::required;
use crate::build::part::{Built, Part};
use crate::build::{image, release};
use crate::error::Error;
use crate::layout::parts;
use crate::{files, program};

/// The version of the module `name` that `part` pins, without its `v`.
fn version(part: &str, name: &str) -> Result<String, Error> {
    let file = parts().join(part).join("go.mod");
    let module = files::read(&file)?;
    required(&module, name)
        .map(|version| version.trim_start_matches('v').to_owned())
        .ok_or_else(|| Error::Malformed { file, why: format!("it requires no {name}") })
}

pub(crate) fn assemble(_: &Part, built: &Built, to: &Path) -> Result<(), Error> {
    let containerd = version("containerd", "github.com/containerd/containerd/v2")?;
    let runc = version("runc", "github.com/opencontainers/runc")?;
    let architecture = release::architecture();
    let root = to.join("root");
    for name in ["containerd", "containerd-shim-runc-v2", "ctr"] {
        release::hard_link(&built["containerd"].join(name), &root.join("bin").join(name))?;
    }
    let archive =
        to.join(format!("containerd/v{containerd}/containerd-static-{containerd}-linux-{architecture}.tar.gz"));
    files::make_folder(archive.parent().unwrap_or(to))?;
    // At the lowest level: only the lab reads it.
    program::run(
        Command::new("tar")
            .args([
                "--create",
                "--use-compress-program=gzip -1 --no-name",
                "--sort=name",
                "--owner=0",
                "--group=0",
                "--file",
            ])
            .arg(&archive)
            .arg("--directory")
            .arg(&root)
            .arg("bin"),
    )?;
    files::remove(&root)?;
    let program = to.join(format!("runc/v{runc}/runc.{architecture}"));
    release::hard_link(&built["runc"].join("runc"), &program)?;
    for file in [archive, program] {
        files::write(&file.with_added_extension("sha256"), 0o644, image::sha256(&file)?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::workspace;

    #[test]
    fn the_lab_has_the_versions_of_the_catalogue() {
        let catalogue = files::read(&workspace().join("deploy/runner/playbooks/versions.json")).unwrap();
        let catalogue: serde_json::Value = serde_json::from_str(&catalogue).unwrap();
        for (part, module) in
            [("containerd", "github.com/containerd/containerd/v2"), ("runc", "github.com/opencontainers/runc")]
        {
            assert_eq!(catalogue["kubeonkube"][part]["version"], version(part, module).unwrap(), "{part}");
        }
    }
}
