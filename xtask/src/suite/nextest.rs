//! Rust tests, run by cargo-nextest. It runs each test in a separate process with a time limit, and reports the failed ones by name.

use std::fs;
use std::process::Command;

use anyhow::{Context, bail};

use super::failure::FailedTest;
use crate::clean_command::{check, command, root};
use crate::programs;

/// Tests to run: a profile of `.config/nextest.toml`, and arguments that choose packages and tests.
pub(crate) struct Tests<'a> {
    pub(crate) profile: &'a str,
    pub(crate) arguments: &'a [&'a str],
    /// A filter expression, or all tests if it is empty.
    pub(crate) filter: &'a str,
    pub(crate) env: &'a [(&'a str, String)],
}

impl Tests<'_> {
    /// Compiles the tests.
    pub(crate) fn build(&self) -> anyhow::Result<()> {
        check(self.command()?.arg("--no-run"))
    }

    /// Runs the tests, or only these, one at a time. Returns the failed ones.
    ///
    /// # Errors
    /// If a test doesn't compile, or none was run.
    pub(crate) fn run(&self, only: Option<&[FailedTest]>) -> anyhow::Result<Vec<FailedTest>> {
        let mut run = self.command()?;
        run.envs(self.env.iter().map(|(name, value)| (name, value)));
        // The report's messages are short, so that they fit into the end of the output.
        run.env("RUST_BACKTRACE", "0");
        match only {
            Some(tests) => run.args(["--test-threads", "1", "--filterset", &filter_of(tests)]),
            None if self.filter.is_empty() => &mut run,
            None => run.args(["--filterset", self.filter]),
        };
        let junit = root().join("target/nextest").join(self.profile).join("junit.xml");
        let _none = fs::remove_file(&junit);
        let done = check(&mut run);
        let Ok(report) = fs::read_to_string(&junit) else {
            return done.and(Err(anyhow::anyhow!("no test was run")));
        };
        let failed = failed(&report)?;
        if failed.is_empty() { done.map(|()| failed) } else { Ok(failed) }
    }

    fn command(&self) -> anyhow::Result<Command> {
        let mut command = command(&programs::nextest()?);
        command.args(["nextest", "run", "--profile", self.profile]).args(self.arguments);
        // Tests must not find a cluster of the caller.
        command.env_remove("KUBECONFIG").env_remove("KUBEBUILDER_ASSETS");
        Ok(command)
    }
}

/// The filter expression that chooses exactly these tests.
fn filter_of(tests: &[FailedTest]) -> String {
    let one = |test: &FailedTest| format!("(binary_id(={}) & test(={}))", test.suite, test.name);
    tests.iter().map(one).collect::<Vec<_>>().join(" | ")
}

/// The failed tests of a report in JUnit's format.
fn failed(report: &str) -> anyhow::Result<Vec<FailedTest>> {
    let document = roxmltree::Document::parse(report).context("nextest's report")?;
    let mut failed = Vec::new();
    for case in document.descendants().filter(|node| node.has_tag_name("testcase")) {
        let Some(failure) = case.children().find(|node| node.has_tag_name("failure") || node.has_tag_name("error"))
        else {
            continue;
        };
        let (Some(name), Some(suite)) = (case.attribute("name"), case.attribute("classname")) else {
            bail!("a test without a name in nextest's report");
        };
        let seconds = case.attribute("time").and_then(|time| time.parse().ok()).unwrap_or_default();
        let mut message = failure.text().unwrap_or_default().trim().to_owned();
        if message.is_empty() {
            // A test that was ended has no panic: its output says how far it came.
            let output =
                case.children().filter(|node| node.has_tag_name("system-out") || node.has_tag_name("system-err"));
            message = format!("{}\n", failure.attribute("type").unwrap_or_default());
            message.extend(output.filter_map(|node| node.text()));
        }
        failed.push(FailedTest { suite: suite.into(), name: name.into(), seconds, message });
    }
    Ok(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="gate" tests="3" failures="2">
  <testsuite name="kubeonkube::web" tests="3">
    <testcase name="pages::ok" classname="kubeonkube::web" time="0.1"/>
    <testcase name="live::late" classname="kubeonkube::web" time="10.25">
      <failure type="test failure with exit code 101">thread 'live::late' panicked at live.rs:3:
left &amp; right</failure>
      <system-err>much output</system-err>
    </testcase>
    <testcase name="hangs" classname="kubeonkube::web" time="300.0">
      <failure type="test timeout"/>
      <system-out>running 1 test
</system-out>
    </testcase>
  </testsuite>
</testsuites>"#;

    #[test]
    fn failed_tests_are_read_with_their_messages() {
        let failed = failed(REPORT).unwrap();
        assert_eq!(
            failed.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["kubeonkube::web live::late", "kubeonkube::web hangs"]
        );
        assert!(failed[0].message.ends_with("panicked at live.rs:3:\nleft & right"), "{}", failed[0].message);
        assert_eq!(failed[1].message, "test timeout\nrunning 1 test\n");
        assert_eq!((failed[0].seconds, failed[1].seconds), (10.25, 300.0));
        assert_eq!(
            filter_of(&failed),
            "(binary_id(=kubeonkube::web) & test(=live::late)) | (binary_id(=kubeonkube::web) & test(=hangs))"
        );
    }
}
