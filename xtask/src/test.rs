//! `cargo xtask test`: the quick stages first, then what needs a browser.

use anyhow::{Context, bail};

use crate::{
    clean_command::{check, command, output, root},
    doctor, lab, site,
    stage::Stages,
};

type Run = fn() -> anyhow::Result<()>;
type Stage = (&'static str, &'static str, Run);

/// The stages in their order, each with what it shows.
const STAGES: &[Stage] = &[
    ("format", "rustfmt agrees", format),
    ("lint", "clippy has nothing to say, for the server and for wasm", lint),
    ("site", "the browser's part builds", build_site),
    ("rust", "unit, behaviour and page tests", rust),
    ("runner", "the entrypoint and the callback plugin, with real ansible", runner),
    ("browser", "every flow in a real browser on the real server", browser),
    ("released", "the pages of a release, which come in parts, in a real browser", released),
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
            && let Err(error) = stages.stage(name, *run)
        {
            eprintln!("{error:#}");
            failed.push(*name);
        }
    }
    stages.print();
    if failed.is_empty() { Ok(()) } else { bail!("failed: {}", failed.join(", ")) }
}

fn format() -> anyhow::Result<()> {
    check(command("cargo").args(["fmt", "--all", "--check"]))
}

fn lint() -> anyhow::Result<()> {
    clippy(&["--all-targets"])?;
    for tool in ["xtask", "kubeonkube-lab"] {
        clippy(&["--package", tool, "--all-targets"])?;
    }
    let wasm = ["--target", "wasm32-unknown-unknown", "--profile", "wasm-dev"];
    clippy(&[&["--package", "kubeonkube-frontend"], &wasm[..]].concat())
}

fn clippy(of: &[&str]) -> anyhow::Result<()> {
    check(command("cargo").args(["clippy", "--quiet"]).args(of).args(["--", "-D", "warnings"]))
}

fn build_site() -> anyhow::Result<()> {
    site::build(site::Kind::Dev).map(drop)
}

fn rust() -> anyhow::Result<()> {
    // Test binaries start the real program: it must be there and fresh.
    check(command("cargo").args(["build", "--package", "kubeonkube"]))?;
    let mut tests = command("cargo");
    tests.args(["test", "--no-fail-fast"]).env("KUBEONKUBE_TEST_ANSIBLE", ansible()?);
    if let Some(kubectl) = kubectl()? {
        tests.env("KUBEONKUBE_TEST_KUBECTL", kubectl);
    }
    check(&mut tests)?;
    check(command("cargo").args(["test", "--package", "xtask"]))
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

fn runner() -> anyhow::Result<()> {
    let ansible = ansible()?;
    check(
        command("python3")
            .args(["-m", "unittest", "discover", "-s", "deploy/runner/tests", "-t", "deploy/runner/tests"])
            .env("KUBEONKUBE_TEST_ANSIBLE", ansible),
    )
}

/// A virtual environment with the ansible-core of the runner image, made once.
fn ansible() -> anyhow::Result<String> {
    let folder = root().join("target/tools/ansible");
    if !folder.join("bin/ansible-playbook").exists() {
        let image = std::fs::read_to_string(root().join("deploy/runner/Dockerfile"))?;
        let pinned = image
            .split_whitespace()
            .find(|word| word.starts_with("ansible-core=="))
            .context("the image pins ansible-core")?;
        check(command("python3").args(["-m", "venv"]).arg(&folder))?;
        check(command(&folder.join("bin/pip").to_string_lossy()).args(["install", "--quiet", pinned]))?;
    }
    Ok(folder.join("bin").to_string_lossy().into_owned())
}

fn browser() -> anyhow::Result<()> {
    site::build(site::Kind::Dev)?;
    playwright(&[], "")
}

/// A dev build is one file; what is released is cut into parts, which only a browser can put together.
fn released() -> anyhow::Result<()> {
    site::build(site::Kind::Release)?;
    playwright(&["pages-in-parts", "register", "configuration", "submit", "cancel", "failing-runs"], "1")
}

/// The browser tests in these files, or all; `in_parts`: not empty where a site in parts is expected.
fn playwright(files: &[&str], in_parts: &str) -> anyhow::Result<()> {
    let (Some(chromium), true) = (doctor::chromium(), doctor::on_path("node")) else {
        eprintln!("skipped: browser tests (no Chromium or no Node.js)");
        return Ok(());
    };
    let folder = root().join("end2end");
    check(command("npm").current_dir(&folder).args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]))?;
    let path = output(command("sh").args(["-c", &format!("command -v {chromium}")])).unwrap_or_default();
    check(
        command("npx")
            .current_dir(&folder)
            .args(["playwright", "test"])
            .args(files)
            .env("KUBEONKUBE_IN_PARTS", in_parts)
            .env("KUBEONKUBE_CHROMIUM", path.trim())
            .env("KUBEONKUBE_ANSIBLE", ansible()?)
            .env("KUBEONKUBE_BINARY", root().join("target/debug/kubeonkube")),
    )
}
