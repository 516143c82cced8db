//! What a change touches, for `cargo xtask test --quick`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::Context;

use crate::clean_command::{command, output, root};

/// A change that isn't pushed yet.
pub(crate) struct Change {
    /// Changed, new and deleted files, relative to the workspace.
    files: Vec<String>,
}

impl Change {
    /// What differs from the upstream branch. Without one, or if nothing differs, also what the last commit changed.
    pub(crate) fn of_this_branch() -> anyhow::Result<Self> {
        let git = |words: &[&str]| output(command("git").args(words));
        let since = |base: &str| -> anyhow::Result<Vec<String>> {
            let tracked = git(&["diff", "--name-only", base]).context("git can't tell what has changed")?;
            let new = git(&["ls-files", "--others", "--exclude-standard"]).unwrap_or_default();
            Ok(tracked.lines().chain(new.lines()).map(str::to_owned).collect())
        };
        let base = git(&["merge-base", "HEAD", "@{upstream}"]);
        let files = base.map_or_else(|| Ok(Vec::new()), |base| since(base.trim()))?;
        Ok(Self { files: if files.is_empty() { since("HEAD~1")? } else { files } })
    }

    /// Whether a file below the folder is changed.
    pub(crate) fn touches(&self, folder: &str) -> bool {
        self.files.iter().any(|file| Path::new(file).starts_with(folder))
    }

    /// nextest's filter expression for the tests of the changed crates, and for those of all pages.
    pub(crate) fn filter(&self) -> anyhow::Result<String> {
        let crates: BTreeSet<_> = self.files.iter().filter_map(|file| crate_of(Path::new(file))).collect();
        let mut terms = vec!["binary_id(kubeonkube::web)".to_owned()];
        for manifest in crates {
            let manifest = fs::read_to_string(root().join(manifest))?;
            let name = manifest.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
            terms.extend(name.map(|name| format!("package({name})")));
        }
        Ok(terms.join(" | "))
    }

    /// The changed browser tests: names such as `log.spec.ts`.
    pub(crate) fn browser_tests(&self) -> Vec<&str> {
        let tests = self.files.iter().filter_map(|file| file.strip_prefix("end2end/tests/"));
        tests.filter(|name| root().join("end2end/tests").join(name).exists()).collect()
    }
}

/// The manifest of the crate that the file belongs to.
fn crate_of(file: &Path) -> Option<String> {
    let manifests = file.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    let manifest = manifests.map(|folder| folder.join("Cargo.toml")).find(|manifest| root().join(manifest).exists());
    manifest.map(|manifest| manifest.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_names_changed_crates_and_all_pages() {
        let files = ["server/masking/src/known.rs", "server/masking/tests/gone.rs", "server/src/cli.rs", "README.md"];
        let change = Change { files: files.map(str::to_owned).to_vec() };
        let expected = "binary_id(kubeonkube::web) | package(kubeonkube) | package(kubeonkube-masking)";
        let mut terms: Vec<_> = change.filter().unwrap().split(" | ").map(str::to_owned).collect();
        terms.sort_unstable();
        assert_eq!(terms.join(" | "), expected);
        assert!(change.touches("server/masking") && !change.touches("server/mask") && !change.touches("deploy"));
    }

    #[test]
    fn only_browser_tests_that_exist_are_run() {
        let files = ["end2end/tests/submit.spec.ts", "end2end/tests/deleted.spec.ts", "end2end/fixtures/kube.ts"];
        assert_eq!(Change { files: files.map(str::to_owned).to_vec() }.browser_tests(), ["submit.spec.ts"]);
    }
}
