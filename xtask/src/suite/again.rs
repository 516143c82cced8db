//! A test that fails is tried once more, alone. If it passes then, it is flaky: reported, and no reason to reject a change.

use super::failure::FailedTest;

/// If more tests fail, none is tried again: that is not bad luck.
const MOST: usize = 20;

/// Where `end2end/fixtures/failed.ts` reports errors outside of tests: there is no test to repeat.
const OUTSIDE: &str = "playwright";

/// Tests that are never tried again: the suite, or the file of browser tests, and a part of their names. They claim that nothing is
/// lost, that nothing runs twice, that secrets stay hidden, or that rights are respected. One failure disproves such a claim.
const EVIDENCE: &[(&str, &str)] = &[
    ("killed-server.spec.ts", "no line is lost"),
    ("kubeonkube::crash", ""),
    ("kubeonkube::secure", ""),
    ("kubeonkube::web", "rights::"),
    ("kubeonkube::web", "session_end::"),
    ("kubeonkube-controller::behaviour", "contention::"),
    ("kubeonkube-controller::behaviour", "crashes::"),
    ("kubeonkube-controller::behaviour", "forged::"),
    ("kubeonkube-controller::behaviour", "freshness::"),
    ("kubeonkube-controller::behaviour", "masking::"),
    ("kubeonkube-controller::behaviour", "races::"),
    ("kubeonkube-controller::behaviour", "restoring::"),
    ("kubeonkube-controller::behaviour", "secret_log::"),
    ("kubeonkube-controller::behaviour", "secret_results::"),
    ("kubeonkube-controller::behaviour", "signatures::"),
    ("kubeonkube-lab::installed", "person::"),
    ("kubeonkube-lab::installed", "policies::"),
    ("kubeonkube-lab::killed", ""),
    ("kubeonkube-masking", ""),
    ("kubeonkube-masking::canaries", ""),
    ("kubeonkube-masking::every_user", ""),
    ("kubeonkube-masking::in_the_pod", ""),
    ("kubeonkube-runlog::collecting", ""),
    ("kubeonkube-runner::jobs", "crashes::"),
    ("kubeonkube-runner::jobs", "isolation::"),
    ("kubeonkube-standalone::api_claims", "durability::"),
    ("log.spec.ts", "lose no line"),
    (OUTSIDE, ""),
    ("test_secret_result", ""),
    ("test_secrets", ""),
    ("test_upkeep", "Kubeconfig."),
];

/// The tests that failed in both tries, and the flaky ones.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) failed: Vec<FailedTest>,
    pub(crate) flaky: Vec<FailedTest>,
}

/// Runs all tests, and then once more those that failed. `run` gets the tests to run, or `None` for all, and returns those that
/// failed.
pub(crate) fn run_twice(
    mut run: impl FnMut(Option<&[FailedTest]>) -> anyhow::Result<Vec<FailedTest>>,
) -> anyhow::Result<Verdict> {
    let first = run(None)?;
    if first.len() > MOST {
        return Ok(Verdict { failed: first, flaky: Vec::new() });
    }
    let (mut failed, again): (Vec<_>, Vec<_>) = first.into_iter().partition(is_evidence);
    if again.is_empty() {
        return Ok(Verdict { failed, flaky: Vec::new() });
    }
    eprintln!("\n== once more, alone: {} that failed", again.len());
    let second = run(Some(&again))?;
    let is_same = |one: &FailedTest, other: &FailedTest| one.suite == other.suite && one.name == other.name;
    let (fails_again, flaky): (Vec<_>, Vec<_>) =
        again.into_iter().partition(|test| second.iter().any(|other| is_same(test, other)));
    failed.extend(fails_again);
    Ok(Verdict { failed, flaky })
}

fn is_evidence(test: &FailedTest) -> bool {
    // Browser tests have the line of their file, too: `log.spec.ts:75`.
    let suite = test.suite.split_inclusive(".ts").next().unwrap_or_default();
    EVIDENCE.iter().any(|(evident, part)| suite == *evident && test.name.contains(part))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::clean_command::root;

    fn test(suite: &str, name: &str) -> FailedTest {
        FailedTest { suite: suite.into(), name: name.into(), seconds: 1.5, message: "left != right".into() }
    }

    #[test]
    fn a_failed_test_is_tried_once_more_and_alone() {
        let asked = RefCell::new(Vec::new());
        let verdict = run_twice(|only| {
            asked.borrow_mut().push(only.map(<[FailedTest]>::to_vec));
            Ok(match only {
                None => vec![test("web", "live"), test("web", "pages")],
                Some(_) => vec![test("web", "pages")],
            })
        })
        .unwrap();
        assert_eq!(verdict, Verdict { failed: vec![test("web", "pages")], flaky: vec![test("web", "live")] });
        assert_eq!(asked.into_inner(), [None, Some(vec![test("web", "live"), test("web", "pages")])]);
    }

    #[test]
    fn evidence_is_never_tried_again() {
        let lost = test("kubeonkube::crash", "kills_of_the_server_lose_and_repeat_nothing");
        let hidden = test("test_secrets", "SecretVariables.test_no_value_is_in_the_log");
        let doubled = test("log.spec.ts:22", "with JavaScript › forced reconnects lose no line and double none");
        let first = vec![lost, hidden, doubled];
        let verdict = run_twice(|only| {
            assert!(only.is_none());
            Ok(first.clone())
        })
        .unwrap();
        assert_eq!(verdict, Verdict { failed: first.clone(), flaky: Vec::new() });
        assert!(!is_evidence(&test("kubeonkube::web", "pages::a_page_is_rendered")));
        assert!(!is_evidence(&test("log.spec.ts:75", "a log is followed")));
    }

    #[test]
    fn each_name_of_evidence_exists() {
        let folders = ["server", "deploy/runner/tests", "end2end/lab/tests"];
        let files = folders.map(|folder| names_below(&root().join(folder))).concat();
        for (suite, part) in EVIDENCE.iter().filter(|(suite, _)| *suite != OUTSIDE) {
            let python = root().join("deploy/runner/tests").join(suite).with_extension("py");
            let text = [root().join("end2end/tests").join(suite), python]
                .into_iter()
                .find_map(|file| fs::read_to_string(file).ok());
            if let Some(text) = text {
                assert!(text.contains(part.trim_end_matches('.')), "{suite} {part}");
                continue;
            }
            let (_, program) = suite.rsplit_once("::").unwrap_or(("", suite.trim_start_matches("kubeonkube-")));
            for name in [program, part.trim_end_matches("::")] {
                assert!(name.is_empty() || files.iter().any(|file| file == name), "{suite} {part}");
            }
        }
    }

    /// The names of all files and folders below a folder, without extensions.
    fn names_below(folder: &Path) -> Vec<String> {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            names.push(path.file_stem().unwrap().to_string_lossy().into_owned());
            if path.is_dir() {
                names.extend(names_below(&path));
            }
        }
        names
    }

    #[test]
    fn many_failures_are_not_tried_again() {
        let all: Vec<_> = (0..=MOST).map(|n| test("web", &n.to_string())).collect();
        let verdict = run_twice(|only| {
            assert!(only.is_none());
            Ok(all.clone())
        });
        assert_eq!(verdict.unwrap().failed.len(), MOST + 1);
    }

    #[test]
    fn a_green_run_is_run_once() {
        assert_eq!(run_twice(|only| Ok(only.unwrap_or_default().to_vec())).unwrap(), Verdict::default());
    }
}
