//! What a stage didn't run for want of a tool. Test harnesses keep what a passing test says to themselves, so whoever skips
//! appends a line, "test: what is missing", to the file that the environment names; it is told when the stage ends.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::bail;

/// Names the file to those who skip: `server/tests/skipped`, `deploy/runner/tests/staged_run.py`, `end2end/fixtures/skipped.ts`.
const FILE: &str = "KUBEONKUBE_TEST_SKIPPED";

/// The tests that a stage skipped.
pub(crate) struct Skipped {
    file: PathBuf,
}

impl Skipped {
    /// None yet.
    pub(crate) fn none(folder: &Path, stage: &str) -> anyhow::Result<Self> {
        fs::create_dir_all(folder)?;
        let file = folder.join(stage);
        fs::write(&file, "")?;
        Ok(Self { file })
    }

    /// Lets the tests that `command` runs be heard.
    pub(crate) fn heard<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env(FILE, &self.file)
    }

    /// Notes one that xtask itself can't run.
    pub(crate) fn note(&self, test: &str, missing: &str) -> anyhow::Result<()> {
        Ok(writeln!(fs::File::options().append(true).open(&self.file)?, "{test}: {missing}")?)
    }

    /// Names them. On CI everything is there, or the run proves less than it says: there they are a failure.
    pub(crate) fn tell(&self, on_ci: bool) -> anyhow::Result<()> {
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
    use super::*;

    #[test]
    fn a_skipped_test_fails_its_stage_on_ci_alone() {
        let folder = tempfile::tempdir().unwrap();
        let skipped = Skipped::none(folder.path(), "rust").unwrap();
        skipped.tell(true).unwrap();
        let mut test = Command::new("sh");
        test.args(["-c", "echo 'kubectl_reads: no kubectl' >> $KUBEONKUBE_TEST_SKIPPED"]);
        assert!(skipped.heard(&mut test).status().unwrap().success());
        skipped.note("lab", "it needs root").unwrap();
        skipped.tell(false).unwrap();
        assert_eq!(skipped.tell(true).unwrap_err().to_string(), "2 skipped, where CI is set");
        Skipped::none(folder.path(), "rust").unwrap().tell(true).unwrap();
    }
}
