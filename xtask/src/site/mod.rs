//! The browser's part: wasm and its JavaScript, CSS, icons; hashed, and compressed for a release, in `target/site`.

mod compress;
mod css;
mod names;
mod script;
mod split;
mod wasm;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;
use sha2::{Digest, Sha256};

use crate::clean_command::root;

/// The variant of the site.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Quick to build.
    Dev,
    /// As quick, but cut into pages as in a release.
    Cut,
    /// Optimized for size and cut into pages, with a Brotli and a gzip copy of each file.
    Release,
}

/// A finished site.
pub(crate) struct Built {
    /// Size of each file in bytes, by its path under `/`: after Brotli in a release, uncompressed in a dev build.
    pub(crate) sizes: BTreeMap<String, usize>,
    /// Path of the file with the code of a page or piece, by its name.
    pub(crate) pages: BTreeMap<String, String>,
}

impl Built {
    /// What the browser loads before the page is hydrated, in KB (1,000 bytes), without the HTML and without lazy-loaded pieces.
    pub(crate) fn first_load_kb(&self, page: &str) -> f64 {
        let loads = |path: &str| path.starts_with("/assets/") && self.pages.values().all(|file| file != path);
        let all = self.sizes.iter().filter(|(path, _)| loads(path)).map(|(_, size)| *size).sum::<usize>();
        all as f64 / 1000.0 + self.file_kb(page)
    }

    /// Size of the file with the code of a page or piece, in KB.
    pub(crate) fn file_kb(&self, page: &str) -> f64 {
        self.sizes[&self.pages[page]] as f64 / 1000.0
    }

    /// The names of the pages, and of the pieces that a hydrated page loads when it needs them.
    pub(crate) fn pages_and_pieces(&self) -> (Vec<&str>, Vec<&str>) {
        self.pages.keys().map(String::as_str).partition(|name| !name.ends_with(split::PIECE))
    }
}

/// Where the site is written. A release of the server embeds this folder.
pub(crate) fn folder() -> PathBuf {
    root().join("target/site")
}

/// The command that compiles the wasm, and nothing else of the site. For a release, linking takes minutes on one processor.
pub(crate) fn compile(kind: Kind) -> Command {
    wasm::compile(kind)
}

/// Builds the site. The manifest is written last, and stale files are deleted after that: a server that reads the folder
/// during a build sees either the old site or the new one.
pub(crate) fn build(kind: Kind) -> anyhow::Result<Built> {
    let bundle = wasm::build(kind)?;
    let css = css::build()?;
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    let mut manifest = serde_json::Map::new();
    for (role, extension, bytes) in
        [("css", "css", css.into_bytes()), ("js", "js", bundle.js), ("wasm", "wasm", bundle.wasm)]
    {
        let stem = if role == "css" { "site" } else { "app" };
        let path = format!("assets/{stem}-{}.{extension}", hash(&bytes));
        manifest.insert(role.to_owned(), format!("/{path}").into());
        files.push((path, bytes));
    }
    let pages: BTreeMap<String, String> =
        bundle.pages.iter().map(|(page, file)| (page.clone(), format!("/{}", file.path))).collect();
    manifest.insert("pages".to_owned(), serde_json::to_value(&pages)?);
    files.extend(bundle.pages.into_values().map(|file| (file.path, file.bytes)));
    for (path, bytes) in bundle.snippets {
        files.push((format!("assets/{path}"), bytes));
    }
    for entry in fs::read_dir(root().join("public"))? {
        let entry = entry?;
        files.push((entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path())?));
    }
    let mut sizes = BTreeMap::new();
    let mut keep = vec![folder().join("manifest.json")];
    for (path, bytes) in &files {
        let target = folder().join(path);
        fs::create_dir_all(target.parent().expect("a file has a folder"))?;
        fs::write(&target, bytes).with_context(|| target.display().to_string())?;
        let mut size = bytes.len();
        if kind == Kind::Release {
            for (extension, packed) in [("br", compress::brotli(bytes)?), ("gz", compress::gzip(bytes)?)] {
                let packed_path = PathBuf::from(format!("{}.{extension}", target.display()));
                if extension == "br" {
                    size = packed.len();
                }
                fs::write(&packed_path, packed)?;
                keep.push(packed_path);
            }
        }
        sizes.insert(format!("/{path}"), size);
        keep.push(target);
    }
    let manifest_path = folder().join("manifest.json");
    let text = serde_json::to_string_pretty(&manifest)?;
    if fs::read_to_string(&manifest_path).ok().as_deref() != Some(&text) {
        fs::write(&manifest_path, text)?;
    }
    remove_others(&folder(), &keep)?;
    Ok(Built { sizes, pages })
}

fn remove_others(folder: &std::path::Path, keep: &[PathBuf]) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(&path, keep)?;
        } else if !keep.contains(&path) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// The first 64 bits of the SHA-256 in hex. They make file names unique, nothing more.
fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
