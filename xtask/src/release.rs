//! `cargo xtask release`: one self-contained binary.

use crate::clean_command::{check, command, root};
use crate::{doctor, site};

pub(crate) fn release() -> anyhow::Result<()> {
    doctor::require(doctor::For::Run)?;
    let built = site::build(site::Kind::Release)?;
    check(command("cargo").args(["build", "--release", "--package", "kubeonkube"]))?;
    let binary = root().join("target/release/kubeonkube");
    let size = std::fs::metadata(&binary)?.len();
    println!(
        "{} ({:.1} MB; first load of /clusters {:.0} KB Brotli without the HTML)",
        binary.display(),
        size as f64 / 1e6,
        built.first_load_kb("clusters")
    );
    Ok(())
}
