//! The browser tests (`end2end/tests` and `end2end/machines`), with the computer's own browser.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::anyhow;

use crate::ansible::ansible;
use crate::clean_command::{check, command, output, root};
use crate::doctor;
use crate::skipped::Skipped;

/// Runs the tests against `program`: those in files whose names contain one of the words in `files`, or all if it is empty.
/// `in_parts` is not empty if the program serves a site that is cut into parts.
pub(crate) fn run(skipped: &Skipped, program: &Path, files: &[&str], in_parts: &str) -> anyhow::Result<()> {
    let Some(chromium) = prepare(skipped, "tests", files)? else { return Ok(()) };
    let mut tests = command("npx");
    tests.current_dir(folder()).args(["playwright", "test"]).args(files).env("KUBEONKUBE_IN_PARTS", in_parts);
    report(skipped, &mut tests, program, &chromium)
}

/// Runs the tests that need machines (`end2end/machines`) inside the lab, against `program`. `kubectl` is the path of one. The tests
/// read `env`.
pub(crate) fn run_in_lab(
    skipped: &Skipped,
    program: &Path,
    lab: &str,
    kubectl: &str,
    env: &[(&str, &str)],
) -> anyhow::Result<()> {
    let Some(chromium) = prepare(skipped, "machines", &[])? else { return Ok(()) };
    let mut tests = command(lab);
    // The lab sets KUBECONFIG, with which the server would manage the lab's own Kubernetes.
    tests
        .current_dir(folder())
        .args(["shell", "--", "env", "--unset=KUBECONFIG"])
        .args(["npx", "playwright", "test", "--config", "machines.config.ts"])
        .env("KUBEONKUBE_TEST_KUBECTL", kubectl)
        .envs(env.iter().copied());
    report(skipped, &mut tests, program, &chromium)
}

fn folder() -> PathBuf {
    root().join("end2end")
}

/// Installs what the tests need and returns the browser's path. `None` if the computer has no browser or no Node.js: then the
/// files of the tests are reported as skipped.
fn prepare(skipped: &Skipped, tests: &str, files: &[&str]) -> anyhow::Result<Option<String>> {
    let (chromium, node) = (doctor::chromium(), doctor::on_path("node") && doctor::on_path("npm"));
    let (Some(chromium), true) = (chromium, node) else {
        let missing = if node { "Chromium or Chrome" } else { "Node.js with npm" };
        return skip_all(skipped, &folder().join(tests), files, missing).map(|()| None);
    };
    check(command("npm").current_dir(folder()).args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]))?;
    let path = output(command("sh").args(["-c", &format!("command -v {chromium}")])).unwrap_or_default();
    Ok(Some(path.trim().to_owned()))
}

/// Runs the tests. The error carries the failed ones and their reasons: it is printed again below the times of all stages.
fn report(skipped: &Skipped, tests: &mut Command, program: &Path, chromium: &str) -> anyhow::Result<()> {
    let failed = root().join("target/failed-in-browser");
    fs::write(&failed, "")?;
    tests
        .env("KUBEONKUBE_CHROMIUM", chromium)
        .env("KUBEONKUBE_ANSIBLE", ansible()?)
        .env("KUBEONKUBE_TEST_FAILED", &failed)
        .env("KUBEONKUBE_BINARY", program);
    check(skipped.reported_by(tests)).map_err(|error| {
        let failed = fs::read_to_string(&failed).unwrap_or_default();
        anyhow!("{}", format!("{error:#}\n{failed}").trim_end())
    })
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
