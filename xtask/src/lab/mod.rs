//! `cargo xtask lab` builds and starts the lab's program (end2end/lab), and the stages that boot a lab. The lab is a separate crate, so that no other xtask
//! command has to compile a Kubernetes client.

pub(crate) mod machines;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use anyhow::{bail, ensure};

use crate::ansible::ansible;
use crate::builds::Builds;
use crate::clean_command::{check, command, root};
use crate::skipped::Skipped;
use crate::stage::Stages;
use crate::suite::{FULL, FailedTest, Infrastructure, Report, Run, Tests};
use crate::{doctor, images, playwright, programs, site};

pub(crate) fn lab(words: &[String]) -> anyhow::Result<()> {
    // The program replaces this process, so that shells inside the lab get the terminal and its signals.
    let error = std::os::unix::process::CommandExt::exec(&mut in_callers_folder(&Lab::build(false)?.program, words)?);
    Err(error.into())
}

/// The lab's program with the user's arguments, in the user's current folder: arguments may be relative file names.
fn in_callers_folder(program: &str, words: &[String]) -> anyhow::Result<Command> {
    let mut command = command(program);
    command.current_dir(std::env::current_dir()?).args(words);
    Ok(command)
}

/// The lab's program.
pub(crate) struct Lab {
    program: String,
    /// Whether root file systems must have exactly the packages of their locks.
    full: bool,
}

impl Lab {
    /// Builds it, with the features that its tests need (see `programs::build_program`).
    pub(crate) fn build(full: bool) -> anyhow::Result<Self> {
        check(command("cargo").args(["build", "--quiet", "--package", "kubeonkube-lab", "--bins", "--examples"]))?;
        Ok(Self { program: root().join("target/debug/kubeonkube-lab").to_string_lossy().into_owned(), full })
    }

    /// A command of it, without the caller's kubeconfig: the stage must test the lab's cluster.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = command(&self.program);
        command.env_remove("KUBECONFIG").env_remove("KUBEBUILDER_ASSETS").args(words);
        if self.full {
            command.env(FULL, "1");
        }
        command
    }
}

/// Name of the background build.
const BUILD: &str = "lab-parts";

/// Starts building the parts of the lab (Kubernetes, etcd, machine images). Without Go's caches this takes eight minutes.
pub(crate) fn start_build(builds: &mut Builds, full: bool) -> anyhow::Result<()> {
    if unsupported().is_some() {
        return Ok(());
    }
    let lab = Lab::build(full)?;
    // The stage reports it, too, but that may be an hour later.
    if let Some(lack) = lack(&lab)? {
        eprintln!("The stage lab can't be run: {lack}");
        return Ok(());
    }
    builds.start_at_lowest_priority(BUILD, &lab.command(&parts(full)))
}

/// The words that build the parts that the stage needs.
fn parts(full: bool) -> Vec<&'static str> {
    [PARTS, if full { &[NEWER_RELEASE] } else { &[] }].concat()
}

/// Why this computer can never boot a lab.
pub(crate) fn unsupported() -> Option<&'static str> {
    if !cfg!(target_os = "linux") {
        return Some("it needs Linux");
    }
    (!doctor::is_root()).then_some("it needs root")
}

/// Refuses to go on if a lab is running. Remains of a crashed one are no reason: the stage removes them where `CI` is set.
///
/// # Errors
/// If there is another lab.
pub(crate) fn require_no_other() -> anyhow::Result<()> {
    // Without this folder, the lab's program isn't compiled only to find nothing.
    if unsupported().is_some() || !Path::new(LOCK).exists() {
        return Ok(());
    }
    lack(&Lab::build(false)?).map(drop)
}

/// The `lab` stage: boots a lab, runs its self-tests, ends it. Then boots and ends labs and checks that they leave nothing behind.
/// With `--full` then three control planes, and upgrades to the newer Kubernetes.
pub(crate) fn test(run: &mut Run) -> anyhow::Result<()> {
    if let Some(reason) = unsupported() {
        return skip(run, reason);
    }
    let lab = Lab::build(run.full)?;
    let mut stages = Stages::begin();
    if let Some(lack) = lack(&lab)? {
        return skip(run, &lack);
    }
    let parts = parts(run.full);
    if let Err(error) = run.builds.wait(BUILD) {
        eprintln!("{error:#}\ntrying again");
    }
    stages.stage("lab build", || check(&mut lab.command(&parts)))?;
    // Some requirements can only be checked with the built parts.
    if let Some(lack) = lack(&lab)? {
        return skip(run, &lack);
    }
    stages.stage("lab up", || boot_twice(run, &lab, LAB))?;
    let mut tested = stages.stage("lab tests", || tests(run, CLAIMS));
    let mut rest = vec![("lab installed", installed as Test), ("lab hosted", hosted)];
    if !run.full {
        // With `--full`, it runs later, and also upgrades.
        rest.push(("lab console", console));
    }
    for (name, test) in rest {
        if matches!(tested, Ok(true)) {
            tested = stages.stage(name, || test(run, &lab));
        }
    }
    let ended = stages.stage("lab down", || end(&lab, &tested));
    let passed = tested?;
    ended?;
    if passed {
        stages.stage("lab life", || tests(run, LIFE))?;
    }
    stages.print();
    if passed && run.full { test_fully(run, &lab) } else { Ok(()) }
}

/// Leaves the stage out. Where `CI` is set, that is a failure.
fn skip(run: &mut Run, reason: &str) -> anyhow::Result<()> {
    run.leave_out(reason);
    run.skipped.note(LAB_TESTS, reason)
}

/// Tests on the lab. Returns whether they passed; those that failed are reported.
type Test = fn(&mut Run, &Lab) -> anyhow::Result<bool>;

fn test_fully(run: &mut Run, lab: &Lab) -> anyhow::Result<()> {
    // Each boots its own lab, which ends with the tests.
    for suite in [ENDPOINT, UPGRADE, KILLED] {
        tests(run, suite)?;
    }
    // The console's test also upgrades if the lab serves two releases.
    boot_twice(run, lab, LAB_WITH_BOTH)?;
    let tested = browse(run, lab, LIFE_OF_A_CLUSTER, &[UPGRADES]);
    end(lab, &tested)?;
    tested.map(drop)
}

/// Ends a lab on which tests have run. Prints its state first, unless they passed.
fn end(lab: &Lab, tested: &anyhow::Result<bool>) -> anyhow::Result<()> {
    if !matches!(tested, Ok(true)) {
        print_state(lab);
    }
    check(&mut lab.command(&["down", "--force"]))
}

/// Runs tests of the lab's crate, one at a time.
fn tests(run: &mut Run, arguments: &[&str]) -> anyhow::Result<bool> {
    tests_with(run, arguments, "", Vec::new())
}

fn tests_with(run: &mut Run, arguments: &[&str], filter: &str, mut env: Vec<(&str, String)>) -> anyhow::Result<bool> {
    env.extend([("KUBEONKUBE_TEST_ANSIBLE", ansible()?), run.skipped.variable()]);
    env.extend(run.full_variable());
    let arguments = [&["--package", "kubeonkube-lab"], arguments].concat();
    let tests = Tests { profile: "lab", arguments: &arguments, filter, env: &env };
    run.run_tests(|only| tests.run(only))
}

/// Measures the built-in engine in a lab that ends with the measurement.
pub(crate) fn bench() -> anyhow::Result<()> {
    with_both_releases()?;
    check(command("cargo").env_remove("KUBECONFIG").env_remove("KUBEBUILDER_ASSETS").args(FIGURES))
}

/// Takes the pictures of docs/images while the console's test runs. The runs of that test become the recordings of
/// end2end/fixtures/recorded.
pub(crate) fn pictures() -> anyhow::Result<()> {
    let lab = with_both_releases()?;
    let (mut builds, mut report) = (Builds::default(), Report::default());
    programs::fetch_kubectl_and_helm()?;
    programs::start_building_kubectl_and_helm(&mut builds)?;
    boot(&lab, LAB_WITH_BOTH)?;
    let folder = root().join("docs/images").to_string_lossy().into_owned();
    let skipped = Skipped::none(&root().join("target/skipped"), "pictures")?;
    let mut run =
        Run { stage: "pictures", full: true, change: None, skipped, builds: &mut builds, report: &mut report };
    let taken = browse(&mut run, &lab, LIFE_OF_A_CLUSTER, &[UPGRADES, ("KUBEONKUBE_PICTURES", &folder)]);
    let taken = taken.and_then(|passed| {
        run.skipped.print(true)?;
        ensure!(passed, "the tests that take the pictures failed");
        Ok(())
    });
    taken.and(check(&mut lab.command(&["down", "--force"])))
}

/// Builds both releases of Kubernetes for machines. Returns the lab's program.
fn with_both_releases() -> anyhow::Result<Lab> {
    let lab = Lab::build(false)?;
    let lack = unsupported().map_or_else(|| lack(&lab), |reason| Ok(Some(reason.to_owned())))?;
    if let Some(lack) = lack {
        bail!("the lab can't be booted: {lack}");
    }
    check(&mut lab.command(&parts(true)))?;
    Ok(lab)
}

/// The images of the program in the lab's own Kubernetes, installed with kubectl and with helm.
fn installed(run: &mut Run, lab: &Lab) -> anyhow::Result<bool> {
    const CHART: &str = "the_chart_is_installed_upgraded_and_uninstalled";
    let images = images::for_lab(lab, &server()?)?;
    let mut env = vec![
        ("KUBEONKUBE_IMAGES", images.to_string_lossy().into_owned()),
        ("KUBEONKUBE_TEST_GATEWAY", programs::gateway_definitions()?.to_string_lossy().into_owned()),
    ];
    match programs::built_helm(run.builds) {
        Ok(helm) => {
            env.push(("KUBEONKUBE_TEST_HELM", helm));
            tests_with(run, INSTALLED, "", env)
        }
        Err(why) => {
            run.skipped.note(CHART, &format!("{why:#}"))?;
            tests_with(run, INSTALLED, &format!("not test({CHART})"), env)
        }
    }
}

/// A hosted cluster in the lab's own Kubernetes.
fn hosted(run: &mut Run, _lab: &Lab) -> anyhow::Result<bool> {
    let server = server()?.to_string_lossy().into_owned();
    tests_with(run, HOSTED, "", vec![("KUBEONKUBE_SERVER", server)])
}

/// The console on the lab's machines, in a browser.
fn console(run: &mut Run, lab: &Lab) -> anyhow::Result<bool> {
    browse(run, lab, LIFE_OF_A_CLUSTER, &[])
}

/// Runs a file of `end2end/machines` on a lab that runs. It reads the variables in `env`.
fn browse(run: &mut Run, lab: &Lab, file: &str, env: &[(&str, &str)]) -> anyhow::Result<bool> {
    let kubectl = programs::built_kubectl(run.builds)?;
    playwright::run_in_lab(run, &server()?, &lab.program, &kubectl, file, env)
}

/// The server's program, with its site.
fn server() -> anyhow::Result<PathBuf> {
    site::build(site::Kind::Cut)?;
    programs::build_program("")
}

/// What this computer lacks for the lab, in the lab's words.
///
/// # Errors
/// If a lab is already running: the stage ends only a lab that it booted itself. Remains of a lab that crashed are an error
/// where `CI` isn't set; there, they are removed.
fn lack(lab: &Lab) -> anyhow::Result<Option<String>> {
    lack_where(lab, doctor::is_ci())
}

fn lack_where(lab: &Lab, is_ci: bool) -> anyhow::Result<Option<String>> {
    match obstacle(lab, LAB, is_ci)? {
        None => Ok(None),
        Some(Obstacle::Lack(message)) => Ok(Some(message)),
        Some(Obstacle::Lab(message)) => {
            Err(Infrastructure::because(format!("the stage has to boot a new lab, but {message}")))
        }
    }
}

/// Why a lab can't be booted now, in the words of the lab's program.
enum Obstacle {
    /// The computer lacks something, or parts aren't built.
    Lack(String),
    /// There is a lab, or what a crashed one has left.
    Lab(String),
}

/// Asks whether the lab `up` could be booted. Where `CI` is set, what a crashed lab has left is removed first.
fn obstacle(lab: &Lab, up: &[&str], is_ci: bool) -> anyhow::Result<Option<Obstacle>> {
    let ask = || -> anyhow::Result<(ExitStatus, String)> {
        let checked = lab.command(up).arg("--check").output()?;
        Ok((checked.status, String::from_utf8_lossy(&checked.stderr).trim().to_owned()))
    };
    let (mut status, mut message) = ask()?;
    if is_ci && status.code() == Some(LEFT_OVERS) {
        eprintln!("{message}\nNothing of it is alive, so it is removed now.");
        check(&mut lab.command(&["down", "--force"]))?;
        (status, message) = ask()?;
    }
    match status.code() {
        Some(0) => Ok(None),
        Some(LACKS) => Ok(Some(Obstacle::Lack(message))),
        Some(IN_THE_WAY | LEFT_OVERS) => Ok(Some(Obstacle::Lab(message))),
        _ => bail!("lab up --check: {status} {message}"),
    }
}

/// Boots the lab, and once more if that fails: a boot has deadlines.
fn boot_twice(run: &mut Run, lab: &Lab, up: &[&str]) -> anyhow::Result<()> {
    let failed = |error: anyhow::Error| FailedTest {
        suite: "lab".into(),
        name: "boot".into(),
        seconds: 0.0,
        message: format!("{error:#}"),
    };
    let booted = |_: Option<&[FailedTest]>| Ok(boot(lab, up).err().map(failed).into_iter().collect());
    if run.run_tests(booted)? { Ok(()) } else { bail!("without a lab, its tests can't run") }
}

/// Boots the lab. After a failed boot, prints its state and ends it. A refused boot has left nothing; a lab that runs then
/// belongs to another user.
fn boot(lab: &Lab, up: &[&str]) -> anyhow::Result<()> {
    let status = lab.command(up).status()?;
    if status.success() {
        return Ok(());
    }
    // No exit code: the boot was killed. The next `up` reports what it left.
    if ![None, Some(LACKS), Some(IN_THE_WAY), Some(LEFT_OVERS)].contains(&status.code()) {
        print_state(lab);
        check(&mut lab.command(&["down", "--force"]))?;
    }
    bail!("lab {}: {status}", up.join(" "))
}

/// Prints what a CI log needs to explain a failure: the lab is gone afterwards. Few lines, because the failure stands before them.
fn print_state(lab: &Lab) {
    for words in [&["status"] as &[_], &["logs", "--lines=15", "kube-apiserver"], &["logs", "--lines=15", "kubelet"]] {
        let _printed = lab.command(words).status();
    }
}

/// The tests that are skipped where the lab can't boot.
const LAB_TESTS: &str = "all of end2end/lab/tests";
/// Exit codes of the lab's program (`lab::Error::exit_code`).
const LACKS: i32 = 69;
const IN_THE_WAY: i32 = 75;
const LEFT_OVERS: i32 = 76;
/// The folder of a lab that runs, or that crashed (`lab::lock`).
const LOCK: &str = "/run/kubeonkube-lab";

/// The parts that [`LAB`] needs.
const PARTS: &[&str] =
    &["build", "machine-root", "server-root", "images", "kubernetes-1.36", "etcd-3.6", "runtime", "release-1.36"];
/// What clusters are upgraded to. Only `--full` needs it, because it doubles a cold build.
const NEWER_RELEASE: &str = "release-1.37";
/// The lab that its tests share (`end2end/lab/tests/shared`).
const LAB: &[&str] = &["up", "--machines", "3", "--meta-nodes", "2", "--releases=1.36"];
/// The lab of the console's test with `--full`.
const LAB_WITH_BOTH: &[&str] = &["up", "--machines", "3", "--machines-only", "--releases=1.36,1.37"];
/// The console's test, in end2end/machines.
const LIFE_OF_A_CLUSTER: &str = "life-of-a-cluster";
/// Tells it that the lab serves two releases.
const UPGRADES: (&str, &str) = ("KUBEONKUBE_LAB_UPGRADES", "1");
const FIGURES: &[&str] =
    &["test", "--package", "kubeonkube-lab", "--test", "figures", "--", "--ignored", "--nocapture", "--test-threads=1"];
/// Arguments for cargo-nextest.
const CLAIMS: &[&str] = &[];
const INSTALLED: &[&str] = &["--run-ignored", "only", "--test", "installed"];
const HOSTED: &[&str] = &["--run-ignored", "only", "--test", "hosted"];
/// Three control planes that share an address.
const ENDPOINT: &[&str] = &["--run-ignored", "only", "--test", "endpoint"];
const UPGRADE: &[&str] = &["--run-ignored", "only", "--test", "upgrade"];
/// Playbooks that are killed and run again.
const KILLED: &[&str] = &["--run-ignored", "only", "--test", "killed"];
const LIFE: &[&str] = &["--run-ignored", "only", "--test", "life", "--test", "given", "--test", "starting"];

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    /// Calls `use_lab` with a fake lab, which runs `script`. Returns the result and the verbs that it was called with.
    fn with_fake_lab<T>(script: &str, use_lab: impl FnOnce(&Lab) -> T) -> (T, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("lab");
        fs::write(&program, format!("#!/bin/sh\necho \"$1\" >> \"$0.asked\"\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let done = use_lab(&Lab { program: program.to_string_lossy().into_owned(), full: false });
        let asked = fs::read_to_string(program.with_added_extension("asked")).unwrap();
        (done, asked.lines().map(str::to_owned).collect())
    }

    /// Boots with a fake lab whose `up` ends with `code`.
    fn booted(code: i32) -> (anyhow::Result<()>, Vec<String>) {
        with_fake_lab(&format!("[ \"$1\" != up ] || exit {code}"), |lab| boot(lab, LAB))
    }

    #[test]
    fn only_a_lab_of_our_own_is_ended() {
        for code in [LACKS, IN_THE_WAY, LEFT_OVERS] {
            let (done, asked) = booted(code);
            assert!(done.is_err());
            assert_eq!(asked, ["up"]);
        }
        let (done, asked) = booted(1);
        assert!(done.is_err());
        assert_eq!(asked, ["up", "status", "logs", "logs", "down"]);
        let (done, asked) = booted(0);
        done.unwrap();
        assert_eq!(asked, ["up"]);
    }

    /// Checks with a fake lab, of whose crash something is left until `down`.
    fn after_a_crash(is_ci: bool) -> (anyhow::Result<Option<String>>, Vec<String>) {
        let script = "[ \"$1\" = down ] && exec touch \"$0.clean\"\n\
                      [ -e \"$0.clean\" ] || { echo 'a crashed lab has left something behind' >&2; exit 76; }";
        with_fake_lab(script, |lab| lack_where(lab, is_ci))
    }

    #[test]
    fn on_ci_the_remains_of_a_crashed_lab_are_removed() {
        let (lack, asked) = after_a_crash(true);
        assert_eq!(lack.unwrap(), None);
        assert_eq!(asked, ["up", "down", "up"]);
    }

    #[test]
    fn elsewhere_the_remains_of_a_crashed_lab_are_reported() {
        let (lack, asked) = after_a_crash(false);
        let error = lack.unwrap_err();
        assert!(error.is::<Infrastructure>() && error.to_string().contains("left something behind"), "{error}");
        assert_eq!(asked, ["up"]);
    }

    #[test]
    fn the_lab_runs_in_the_callers_folder() {
        let typed = in_callers_folder("lab", &["kubectl".to_owned()]).unwrap();
        assert_eq!(typed.get_current_dir(), Some(std::env::current_dir().unwrap().as_path()));
        assert_ne!(typed.get_current_dir(), Some(root().as_path()));
    }
}
