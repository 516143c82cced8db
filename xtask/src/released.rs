//! The `released` stage: what only a release has. A dev build reads one file of wasm from disk. A release embeds its site, and
//! the wasm is cut into parts that only a browser can put together.

use std::fs;
use std::path::{Path, PathBuf};

use crate::builds::Builds;
use crate::clean_command::root;
use crate::suite::Run;
use crate::{bench, playwright, programs, site};

/// Name of the background build.
const WASM: &str = "release-wasm";

/// Starts compiling the wasm of a release.
pub(crate) fn start_build(builds: &mut Builds) -> anyhow::Result<()> {
    builds.start_at_lowest_priority(WASM, &site::compile(site::Kind::Release))
}

/// Tests the site of a release. The program that embeds it has the dev profile, because linking a release takes minutes.
pub(crate) fn released(run: &mut Run) -> anyhow::Result<()> {
    run.builds.wait(WASM)?;
    let built = site::build(site::Kind::Release)?;
    bench::first_loads(&built)?;
    let built = programs::build_program("kubeonkube/embed-assets")?;
    // A copy: the other stages build a program with the same name that reads its site from disk.
    let program = root().join("target/released/kubeonkube");
    fs::create_dir_all(root().join("target/released"))?;
    fs::copy(built, &program)?;
    // Without the folder, the program can only serve the embedded site.
    let _away = Away::from(&site::folder())?;
    let files =
        ["released", "first-load", "pages-in-parts", "register", "configuration", "submit", "cancel", "failing-runs"];
    playwright::run(run, &program, &files, "1")
}

/// Moves a folder aside until this is dropped.
struct Away {
    original: PathBuf,
    moved: PathBuf,
}

impl Away {
    fn from(original: &Path) -> anyhow::Result<Self> {
        let moved = original.with_added_extension("away");
        if moved.exists() {
            fs::remove_dir_all(&moved)?;
        }
        fs::rename(original, &moved)?;
        Ok(Self { original: original.to_owned(), moved })
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        if let Err(error) = fs::rename(&self.moved, &self.original) {
            eprintln!("can't move {} back to {}: {error}", self.moved.display(), self.original.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_site_folder_returns_after_the_stage() {
        let folder = tempfile::tempdir().unwrap();
        let site = folder.path().join("site");
        fs::create_dir(&site).unwrap();
        fs::write(site.join("manifest.json"), "{}").unwrap();
        let away = Away::from(&site).unwrap();
        assert!(!site.exists());
        drop(away);
        assert!(site.join("manifest.json").exists());
    }
}
