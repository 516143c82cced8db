//! What the stages of `cargo xtask test` share: running a suite of tests, trying failed ones again, and the report.

mod again;
mod change;
mod failure;
mod nextest;
mod report;
pub(crate) mod reported;

pub(crate) use self::again::Verdict;
use self::again::run_twice;
pub(crate) use self::change::Change;
pub(crate) use self::failure::{FailedTest, Infrastructure};
pub(crate) use self::nextest::Tests;
pub(crate) use self::report::Report;
use crate::builds::Builds;
use crate::skipped::Skipped;

/// Tells tests to take the long way, and the lab to accept only the pinned packages.
pub(crate) const FULL: &str = "KUBEONKUBE_FULL";

/// What a stage works with.
pub(crate) struct Run<'a> {
    /// Its name.
    pub(crate) stage: &'a str,
    pub(crate) full: bool,
    /// Only what this touches is tested.
    pub(crate) change: Option<&'a Change>,
    pub(crate) skipped: Skipped,
    pub(crate) builds: &'a mut Builds,
    pub(crate) report: &'a mut Report,
}

impl Run<'_> {
    /// The variable that tells tests to take the long way: more rounds, more lines, more combinations.
    pub(crate) fn full_variable(&self) -> Option<(&'static str, String)> {
        self.full.then(|| (FULL, "1".to_owned()))
    }

    /// Says why this stage can't be run here. That is no failure.
    pub(crate) fn leave_out(&mut self, reason: &str) {
        eprintln!("not run: {reason}");
        self.report.leave_out(self.stage, reason);
    }

    /// Runs tests, and once more those that failed. They are reported; the result is an error only if the tests couldn't be run.
    pub(crate) fn run_tests(
        &mut self,
        run: impl FnMut(Option<&[FailedTest]>) -> anyhow::Result<Vec<FailedTest>>,
    ) -> anyhow::Result<bool> {
        let verdict = run_twice(run)?;
        let passed = verdict.failed.is_empty();
        self.report.add_verdict(self.stage, verdict);
        Ok(passed)
    }
}
