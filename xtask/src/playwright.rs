//! The browser tests (`end2end/tests` and `end2end/machines`), with the computer's own browser.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::ansible::ansible;
use crate::clean_command::{check, command, copy_of, output, root};
use crate::doctor;
use crate::skipped::Skipped;
use crate::suite::{FailedTest, Run, reported};

/// Runs the tests against `program`: those in files whose names contain one of the words in `files`, or all if it is empty.
/// `in_parts` is not empty if the program serves a site that is cut into parts.
pub(crate) fn run(run: &mut Run, program: &Path, files: &[&str], in_parts: &str) -> anyhow::Result<()> {
    let Some(chromium) = prepare(&run.skipped, "tests", files)? else { return Ok(()) };
    let mut tests = command("npx");
    tests.current_dir(folder()).args(["playwright", "test"]).env("KUBEONKUBE_IN_PARTS", in_parts);
    report(run, &tests, files, program, &chromium, &|| Ok(())).map(drop)
}

/// Runs the tests that need machines inside the lab, against `program`: those in a `file` of `end2end/machines`. `kubectl` is the path of
/// one. The tests read `env`. Returns whether they passed.
pub(crate) fn run_in_lab(
    run: &mut Run,
    program: &Path,
    lab: &str,
    kubectl: &str,
    file: &str,
    env: &[(&str, &str)],
) -> anyhow::Result<bool> {
    let Some(chromium) = prepare(&run.skipped, "machines", &[file])? else { return Ok(true) };
    let mut tests = command(lab);
    // The lab sets KUBECONFIG, with which the server would manage the lab's own Kubernetes.
    tests
        .current_dir(folder())
        .args(["shell", "--", "env", "--unset=KUBECONFIG"])
        .args(["npx", "playwright", "test", "--config", "machines.config.ts"])
        .env("KUBEONKUBE_TEST_KUBECTL", kubectl)
        .envs(env.iter().copied());
    // A cluster that the first try left there would be in the way.
    let reset = |machine: &str| check(command(lab).args(["machine", "reset", machine]));
    report(run, &tests, &[file], program, &chromium, &|| ["m1", "m2", "m3"].into_iter().try_for_each(reset))
}

fn folder() -> PathBuf {
    root().join("end2end")
}

/// Installs the npm packages of the tests, unless they are installed.
pub(crate) fn fetch() -> anyhow::Result<()> {
    if !has_node() {
        return Ok(());
    }
    let (lock, installed) = (folder().join("package-lock.json"), folder().join("node_modules/installed-lock.json"));
    if fs::read(&installed).is_ok_and(|installed| fs::read(&lock).is_ok_and(|lock| lock == installed)) {
        return Ok(());
    }
    check(command("npm").current_dir(folder()).args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]))?;
    fs::copy(lock, installed)?;
    Ok(())
}

fn has_node() -> bool {
    doctor::on_path("node") && doctor::on_path("npm")
}

/// Installs what the tests need and returns the browser's path. `None` if the computer has no browser or no Node.js: then the
/// files of the tests are reported as skipped.
fn prepare(skipped: &Skipped, tests: &str, files: &[&str]) -> anyhow::Result<Option<String>> {
    let (Some(chromium), true) = (doctor::chromium(), has_node()) else {
        let missing = if has_node() { "Chromium or Chrome" } else { "Node.js with npm" };
        return skip_all(skipped, &folder().join(tests), files, missing).map(|()| None);
    };
    fetch()?;
    let path = output(command("sh").args(["-c", &format!("command -v {chromium}")])).unwrap_or_default();
    Ok(Some(path.trim().to_owned()))
}

/// Runs the tests in `files`, and once more those that failed: alone, with traces, and after `before_again`. Returns whether they passed.
fn report(
    run: &mut Run,
    tests: &Command,
    files: &[&str],
    program: &Path,
    chromium: &str,
    before_again: &dyn Fn() -> anyhow::Result<()>,
) -> anyhow::Result<bool> {
    let tests = with_environment(run, copy_of(tests), program, chromium)?;
    run.run_tests(|only| {
        let mut command = copy_of(&tests);
        match only {
            None => command.args(files),
            // A place such as `log.spec.ts:75`.
            Some(failed) => {
                before_again()?;
                let places = failed.iter().map(|test| &test.suite);
                command.env("KUBEONKUBE_AGAIN", "1").arg("--workers=1").args(places)
            }
        };
        reported::run(&mut command)
    })
}

/// Runs the tests at a place, such as `log.spec.ts:75`, so many times. Returns those that failed.
pub(crate) fn repeat(run: &Run, program: &Path, place: &str, times: u32) -> anyhow::Result<Vec<FailedTest>> {
    let Some(chromium) = prepare(&run.skipped, "tests", &[place])? else { return Ok(Vec::new()) };
    let mut tests = command("npx");
    tests.current_dir(folder()).args(["playwright", "test", place, &format!("--repeat-each={times}")]);
    reported::run(&mut with_environment(run, tests, program, &chromium)?)
}

fn with_environment(run: &Run, mut tests: Command, program: &Path, chromium: &str) -> anyhow::Result<Command> {
    tests
        .env("KUBEONKUBE_CHROMIUM", chromium)
        .env("KUBEONKUBE_ANSIBLE", ansible()?)
        .env("KUBEONKUBE_BINARY", program)
        .envs([run.skipped.variable()])
        .envs(run.full_variable());
    Ok(tests)
}

/// Reports each file that playwright would run as skipped.
fn skip_all(skipped: &Skipped, folder: &Path, files: &[&str], missing: &str) -> anyhow::Result<()> {
    for entry in folder.read_dir()? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if files.is_empty() || files.iter().any(|word| name.contains(word)) {
            skipped.note(&name, &format!("{missing} is missing"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_browser_every_skipped_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let skipped = Skipped::none(folder.path(), "browser").unwrap();
        let tests = folder.path().join("tests");
        std::fs::create_dir(&tests).unwrap();
        for name in ["cancel.spec.ts", "log.spec.ts", "submit.spec.ts"] {
            std::fs::write(tests.join(name), "").unwrap();
        }
        skip_all(&skipped, &tests, &["cancel", "submit"], "Chromium or Chrome").unwrap();
        let mut named: Vec<_> =
            std::fs::read_to_string(folder.path().join("browser")).unwrap().lines().map(str::to_owned).collect();
        named.sort();
        assert_eq!(
            named,
            ["cancel.spec.ts: Chromium or Chrome is missing", "submit.spec.ts: Chromium or Chrome is missing"]
        );
    }
}
