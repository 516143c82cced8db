//! Test runners that report failed tests as lines of JSON: `end2end/fixtures/failed.ts` and `deploy/runner/tests/run.py`.

use std::fs;
use std::process::Command;

use anyhow::Context;
use serde_json::Value;

use super::failure::FailedTest;
use crate::clean_command::{check, root};

/// The variable that names the file of the report.
const FILE: &str = "KUBEONKUBE_TEST_FAILED";

/// Runs the command and returns the failed tests.
///
/// # Errors
/// If it fails and reports no test.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<Vec<FailedTest>> {
    let file = root().join("target/failed-tests");
    fs::write(&file, "")?;
    let done = check(command.env(FILE, &file));
    let report = fs::read_to_string(&file)?;
    let failed = report.lines().map(failed_test).collect::<anyhow::Result<Vec<_>>>()?;
    if failed.is_empty() { done.map(|()| failed) } else { Ok(failed) }
}

fn failed_test(line: &str) -> anyhow::Result<FailedTest> {
    let value: Value = serde_json::from_str(line).with_context(|| format!("a report of failed tests: {line}"))?;
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let seconds = value["seconds"].as_f64().unwrap_or_default();
    Ok(FailedTest { suite: text("suite"), name: text("name"), seconds, message: text("message") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean_command::command;

    fn script(text: &str) -> Command {
        let mut script = command("sh");
        script.args(["-c", text]);
        script
    }

    #[test]
    fn failed_tests_are_read_from_lines_of_json() {
        let line = r#"{"suite":"log.spec.ts:75","name":"a cut","seconds":2.5,"message":"timedOut\nlate"}"#;
        let failed = run(&mut script(&format!("printf '%s\\n' '{line}' >> $KUBEONKUBE_TEST_FAILED; exit 1"))).unwrap();
        let expected = FailedTest {
            suite: "log.spec.ts:75".into(),
            name: "a cut".into(),
            seconds: 2.5,
            message: "timedOut\nlate".into(),
        };
        assert_eq!(failed, [expected]);
        assert!(run(&mut script("true")).unwrap().is_empty());
        assert!(run(&mut script("exit 2")).unwrap_err().to_string().contains("exit status: 2"));
    }
}
