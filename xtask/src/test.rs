//! `cargo xtask test`: the quick stages first, then what needs a browser.

use std::path::PathBuf;

use anyhow::bail;

use crate::{
    ansible::ansible,
    clean_command::{check, command, output, root},
    doctor, lab, playwright, released, site,
    skipped::Skipped,
    stage::Stages,
};

type Run = fn(&Skipped) -> anyhow::Result<()>;
type Stage = (&'static str, &'static str, Run);

/// The stages in their order, each with what it shows.
const STAGES: &[Stage] = &[
    ("format", "rustfmt agrees", |_| format()),
    ("lint", "clippy has nothing to say, for the server and for wasm", |_| lint()),
    ("site", "the browser's part builds", |_| build_site()),
    ("rust", "unit, behaviour and page tests", rust),
    ("runner", "the entrypoint and the callback plugin, with real ansible", runner),
    ("browser", "every flow in a real browser on the real server", browser),
    ("released", "the pages of a release, from a program that carries them, in a real browser", released::released),
    ("lab", "a real Kubernetes and real machines: Jobs, Services, ansible, faults, and nothing left behind", lab::test),
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
    let mut stages = Stages::begin();
    stages.stage("doctor", || doctor::require(doctor::For::Test))?;
    let mut failed = Vec::new();
    for (name, _, run) in STAGES {
        if (only.is_empty() || only.iter().any(|chosen| chosen == name))
            && let Err(error) = stages.stage(name, || telling(name, *run))
        {
            // Its whole text comes once, below the times.
            eprintln!("{}", format!("{error:#}").lines().next().unwrap_or_default());
            failed.push(format!("failed: {name}: {error:#}"));
        }
    }
    stages.print();
    if failed.is_empty() { Ok(()) } else { bail!("{}", failed.join("\n")) }
}

/// Runs a stage, and names at its end what it skipped.
fn telling(stage: &str, run: Run) -> anyhow::Result<()> {
    let skipped = Skipped::none(&root().join("target/skipped"), stage)?;
    let done = run(&skipped);
    let told = skipped.tell(doctor::is_ci());
    done.and(told)
}

fn format() -> anyhow::Result<()> {
    check(command("cargo").args(["fmt", "--all", "--check"]))
}

fn lint() -> anyhow::Result<()> {
    // All that is for this machine at once: apart, what they share is checked again for each one's features.
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

fn rust(skipped: &Skipped) -> anyhow::Result<()> {
    let mut tests = command("cargo");
    tests.args(["test", "--no-fail-fast"]).env("KUBEONKUBE_TEST_ANSIBLE", ansible()?);
    if let Some(kubectl) = kubectl()? {
        tests.env("KUBEONKUBE_TEST_KUBECTL", kubectl);
    }
    // Needs a package index, which not everybody who tests can reach at all times.
    if doctor::is_ci() {
        tests.env("KUBEONKUBE_TEST_INSTALL", "1");
    }
    check(skipped.heard(&mut tests))?;
    check(command("cargo").args(["test", "--package", "xtask"]))
}

/// Builds the program as `cargo test` does, which is done already after the stage `rust`. Asking for examples, of which there are
/// none, lets the features count that only tests need (tokio's `test-util`): else tokio and forty crates on it compile twice.
pub(crate) fn build_program(features: &str) -> anyhow::Result<PathBuf> {
    check(command("cargo").args(["build", "--bins", "--examples", "--features", features]))?;
    Ok(root().join("target/debug/kubeonkube"))
}

/// kubectl reads its version from what the linker sets, and refuses to compare versions without it.
const KUBECTL_LINK: &str = "-s -w -X k8s.io/component-base/version.gitVersion=v1.34.4 -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=34";

/// Stock kubectl of the version the API is measured against, built from its Go module and kept in `target/tools`; else
/// whatever kubectl is on the PATH.
fn kubectl() -> anyhow::Result<Option<String>> {
    let built = root().join("target/tools/kubectl-1.34.4");
    if !built.exists() && doctor::builds_go() {
        let module = root().join("end2end/kubectl");
        check(
            command("go")
                .current_dir(module)
                .env("CGO_ENABLED", "0")
                .args(["build", "-trimpath", "-ldflags", KUBECTL_LINK, "-o"])
                .arg(&built)
                .arg("."),
        )?;
    }
    if built.exists() {
        return Ok(Some(built.to_string_lossy().into_owned()));
    }
    Ok(output(command("sh").args(["-c", "command -v kubectl"])).map(|path| path.trim().to_owned()))
}

fn runner(skipped: &Skipped) -> anyhow::Result<()> {
    let mut tests = command("python3");
    tests
        .args(["-m", "unittest", "discover", "-s", "deploy/runner/tests", "-t", "deploy/runner/tests"])
        .env("KUBEONKUBE_TEST_ANSIBLE", ansible()?);
    check(skipped.heard(&mut tests))
}

fn browser(skipped: &Skipped) -> anyhow::Result<()> {
    site::build(site::Kind::Dev)?;
    let program = build_program("")?;
    playwright::run(skipped, &program, &[], "")
}
