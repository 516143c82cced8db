//! Tests that a stage skipped because a tool is missing.
//!
//! Test harnesses hide the output of a passing test. So a test that skips itself appends the line "test: what is missing" to
//! the file that an environment variable names. xtask prints these lines when the stage ends.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;

/// The variable that names the file. Written to by `server/tests/skipped`, `deploy/runner/tests/staged_run.py`, `end2end/fixtures/skipped.ts`.
const FILE: &str = "KUBEONKUBE_TEST_SKIPPED";

/// The tests that a stage skipped.
pub(crate) struct Skipped {
    file: PathBuf,
}

impl Skipped {
    /// Starts an empty record for a stage.
    pub(crate) fn none(folder: &Path, stage: &str) -> anyhow::Result<Self> {
        fs::create_dir_all(folder)?;
        let file = folder.join(stage);
        fs::write(&file, "")?;
        Ok(Self { file })
    }

    /// The variable that tells tests where to report skipped ones, with its value.
    pub(crate) fn variable(&self) -> (&'static str, String) {
        (FILE, self.file.to_string_lossy().into_owned())
    }

    /// Records a test that xtask itself skips.
    pub(crate) fn note(&self, test: &str, missing: &str) -> anyhow::Result<()> {
        Ok(writeln!(fs::File::options().append(true).open(&self.file)?, "{test}: {missing}")?)
    }

    /// Prints the skipped tests. On CI they are a failure: a CI run has to prove everything.
    pub(crate) fn print(&self, on_ci: bool) -> anyhow::Result<()> {
        let noted = fs::read_to_string(&self.file)?;
        let mut lines: Vec<_> = noted.lines().collect();
        lines.sort_unstable();
        lines.dedup();
        for line in &lines {
            eprintln!("skipped: {line}");
        }
        if on_ci && !lines.is_empty() {
            bail!("{} skipped, where CI is set", lines.len());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_skipped_test_fails_its_stage_only_on_ci() {
        let folder = tempfile::tempdir().unwrap();
        let skipped = Skipped::none(folder.path(), "rust").unwrap();
        skipped.print(true).unwrap();
        let mut test = Command::new("sh");
        test.args(["-c", "echo 'kubectl_reads: no kubectl' >> $KUBEONKUBE_TEST_SKIPPED"]).envs([skipped.variable()]);
        assert!(test.status().unwrap().success());
        skipped.note("lab", "it needs root").unwrap();
        skipped.print(false).unwrap();
        assert_eq!(skipped.print(true).unwrap_err().to_string(), "2 skipped, where CI is set");
        Skipped::none(folder.path(), "rust").unwrap().print(true).unwrap();
    }
}
