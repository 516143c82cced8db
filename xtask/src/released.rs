//! The `released` stage: what only a release has. A dev build reads one file of wasm from disk; a release carries its site, cut
//! into parts which only a browser can put together.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{bench, clean_command::root, playwright, site, skipped::Skipped, test};

/// The site is a release's; the program is one of the dev profile that carries it, because linking a release takes minutes.
pub(crate) fn released(skipped: &Skipped) -> anyhow::Result<()> {
    let built = site::build(site::Kind::Release)?;
    bench::first_loads(&built)?;
    let built = test::build_program("kubeonkube/embed-assets")?;
    // Under a name of its own: the other stages' program reads its site from disk.
    let program = root().join("target/released/kubeonkube");
    fs::create_dir_all(root().join("target/released"))?;
    fs::copy(built, &program)?;
    let _away = Away::from(&site::folder())?;
    let files = ["released", "pages-in-parts", "register", "configuration", "submit", "cancel", "failing-runs"];
    playwright::run(skipped, &program, &files, "1")
}

/// A folder that isn't where it was, until this is dropped.
struct Away {
    was: PathBuf,
    is: PathBuf,
}

impl Away {
    fn from(was: &Path) -> anyhow::Result<Self> {
        let is = was.with_added_extension("away");
        if is.exists() {
            fs::remove_dir_all(&is)?;
        }
        fs::rename(was, &is)?;
        Ok(Self { was: was.to_owned(), is })
    }
}

impl Drop for Away {
    fn drop(&mut self) {
        if let Err(error) = fs::rename(&self.is, &self.was) {
            eprintln!("{} stays at {}: {error}", self.was.display(), self.is.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_site_is_away_only_while_a_release_is_tested() {
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
