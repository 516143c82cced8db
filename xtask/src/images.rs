//! `cargo xtask images`: the images of the server and of operations, as OCI archives, without a container engine.
//!
//! The lab's crate builds them, because its pods use the same roots (`end2end/lab/src/build/product.rs`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context, bail};

use crate::clean_command::{check, command, root};
use crate::lab::Lab;
use crate::release;

/// The registry in the names of the images, as in deploy/kubernetes/deployment.yaml.
const REGISTRY: &str = "ghcr.io/clay-wangzhi";
/// The largest archive of the server, in bytes.
const LARGEST_SERVER: u64 = 40_000_000;

/// Builds both images into target/images. With `check`, builds them a second time with freshly installed packages and compares the digests.
pub(crate) fn images(registry: Option<&str>, is_checked: bool) -> anyhow::Result<()> {
    release::release()?;
    let lab = Lab::build(false)?;
    let to = root().join("target/images");
    let release = Order {
        to: &to,
        program: &root().join("target/release/kubeonkube"),
        further: &[],
        registry: registry.unwrap_or(REGISTRY),
        tag: concat!("v", env!("CARGO_PKG_VERSION")),
    };
    let images = build(&lab, &release, &[])?;
    print!("{images}");
    let size = fs::metadata(to.join("kubeonkube.tar"))?.len();
    if size > LARGEST_SERVER {
        bail!(
            "the image of the server has {:.1} MB. It may have {:.0} MB.",
            size as f64 / 1e6,
            LARGEST_SERVER as f64 / 1e6
        );
    }
    if is_checked {
        let again = to.join("again");
        let second = build(&lab, &Order { to: &again, ..release }, &["--fresh"])?;
        let (first, second) = (digests(&images), digests(&second));
        if first.len() != 2 || first != second {
            bail!("built twice, the images have the digests {first:?} and {second:?}");
        }
        fs::remove_dir_all(again)?;
        println!("Built twice, also with freshly installed packages, the digests are the same.");
    }
    Ok(())
}

/// The digests in what [`build`] returns.
fn digests(said: &str) -> Vec<&str> {
    said.split_whitespace().filter(|word| word.starts_with("sha256:")).collect()
}

/// Both images for the lab, with the program of the dev profile and the site that it reads from disk: linking a release takes minutes.
/// Returns the folder of the archives.
pub(crate) fn for_lab(lab: &Lab, program: &Path) -> anyhow::Result<PathBuf> {
    let started = Instant::now();
    let to = root().join("target/lab-images");
    fs::create_dir_all(&to)?;
    // Without its symbols, a program of the dev profile is a fifth as large.
    let stripped = to.join("kubeonkube");
    check(command("strip").arg("-o").arg(&stripped).arg(program))?;
    // Such a program finds its site by a path through the folder of its crate, so that folder must exist.
    let further = [root().join("target/site"), root().join("server/Cargo.toml")];
    let order = Order { to: &to, program: &stripped, further: &further, registry: "lab.test", tag: "lab" };
    print!("{}", build(lab, &order, &[])?);
    println!("images for the lab: {:.1} s", started.elapsed().as_secs_f64());
    Ok(to)
}

#[derive(Clone, Copy)]
struct Order<'a> {
    to: &'a Path,
    program: &'a Path,
    /// Further files of the server's image, under the same paths as on this computer.
    further: &'a [PathBuf],
    registry: &'a str,
    tag: &'a str,
}

/// Runs `kubeonkube-lab images`. Returns what it prints: a line for each image with its name, digest, size and archive.
fn build(lab: &Lab, order: &Order<'_>, options: &[&str]) -> anyhow::Result<String> {
    let mut build = lab.command(&["images"]);
    build.args(options).arg("--to").arg(order.to).arg("--program").arg(order.program);
    build.args(["--registry", order.registry, "--tag", order.tag]);
    for file in order.further {
        let file = file.to_string_lossy();
        build.arg("--further").arg(format!("{file}:{file}"));
    }
    let done = build.stderr(Stdio::inherit()).output().context("can't start the lab's program")?;
    if !done.status.success() {
        bail!("lab images: {}", done.status);
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}
