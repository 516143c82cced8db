//! The end of `cargo xtask test`: what failed, why, and whose fault it is. A red run must explain itself in its last 100 lines.

use std::fmt::Write;
use std::process::ExitCode;
use std::time::Duration;

use super::again::Verdict;
use super::failure::{FailedTest, is_infrastructure};

/// Lines of the whole report. `.ci/run` adds one.
const LINES: usize = 95;
/// Lines of one failure, if there is room.
const LINES_OF_ONE: usize = 40;
/// Characters of a line.
const WIDTH: usize = 240;
/// With more flaky tests, the machine or the change is unhealthy: the run is red.
const MOST_FLAKY: usize = 5;

/// Exit code if the code is wrong.
const RED: u8 = 1;
/// Exit code if only the machine is at fault (`EX_UNAVAILABLE` of sysexits.h).
const UNAVAILABLE: u8 = 69;

/// What the stages found.
#[derive(Default)]
pub(crate) struct Report {
    failures: Vec<Failure>,
    flaky: Vec<(String, FailedTest)>,
    /// A sentence about each stage that left itself out.
    left_out: Vec<String>,
}

struct Failure {
    stage: String,
    infrastructure: bool,
    /// What failed, and then its message.
    lines: Vec<String>,
}

impl Report {
    /// Adds an error of a stage that isn't that of a single test.
    pub(crate) fn add_error(&mut self, stage: &str, error: &anyhow::Error) {
        self.add(stage, is_infrastructure(error), &format!("{error:#}"));
    }

    /// Adds that a stage can't be run here. The run is green without it, and names it.
    pub(crate) fn leave_out(&mut self, stage: &str, reason: &str) {
        let reason: Vec<_> = reason.split_whitespace().collect();
        self.left_out.push(format!("{stage} ({})", reason.join(" ")));
    }

    /// Adds what a stage's tests found.
    pub(crate) fn add_verdict(&mut self, stage: &str, verdict: Verdict) {
        for test in verdict.failed {
            self.add(stage, false, &format!("{test}\n{}", test.message));
        }
        self.flaky.extend(verdict.flaky.into_iter().map(|test| (stage.to_owned(), test)));
    }

    fn add(&mut self, stage: &str, infrastructure: bool, text: &str) {
        let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
        let lines = lines.map(|line| line.chars().take(WIDTH).collect()).collect();
        self.failures.push(Failure { stage: stage.to_owned(), infrastructure, lines });
    }

    /// The number of failures so far.
    pub(crate) fn failed(&self) -> usize {
        self.failures.len()
    }

    fn too_flaky(&self) -> bool {
        self.flaky.len() > MOST_FLAKY
    }

    /// The exit code: 0 if all is green, 69 if only the machine is at fault, otherwise 1.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code())
    }

    fn code(&self) -> u8 {
        match () {
            () if self.too_flaky() || self.failures.iter().any(|failure| !failure.infrastructure) => RED,
            () if self.failures.is_empty() => 0,
            () => UNAVAILABLE,
        }
    }

    /// The whole report. `not_run` are the stages that this run left out, as a sentence about each.
    pub(crate) fn text(&self, took: Duration, not_run: &[String]) -> String {
        let mut text = String::new();
        let rest = self.flaky.len().min(20) + self.left_out.len() + not_run.len() + 3;
        let room = LINES.saturating_sub(rest + self.failures.len());
        let each = (room / self.failures.len().max(1)).clamp(3, LINES_OF_ONE);
        let most = LINES.saturating_sub(rest) / (each + 1);
        for failure in self.failures.iter().take(most.max(1)) {
            let kind = if failure.infrastructure { "infrastructure" } else { "test" };
            let _ = writeln!(text, "FAILED  {:<9} ({kind}) {}", failure.stage, first(&failure.lines));
            for line in shortened(failure.lines.get(1..).unwrap_or_default(), each) {
                let _ = writeln!(text, "    {line}");
            }
        }
        if self.failures.len() > most.max(1) {
            let _ = writeln!(text, "… and {} more failures", self.failures.len() - most.max(1));
        }
        for (stage, test) in self.flaky.iter().take(20) {
            let _ = writeln!(text, "FLAKY   {stage:<9} {test}: {:.1} s; {}", test.seconds, reason(&test.message));
        }
        if self.too_flaky() {
            let _ = writeln!(text, "More than {MOST_FLAKY} flaky tests: the machine or the change is unhealthy.");
        }
        for sentence in self.left_out.iter().chain(not_run) {
            let _ = writeln!(text, "not run: {sentence}");
        }
        let colour = match self.code() {
            0 => "GREEN",
            RED => "RED",
            _ => "RED (infrastructure only)",
        };
        let seconds = took.as_secs();
        let _ = write!(
            text,
            "{colour} in {}:{:02}, {} failed, {} flaky",
            seconds / 60,
            seconds % 60,
            self.failures.len(),
            self.flaky.len()
        );
        text
    }
}

fn first(lines: &[String]) -> &str {
    lines.first().map_or("", String::as_str)
}

/// The first line of a message that says more than where it comes from.
fn reason(message: &str) -> String {
    let mut lines = message.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("thread '"));
    lines.next().unwrap_or_default().chars().take(WIDTH / 2).collect()
}

/// The first and last lines, if there are more than `most`.
fn shortened(lines: &[String], most: usize) -> Vec<String> {
    if lines.len() <= most {
        return lines.to_vec();
    }
    let (start, end) = (most / 2, most.saturating_sub(most / 2 + 1));
    let mut kept = lines[..start].to_vec();
    kept.push(format!("… {} lines …", lines.len() - start - end));
    kept.extend_from_slice(&lines[lines.len() - end..]);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::failure::Infrastructure;

    const TOOK: Duration = Duration::from_secs(1300);

    fn test(name: &str, lines: usize) -> FailedTest {
        let message = (0..lines).map(|n| format!("line {n}\n")).collect();
        FailedTest { suite: "kubeonkube::web".into(), name: name.into(), seconds: 0.61, message }
    }

    #[test]
    fn a_green_run_names_flaky_tests_and_what_it_left_out() {
        let mut report = Report::default();
        let mut late = test("live::a_page_is_updated", 0);
        late.message = "thread 'a' panicked at web/live.rs:84:\nno frame within 10 s\n".into();
        report.add_verdict("rust", Verdict { failed: Vec::new(), flaky: vec![late] });
        report.leave_out("machines", "this computer lacks:\n- br_netfilter");
        assert_eq!(
            report.text(TOOK, &["lab".to_owned()]),
            "FLAKY   rust      kubeonkube::web live::a_page_is_updated: 0.6 s; no frame within 10 s\n\
             not run: machines (this computer lacks: - br_netfilter)\nnot run: lab\nGREEN in 21:40, 0 failed, 1 flaky"
        );
        assert_eq!(report.code(), 0);
    }

    #[test]
    fn many_long_failures_fit_into_the_last_lines() {
        for count in [1, 3, 12, 300] {
            let mut report = Report::default();
            let failed = (0..count).map(|n| test(&n.to_string(), 500)).collect();
            report.add_verdict("browser", Verdict { failed, flaky: vec![test("flaky", 9)] });
            report.add_error(
                "lint",
                &anyhow::anyhow!("cargo clippy: exit status: 101\n{}", "error: unused\n".repeat(60)),
            );
            let text = report.text(TOOK, &["lab".to_owned(), "released".to_owned()]);
            assert!(text.lines().count() <= LINES, "{} of {count}: {text}", text.lines().count());
            assert!(text.contains("FAILED  browser   (test) kubeonkube::web 0\n    line 0\n"), "{text}");
            assert!(text.ends_with(&format!("RED in 21:40, {} failed, 1 flaky", count + 1)), "{text}");
            assert_eq!(report.code(), RED);
        }
    }

    #[test]
    fn a_failure_of_the_machine_has_an_exit_code_of_its_own() {
        let mut report = Report::default();
        report.add_error("requirements", &Infrastructure::because("3 GiB are free, 20 are needed"));
        let text = report.text(TOOK, &[]);
        assert!(text.starts_with("FAILED  requirements (infrastructure) 3 GiB are free"), "{text}");
        assert_eq!(report.code(), UNAVAILABLE);
        report.add_verdict("rust", Verdict { failed: vec![test("a", 1)], flaky: Vec::new() });
        assert_eq!(report.code(), RED);
    }

    #[test]
    fn too_many_flaky_tests_are_red() {
        let mut report = Report::default();
        let flaky = (0..=MOST_FLAKY).map(|n| test(&n.to_string(), 1)).collect();
        report.add_verdict("rust", Verdict { failed: Vec::new(), flaky });
        assert_eq!(report.code(), RED);
        assert!(report.text(TOOK, &[]).contains("More than 5 flaky tests"));
    }
}
