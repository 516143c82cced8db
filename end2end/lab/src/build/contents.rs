//! The images of the lab's own Kubernetes. Nodes import them at boot. Their registry (`lab.test`) doesn't exist, so nothing can
//! be pulled by mistake.

use std::fs;
use std::path::Path;

use crate::build::image::{self, Config};
use crate::build::part::{Built, Part};
use crate::error::{Doing, Error};
use crate::files;
use crate::layout::workspace;

/// The image of a pod's sandbox.
pub(crate) const PAUSE: &str = "lab.test/pause:lab";
pub(crate) const COREDNS: &str = "lab.test/coredns:lab";
/// An image that contains only the `probe` tool.
pub const PROBE: &str = "lab.test/probe:lab";
/// Python, ansible-core, an SSH client and the product's own playbooks, like the image of `deploy/runner/Dockerfile`.
pub const RUNNER: &str = "lab.test/runner:lab";

pub(crate) fn cluster_images(_: &Part, built: &Built, to: &Path) -> Result<(), Error> {
    let (tools, coredns) = (&built["tools"], &built["coredns-1.14.2"]);
    single(&[&tools.join("pause")], &[PAUSE], &to.join("1-pause.tar"))?;
    single(&[&coredns.join("coredns")], &[COREDNS], &to.join("2-coredns.tar"))?;
    single(&[&tools.join("probe")], &[PROBE], &to.join("3-probe.tar"))?;

    let top = to.join("top");
    copy_folder(&workspace().join("deploy/runner/playbooks"), &top.join("kubespray"))?;
    copy(&tools.join("probe"), &top.join("usr/local/bin/probe"))?;
    let layers = vec![
        image::layer(&built["runner-root"].join("root"), &to.join("base.layer"))?,
        image::layer(&top, &to.join("top.layer"))?,
    ];
    files::remove(&top)?;
    let config = Config { folder: "/kubespray", ..Config::default() };
    image::archive(&[RUNNER.to_owned()], layers, &config, &to.join("4-runner.tar")).map(drop)
}

/// Makes an image of statically linked programs. It runs the first one.
pub(crate) fn single(programs: &[&Path], names: &[&str], to: &Path) -> Result<(), Error> {
    let root = to.with_added_extension("root");
    let folder = Path::new("usr/local/bin");
    for program in programs {
        copy(program, &root.join(folder).join(program.file_name().unwrap_or_default()))?;
    }
    base(&root)?;
    let layer = image::layer(&root, &to.with_added_extension("layer"))?;
    files::remove(&root)?;
    let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
    let first = programs.first().and_then(|program| program.file_name()).unwrap_or_default();
    let path = Path::new("/").join(folder).join(first);
    let config = Config { entrypoint: &[&path.to_string_lossy()], folder: "/", ..Config::default() };
    image::archive(&names, vec![layer], &config, to).map(drop)
}

/// Makes the folders and files that programs expect in every root file system.
pub(crate) fn base(root: &Path) -> Result<(), Error> {
    for folder in ["etc", "tmp", "proc", "sys", "dev", "run", "var/lib"] {
        files::make_folder(&root.join(folder))?;
    }
    files::write(&root.join("etc/passwd"), 0o644, "root:x:0:0:root:/:/sbin/nologin\n")
}

pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    if let Some(folder) = to.parent() {
        files::make_folder(folder)?;
    }
    fs::copy(from, to).map(drop).doing(|| format!("copy {} to {}", from.display(), to.display()))
}

pub(crate) fn copy_folder(from: &Path, to: &Path) -> Result<(), Error> {
    // Python writes these beside modules that tests have loaded.
    let is_source = |file: &Path| !file.iter().any(|name| name == "__pycache__");
    for file in files::all_files(from).into_iter().filter(|file| is_source(file)) {
        copy(&file, &to.join(file.strip_prefix(from).unwrap_or(&file)))?;
    }
    Ok(())
}
