//! `cargo xtask test`: first everything is fetched and compiled, then everything is tested on a quiet machine.

mod requirements;
mod stress;

use std::env;
use std::process::{Command, ExitCode};
use std::time::{Instant, SystemTime};

use anyhow::bail;

pub(crate) use self::stress::stress;
use crate::ansible::{ansible, lint_playbooks, python_client};
use crate::builds::Builds;
use crate::clean_command::{check, command, copy_of, root};
use crate::programs::{build_program, built_helm, built_kubectl, start_building_kubectl_and_helm};
use crate::skipped::Skipped;
use crate::stage::Stages;
use crate::suite::{Change, Infrastructure, Report, Run, Tests, Verdict, reported};
use crate::{doctor, lab, playwright, released, site};

struct Stage {
    name: &'static str,
    claim: &'static str,
    /// Whether it only runs with `--full`, or if it is named.
    only_full: bool,
    run: fn(&mut Run) -> anyhow::Result<()>,
}

const fn stage(name: &'static str, claim: &'static str, run: fn(&mut Run) -> anyhow::Result<()>) -> Stage {
    Stage { name, claim, only_full: false, run }
}

/// The stages in their order. Those up to `build` compile; no build runs beside the others.
const STAGES: &[Stage] = &[
    stage("format", "rustfmt finds nothing to change", |_| format()),
    stage("lint", "clippy has no warnings, for the server and for wasm", |_| lint()),
    stage("site", "the browser's part builds", |_| build_site()),
    stage("build", "all tests and programs build", build),
    stage("rust", "unit, behaviour and page tests", rust),
    stage(
        "fuzz",
        "60 s of fuzzing on two processors, half a minute of time: requests, lines and journals changed at random",
        fuzz,
    ),
    stage("runner", "the entrypoint and the callback plugin, with real ansible", runner),
    stage("playbooks", "yamllint and ansible-lint (profile production) have no findings", |_| lint_playbooks()),
    stage("health", "Flux, Helm and Argo CD say the same of all states of our objects", health),
    stage("browser", "every flow in a real browser on the real server", browser),
    stage("machines", "a cluster is created and grown on real machines, through the console", lab::machines::test),
    Stage {
        only_full: true,
        ..stage("released", "the pages of a release, embedded in the program, in a real browser", released::released)
    },
    Stage {
        only_full: true,
        ..stage(
            "lab",
            "a real Kubernetes and real machines: Jobs, Services, ansible, faults, and a clean end",
            lab::test,
        )
    },
];

/// What the stages of the gate do more of with `--full`.
const LONGER: &str = "the longer rounds of rust, fuzz and browser (such as 50 kills of the server in place of 10, five minutes of each fuzz test in \
                      place of 10 s, 23,000 lines of a log in place of 5,000, axe on each page at both widths in both themes)";

/// Stages without which no other can run.
const FIRST: [&str; 2] = ["requirements", "fetch"];

/// `cargo xtask test`: the gate, or with `full` everything, or only the stages that are named, or with `quick` what a change touches.
pub(crate) fn test(only: &[String], list: bool, full: bool, quick: bool) -> anyhow::Result<ExitCode> {
    if list {
        for stage in STAGES {
            println!("{:<10} {}{}", stage.name, stage.claim, if stage.only_full { " (with --full)" } else { "" });
        }
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(unknown) = only.iter().find(|name| !STAGES.iter().any(|known| known.name == **name)) {
        bail!("there is no stage `{unknown}`; `cargo xtask test --list` names them");
    }
    let change = quick.then(Change::of_this_branch).transpose()?;
    let is_chosen = |stage: &Stage| match (only, &change) {
        ([], Some(change)) => is_quick(stage.name, change),
        ([], None) => full || !stage.only_full,
        _ => only.iter().any(|name| name == stage.name),
    };
    let chosen = |name: &str| STAGES.iter().any(|stage| stage.name == name && is_chosen(stage));
    let began = Instant::now();
    let (mut stages, mut report, mut builds) = (Stages::begin(), Report::default(), Builds::default());
    let first = stages.stage(FIRST[0], || requirements::require(&chosen)).map_err(|error| (FIRST[0], error));
    let first = first
        .and_then(|()| stages.stage(FIRST[1], || requirements::fetch(&chosen)).map_err(|error| (FIRST[1], error)))
        .and_then(|()| start_builds(&chosen, full, &mut builds).map_err(|error| ("build", error)));
    match first {
        Err((name, error)) => report.add_error(name, &error),
        Ok(()) => {
            for stage in STAGES.iter().filter(|stage| is_chosen(stage)) {
                // The report has its errors.
                let _done =
                    stages.stage(stage.name, || run_stage(stage, full, change.as_ref(), &mut builds, &mut report));
            }
        }
    }
    stages.print();
    let left_out = STAGES.iter().filter(|stage| !is_chosen(stage));
    let not_run: Vec<_> = left_out.map(|stage| format!("{} ({})", stage.name, stage.claim)).collect();
    let not_run = if only.is_empty() { not_run } else { Vec::new() };
    let longer = (only.is_empty() && !full && !quick).then(|| LONGER.to_owned());
    let not_run: Vec<_> = not_run.into_iter().chain(longer).collect();
    eprintln!("\n{}", report.text(began.elapsed(), &not_run));
    Ok(report.exit_code())
}

/// Whether a stage is run for a change that has to be tested quickly.
fn is_quick(stage: &str, change: &Change) -> bool {
    match stage {
        "format" | "lint" | "rust" => true,
        "runner" => change.touches("deploy/runner"),
        "health" => change.touches("deploy/health"),
        "playbooks" => change.touches("deploy/runner/playbooks"),
        "browser" => !change.browser_tests().is_empty(),
        _ => false,
    }
}

/// Starts in the background what the chosen stages need and what takes minutes to build.
fn start_builds(chosen: &dyn Fn(&str) -> bool, full: bool, builds: &mut Builds) -> anyhow::Result<()> {
    if chosen("rust") || chosen("machines") || chosen("lab") {
        start_building_kubectl_and_helm(builds)?;
    }
    // A stage whose parts can't be built tries again and then fails; the other stages don't need the lab.
    let started = |started: anyhow::Result<()>| started.unwrap_or_else(|error| eprintln!("{error:#}"));
    if chosen("machines") {
        started(lab::machines::start_build(builds));
    }
    if chosen("lab") {
        started(lab::start_build(builds, full));
    }
    if chosen("released") {
        released::start_build(builds)?;
    }
    Ok(())
}

/// GiB that must be free: otherwise tests fail for lack of space.
const LEAST_FREE: u64 = 1;

/// Runs a stage, prints the tests that it skipped, and reports what failed.
///
/// # Errors
/// If anything failed.
fn run_stage(
    stage: &Stage,
    full: bool,
    change: Option<&Change>,
    builds: &mut Builds,
    report: &mut Report,
) -> anyhow::Result<()> {
    let failed_before = report.failed();
    let done = Skipped::none(&root().join("target/skipped"), stage.name).and_then(|skipped| {
        let mut run = Run { stage: stage.name, full, change, skipped, builds, report };
        let done = (stage.run)(&mut run);
        let reported = run.skipped.print(doctor::is_ci()).map_err(|error| Infrastructure::from(&error));
        done.and(reported)
    });
    if let Err(error) = done {
        report.add_error(stage.name, &error);
    }
    if report.failed() == failed_before {
        return Ok(());
    }
    if let Some(full) = requirements::free_space(&root()).and_then(|free| requirements::lack_of_space(free, LEAST_FREE))
    {
        report.add_error(stage.name, &Infrastructure::because(full));
    }
    bail!("{} failed", report.failed() - failed_before)
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
    check(command("cargo").args(["clippy", "--quiet", "--keep-going"]).args(of).args(["--", "-D", "warnings"]))
}

fn build_site() -> anyhow::Result<()> {
    site::build(site::Kind::Cut).map(drop)
}

const PROFILE: &str = "gate";
/// xtask is no default member, so its tests run apart.
const XTASK: Tests = Tests { profile: "xtask", arguments: &["--package", "xtask"], filter: "", env: &[] };
const MEMBERS: Tests = Tests { profile: PROFILE, arguments: &[], filter: "", env: &[] };

/// Compiles everything that the stages after this one run, and waits for the builds in the background: they would take the
/// processors from the tests.
fn build(run: &mut Run) -> anyhow::Result<()> {
    MEMBERS.build()?;
    XTASK.build()?;
    build_program("")?;
    run.builds.finish()
}

fn rust(run: &mut Run) -> anyhow::Result<()> {
    let env = rust_environment(run)?;
    let filter = run.change.map_or_else(|| Ok(String::new()), Change::filter)?;
    let tests = Tests { env: &env, filter: &filter, ..MEMBERS };
    run.run_tests(|only| tests.run(only))?;
    if run.change.is_none_or(|change| change.touches("xtask")) {
        run.run_tests(|only| XTASK.run(only))?;
    }
    Ok(())
}

/// The variables that Rust tests read.
fn rust_environment(run: &mut Run) -> anyhow::Result<Vec<(&'static str, String)>> {
    let mut env = vec![("KUBEONKUBE_TEST_ANSIBLE", ansible()?), run.skipped.variable()];
    env.extend(run.full_variable());
    // Without one of these, only the tests that need it are left out, and reported with the reason.
    for (variable, who, program) in [
        ("KUBEONKUBE_TEST_KUBECTL", "all tests with kubectl", built_kubectl(run.builds)),
        ("KUBEONKUBE_TEST_HELM", "server/tests/chart.rs", built_helm(run.builds)),
        ("KUBEONKUBE_TEST_PYTHON", "the test with Python's dynamic client", python_client()),
    ] {
        match program {
            Ok(program) => env.push((variable, program)),
            Err(why) => run.skipped.note(who, &format!("{why:#}"))?,
        }
    }
    // These tests need a package index, which a contributor may not be able to reach.
    if doctor::is_ci() {
        env.push(("KUBEONKUBE_TEST_INSTALL", "1".to_owned()));
    }
    Ok(env)
}

/// Seconds of each fuzz test. There are six, and nextest runs one for each processor: 60 s of fuzzing on two processors, half a
/// minute of time.
const FUZZ: u32 = 10;
/// The same with `--full`: 1,800 s of fuzzing on two processors, a quarter of an hour of time.
const FULL_FUZZ: u32 = 300;

/// Runs the fuzz tests. The gate always begins with the same cases, so that it doesn't fail by chance; with `--full`, they are
/// others each time. A failed test prints its seed (server/mutation).
fn fuzz(run: &mut Run) -> anyhow::Result<()> {
    const SEED: &str = "KUBEONKUBE_TEST_SEED";
    let (seed, seconds) = if run.full {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_secs();
        (format!("{now}000000"), FULL_FUZZ)
    } else {
        ("1".to_owned(), FUZZ)
    };
    let seed = env::var(SEED).unwrap_or(seed);
    eprintln!("{SEED}={seed}");
    let env = [(SEED, seed), ("KUBEONKUBE_TEST_FUZZ_SECONDS", seconds.to_string()), run.skipped.variable()];
    let tests = Tests { profile: "fuzz", arguments: &[], filter: "test(fuzz_)", env: &env };
    let failed = tests.run(None)?;
    // Never tried again: the cases are the same.
    run.report.add_verdict(run.stage, Verdict { failed, flaky: Vec::new() });
    Ok(())
}

fn runner(run: &mut Run) -> anyhow::Result<()> {
    let tests = python_tests(run)?;
    run.run_tests(|only| {
        let names = only.unwrap_or_default().iter().map(|test| format!("{}.{}", test.suite, test.name));
        reported::run(copy_of(&tests).args(names))
    })?;
    Ok(())
}

/// The tests of `deploy/runner`: all, unless arguments name some.
fn python_tests(run: &Run) -> anyhow::Result<Command> {
    let mut tests = command("python3");
    tests.arg("deploy/runner/tests/run.py").env("KUBEONKUBE_TEST_ANSIBLE", ansible()?);
    tests.envs([run.skipped.variable()]).envs(run.full_variable());
    Ok(tests)
}

/// The Go tests of `deploy/health`.
fn health(run: &mut Run) -> anyhow::Result<()> {
    if let Some(why) = doctor::lack_of_go().filter(|_| !doctor::is_ci()) {
        run.leave_out(&why);
        return Ok(());
    }
    check(command("go").current_dir(root().join("deploy/health/tests")).args(["test", "./..."]))
}

fn browser(run: &mut Run) -> anyhow::Result<()> {
    site::build(site::Kind::Cut)?;
    let program = build_program("")?;
    let files = run.change.map(Change::browser_tests).unwrap_or_default();
    playwright::run(run, &program, &files, "")
}
