//! `cargo xtask test`: the quick stages first, then what needs a browser.

use std::env;
use std::time::SystemTime;

use anyhow::bail;

use crate::ansible::{ansible, lint_playbooks};
use crate::builds::Builds;
use crate::clean_command::{check, command, root};
use crate::programs::{HELM, KUBECTL, build_helm, build_kubectl, build_program, built_helm, built_kubectl};
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
    ("fuzz", "two minutes of requests, lines and journals changed at random", |skipped, _| fuzz(skipped, FUZZ)),
    ("runner", "the entrypoint and the callback plugin, with real ansible", |skipped, _| runner(skipped)),
    ("playbooks", "yamllint and ansible-lint (profile production) have no findings", |_, _| lint_playbooks()),
    ("browser", "every flow in a real browser on the real server", |skipped, _| browser(skipped)),
    ("released", "the pages of a release, embedded in the program, in a real browser", released::released),
    ("lab", "a real Kubernetes and real machines: Jobs, Services, ansible, faults, and a clean end", lab::test),
];

pub(crate) fn test(only: &[String], list: bool, full: bool) -> anyhow::Result<()> {
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
        let run: Run = match *name {
            "fuzz" if full => |skipped, _| fuzz(skipped, FULL_FUZZ),
            "lab" if full => lab::full_test,
            _ => *run,
        };
        if let Err(error) = stages.stage(name, || run_stage(name, run, &mut builds)) {
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
    if chosen("rust") || chosen("lab") {
        for (name, build) in [(KUBECTL, build_kubectl()?), (HELM, build_helm()?)] {
            match (build, doctor::lack_of_go()) {
                (Some(build), None) => builds.start_at_lowest_priority(name, &build)?,
                (Some(_), Some(why)) => eprintln!("{name} can't be built: {why}"),
                (None, _) => {}
            }
        }
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
    let mut tests = command("cargo");
    tests.args(["test", "--no-fail-fast"]).env("KUBEONKUBE_TEST_ANSIBLE", ansible()?);
    // Without one of these, only the tests that need it are left out, and reported with the reason.
    for (variable, who, program) in [
        ("KUBEONKUBE_TEST_KUBECTL", "all tests with kubectl", built_kubectl(builds)),
        ("KUBEONKUBE_TEST_HELM", "server/tests/chart.rs", built_helm(builds)),
    ] {
        match program {
            Ok(program) => {
                tests.env(variable, program);
            }
            Err(why) => skipped.note(who, &format!("{why:#}"))?,
        }
    }
    // These tests need a package index, which a contributor may not be able to reach.
    if doctor::is_ci() {
        tests.env("KUBEONKUBE_TEST_INSTALL", "1");
    }
    check(skipped.reported_by(&mut tests))?;
    check(command("cargo").args(["test", "--package", "xtask"]))
}

/// Seconds of each fuzz test. There are six, two of which run at a time on two processors: two minutes in all.
const FUZZ: u32 = 40;
/// The same with `--full`: half an hour in all.
const FULL_FUZZ: u32 = 600;

/// Runs the fuzz tests, each time with other cases. A failed one prints its seed (server/mutation).
fn fuzz(skipped: &Skipped, seconds: u32) -> anyhow::Result<()> {
    const SEED: &str = "KUBEONKUBE_TEST_SEED";
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_secs();
    let seed = env::var(SEED).unwrap_or_else(|_| format!("{now}000000"));
    eprintln!("{SEED}={seed}");
    let mut tests = command("cargo");
    tests.args(["test", "--lib", "--test", "secure", "fuzz_"]).env(SEED, seed);
    check(skipped.reported_by(tests.env("KUBEONKUBE_TEST_FUZZ_SECONDS", seconds.to_string())))
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
