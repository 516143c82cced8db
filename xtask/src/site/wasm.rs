//! The wasm half of the app: cargo, the splitter for a release, and wasm-bindgen, both as libraries.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context;
use wasm_bindgen_cli_support::Bindgen;

use super::split::{PageFile, split};
use super::{Kind, names, script};
use crate::clean_command::{check, command, root};

pub(super) struct Bundle {
    pub(super) js: Vec<u8>,
    pub(super) wasm: Vec<u8>,
    /// One file per page in addition to the main file; empty in a dev build.
    pub(super) pages: BTreeMap<String, PageFile>,
    /// JavaScript from our dependencies, by its path relative to the main script.
    pub(super) snippets: Vec<(String, Vec<u8>)>,
}

fn profile(kind: Kind) -> &'static str {
    match kind {
        Kind::Dev | Kind::Cut => "wasm-dev",
        Kind::Release => "wasm-release",
    }
}

/// The compilation alone, without splitting and binding.
pub(super) fn compile(kind: Kind) -> Command {
    let mut cargo = command("cargo");
    cargo.args(["rustc", "--package", "kubeonkube-frontend", "--lib"]);
    cargo.args(["--target", "wasm32-unknown-unknown", "--profile", profile(kind)]);
    if kind != Kind::Dev {
        // The splitter needs the relocations to find what it can move to a part.
        cargo.args(["--features", "split", "--", "-Clink-arg=--emit-relocs"]);
    }
    cargo
}

pub(super) fn build(kind: Kind) -> anyhow::Result<Bundle> {
    let profile = profile(kind);
    check(&mut compile(kind))?;
    let input = root().join("target/wasm32-unknown-unknown").join(profile).join("kubeonkube_frontend.wasm");
    // One folder per process: two builds at the same time must not delete each other's files.
    let out = root().join("target/bindgen").join(format!("{profile}-{}", std::process::id()));
    fs::create_dir_all(&out)?;
    let split = match kind {
        Kind::Dev => None,
        Kind::Cut | Kind::Release => Some(split(&input, &out)?),
    };
    Bindgen::new()
        .input_path(split.as_ref().map_or(&input, |split| &split.main))
        .web(true)?
        .typescript(false)
        .out_name("app")
        .keep_lld_exports(split.is_some())
        .remove_name_section(kind == Kind::Release)
        .remove_producers_section(true)
        .omit_default_module_path(true)
        .generate(&out)
        .context("wasm-bindgen")?;
    let (mut js, mut wasm) = (fs::read_to_string(out.join("app.js"))?, fs::read(out.join("app_bg.wasm"))?);
    let mut pages = BTreeMap::new();
    if let Some(split) = split {
        (js, wasm) = names::shorten(&script::shorten(&split.weave(&js)?)?, &wasm)?;
        pages = split.pages;
    }
    let mut snippets = Vec::new();
    let folder = out.join("snippets");
    if folder.is_dir() {
        collect(&folder, "snippets", &mut snippets)?;
    }
    let bundle = Bundle { js: js.into_bytes(), wasm, pages, snippets };
    fs::remove_dir_all(&out)?;
    Ok(bundle)
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
