//! The wasm half of the app: cargo, wasm-bindgen as a library, and wasm-opt for a release where it is installed.

use std::{fs, path::Path};

use anyhow::Context;
use wasm_bindgen_cli_support::Bindgen;

use super::Kind;
use crate::{
    clean_command::{check, command, root},
    doctor::on_path,
};

pub(super) struct Bundle {
    pub(super) js: Vec<u8>,
    pub(super) wasm: Vec<u8>,
    /// JavaScript that crates bring along, by its path beside the main script.
    pub(super) snippets: Vec<(String, Vec<u8>)>,
}

pub(super) fn build(kind: Kind) -> anyhow::Result<Bundle> {
    let profile = match kind {
        Kind::Dev => "wasm-dev",
        Kind::Release => "wasm-release",
    };
    check(command("cargo").args([
        "build",
        "--package",
        "kubeonkube-frontend",
        "--target",
        "wasm32-unknown-unknown",
        "--profile",
        profile,
    ]))?;
    let input = root().join("target/wasm32-unknown-unknown").join(profile).join("kubeonkube_frontend.wasm");
    // A folder of its own: two builds at the same time must not clear away each other's files.
    let out = root().join("target/bindgen").join(format!("{profile}-{}", std::process::id()));
    fs::create_dir_all(&out)?;
    Bindgen::new()
        .input_path(&input)
        .web(true)?
        .typescript(false)
        .out_name("app")
        .remove_name_section(kind == Kind::Release)
        .remove_producers_section(true)
        .omit_default_module_path(true)
        .generate(&out)
        .context("wasm-bindgen")?;
    let wasm = out.join("app_bg.wasm");
    if kind == Kind::Release {
        optimise(&wasm)?;
    }
    let mut snippets = Vec::new();
    let folder = out.join("snippets");
    if folder.is_dir() {
        collect(&folder, "snippets", &mut snippets)?;
    }
    let bundle = Bundle { js: fs::read(out.join("app.js"))?, wasm: fs::read(wasm)?, snippets };
    fs::remove_dir_all(&out)?;
    Ok(bundle)
}

/// About 10 % smaller, where binaryen's wasm-opt is at hand. The features are named one by one: with `--all-features` it
/// emits encodings that browsers don't know yet.
fn optimise(wasm: &Path) -> anyhow::Result<()> {
    if !on_path("wasm-opt") {
        eprintln!("wasm-opt is not on the PATH: the release works, about a tenth larger");
        return Ok(());
    }
    let features =
        ["bulk-memory", "nontrapping-float-to-int", "sign-ext", "mutable-globals", "reference-types", "multivalue"];
    check(command("wasm-opt").arg("-Oz").args(features.map(|f| format!("--enable-{f}"))).arg(wasm).arg("-o").arg(wasm))
}

fn collect(folder: &Path, prefix: &str, into: &mut Vec<(String, Vec<u8>)>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = format!("{prefix}/{}", path.file_name().expect("an entry has a name").to_string_lossy());
        if path.is_dir() {
            collect(&path, &name, into)?;
        } else {
            into.push((name, fs::read(path)?));
        }
    }
    Ok(())
}
