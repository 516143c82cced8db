//! `cargo xtask test`: the quick stages first, then what needs a browser.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::bail;

use crate::ansible::ansible;
use crate::builds::Builds;
use crate::clean_command::{check, command, output, root};
use crate::skipped::Skipped;
use crate::stage::Stages;
use crate::{doctor, lab, playwright, released, site};

type Run = fn(&Skipped, &mut Builds) -> anyhow::Result<()>;
type Stage = (&'static str, &'static str, Run);

/// The stages in their order: name, what it proves, function.
const STAGES: &[Stage] = &[
    ("format", "rustfmt finds nothing to change", |_, _| format()),
    ("lint", "clippy has no warnings, for the server and for wasm", |_, _| lint()),
    ("site", "the browser's part builds", |_, _| build_site()),
    ("rust", "unit, behaviour and page tests", rust),
    ("runner", "the entrypoint and the callback plugin, with real ansible", |skipped, _| runner(skipped)),
    ("browser", "every flow in a real browser on the real server", |skipped, _| browser(skipped)),
    ("released", "the pages of a release, embedded in the program, in a real browser", released::released),
    ("lab", "a real Kubernetes and real machines: Jobs, Services, ansible, faults, and a clean end", lab::test),
];

pub(crate) fn test(only: &[String], list: bool) -> anyhow::Result<()> {
    if list {
        for (name, what, _) in STAGES {
            println!("{name:<10} {what}");
        }
        return Ok(());
    }
    if let Some(unknown) = only.iter().find(|name| !STAGES.iter().any(|(known, ..)| known == name)) {
        bail!("there is no stage `{unknown}`; `cargo xtask test --list` names them");
    }
    let chosen = |name: &str| only.is_empty() || only.iter().any(|chosen| chosen == name);
    let mut stages = Stages::begin();
    stages.stage("doctor", || doctor::require(doctor::For::Test))?;
    let mut builds = Builds::default();
    stages.stage("builds", || start_builds(&chosen, &mut builds))?;
    let mut failed = Vec::new();
    for (name, _, run) in STAGES.iter().filter(|(name, ..)| chosen(name)) {
        if let Err(error) = stages.stage(name, || run_stage(name, *run, &mut builds)) {
            // The whole text is printed once, below the times.
            eprintln!("{}", format!("{error:#}").lines().next().unwrap_or_default());
            failed.push(format!("failed: {name}: {error:#}"));
        }
    }
    stages.print();
    if failed.is_empty() { Ok(()) } else { bail!("{}", failed.join("\n")) }
}

/// Starts in the background what the chosen stages need and what takes minutes to build.
fn start_builds(chosen: &dyn Fn(&str) -> bool, builds: &mut Builds) -> anyhow::Result<()> {
    if chosen("rust")
        && doctor::builds_go()
        && let Some(build) = build_kubectl()?
    {
        builds.start(KUBECTL, &build)?;
    }
    if chosen("lab")
        && let Err(error) = lab::start_build(builds)
    {
        // The stage tries again and then fails; the other stages don't need the lab.
        eprintln!("{error:#}");
    }
    if chosen("released") {
        released::start_build(builds)?;
    }
    Ok(())
}

/// Runs a stage, and then prints the tests that it skipped.
fn run_stage(stage: &str, run: Run, builds: &mut Builds) -> anyhow::Result<()> {
    let skipped = Skipped::none(&root().join("target/skipped"), stage)?;
    let done = run(&skipped, builds);
    let reported = skipped.print(doctor::is_ci());
    done.and(reported)
}

fn format() -> anyhow::Result<()> {
    check(command("cargo").args(["fmt", "--all", "--check"]))
}

fn lint() -> anyhow::Result<()> {
    // All host packages in one call: in separate calls, feature resolution differs and shared dependencies are checked twice.
    clippy(&["--workspace", "--exclude", "kubeonkube-frontend", "--all-targets"])?;
    let wasm = ["--target", "wasm32-unknown-unknown", "--profile", "wasm-dev"];
    clippy(&[&["--package", "kubeonkube-frontend"], &wasm[..]].concat())
}

fn clippy(of: &[&str]) -> anyhow::Result<()> {
    check(command("cargo").args(["clippy", "--quiet"]).args(of).args(["--", "-D", "warnings"]))
}

fn build_site() -> anyhow::Result<()> {
    site::build(site::Kind::Dev).map(drop)
}

fn rust(skipped: &Skipped, builds: &mut Builds) -> anyhow::Result<()> {
    // Compile while kubectl may still be building.
    check(command("cargo").args(["test", "--no-run"]))?;
    builds.wait(KUBECTL)?;
    let mut tests = command("cargo");
    tests.args(["test", "--no-fail-fast"]).env("KUBEONKUBE_TEST_ANSIBLE", ansible()?);
    if let Some(kubectl) = kubectl() {
        tests.env("KUBEONKUBE_TEST_KUBECTL", kubectl);
    }
    // These tests need a package index, which a contributor may not be able to reach.
    if doctor::is_ci() {
        tests.env("KUBEONKUBE_TEST_INSTALL", "1");
    }
    check(skipped.reported_by(&mut tests))?;
    check(command("cargo").args(["test", "--package", "xtask"]))
}

/// Builds the program as `cargo test` does, so that after the stage `rust` nothing is compiled again. `--examples` (there are
/// none) makes cargo count the features that only tests need, such as tokio's `test-util`. Without it, tokio and forty crates
/// that depend on it would compile twice.
pub(crate) fn build_program(features: &str) -> anyhow::Result<PathBuf> {
    check(command("cargo").args(["build", "--bins", "--examples", "--features", features]))?;
    Ok(root().join("target/debug/kubeonkube"))
}

/// kubectl takes its version from linker flags. Without them it refuses to compare its version with the server's.
const KUBECTL_LINK: &str = "-s -w -X k8s.io/component-base/version.gitVersion=v1.34.4 -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=34";

/// Name of the background build.
const KUBECTL: &str = "kubectl";
/// Stock kubectl, of the version that the embedded API is compared with.
const BUILT_KUBECTL: &str = "target/tools/kubectl-1.34.4";

/// Builds kubectl from its Go module; nothing if it is already built.
fn build_kubectl() -> anyhow::Result<Option<Command>> {
    let built = root().join(BUILT_KUBECTL);
    fs::create_dir_all(root().join("target/tools"))?;
    let mut build = command("go");
    build
        .current_dir(root().join("end2end/kubectl"))
        .env("CGO_ENABLED", "0")
        .args(["build", "-trimpath", "-ldflags", KUBECTL_LINK, "-o"])
        .arg(&built)
        .arg(".");
    Ok((!built.exists()).then_some(build))
}

/// The kubectl that the tests use: the one built here, otherwise any kubectl on the PATH.
fn kubectl() -> Option<String> {
    let built = root().join(BUILT_KUBECTL);
    if built.exists() {
        return Some(built.to_string_lossy().into_owned());
    }
    output(command("sh").args(["-c", "command -v kubectl"])).map(|path| path.trim().to_owned())
}

fn runner(skipped: &Skipped) -> anyhow::Result<()> {
    let mut tests = command("python3");
    tests
        .args(["-m", "unittest", "discover", "-s", "deploy/runner/tests", "-t", "deploy/runner/tests"])
        .env("KUBEONKUBE_TEST_ANSIBLE", ansible()?);
    check(skipped.reported_by(&mut tests))
}

fn browser(skipped: &Skipped) -> anyhow::Result<()> {
    site::build(site::Kind::Dev)?;
    let program = build_program("")?;
    playwright::run(skipped, &program, &[], "")
}
