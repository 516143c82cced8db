//! The size of each page's first load, and the crates that contribute most to the wasm.

use std::collections::BTreeMap;
use std::fs;

use wasmparser::{Name, NameSectionReader, Parser, Payload};

use crate::clean_command::root;
use crate::site;

/// Goal of a page's first load: HTML, CSS, script and wasm, all after Brotli; with a piece that is loaded on demand, too.
const GOAL_KB: f64 = 350.0;

/// Only more than this is an error: code must not be harder to read to save the next kilobyte.
const LIMIT_KB: f64 = 420.0;

/// Size of a large page's HTML (a run with 200 lines of log).
const HTML_KB: f64 = 8.0;

/// Builds the release site. Prints the first load of each page and the ten crates that contribute most to the wasm.
pub(super) fn run() -> anyhow::Result<()> {
    let built = site::build(site::Kind::Release)?;
    println!("files, Brotli 11:");
    for (path, size) in &built.sizes {
        if path.starts_with("/assets/") {
            println!("  {path:<48} {:>7.1} KB", *size as f64 / 1000.0);
        }
    }
    let checked = first_loads(&built);
    let wasm = fs::read(root().join("target/wasm32-unknown-unknown/wasm-release/kubeonkube_frontend.wasm"))?;
    println!("\nlargest contributors to the wasm (code before compression):");
    for (name, bytes) in contributors(&wasm)?.into_iter().take(10) {
        println!("  {name:<48} {:>7.1} KB", bytes as f64 / 1000.0);
    }
    checked
}

/// Prints the first load of each page of a release, alone and with each of its pieces, and its distance from the goal.
///
/// # Errors
/// If some are over the limit. The error names them all.
pub(crate) fn first_loads(built: &site::Built) -> anyhow::Result<()> {
    let (pages, pieces) = built.pages_and_pieces();
    let mut over = Vec::new();
    let mut print = |name: &str, kb: f64| {
        println!("  {name:<48} {kb:>7.1} KB  {:>+6.1}", kb - GOAL_KB);
        if kb > LIMIT_KB {
            over.push(format!("{name} ({kb:.1} of {LIMIT_KB} KB)"));
        }
    };
    println!(
        "\nfirst load of each page, with {HTML_KB} KB of HTML, and its distance from the goal ({GOAL_KB} KB; limit {LIMIT_KB} KB):"
    );
    for page in pages {
        print(page, built.first_load_kb(page) + HTML_KB);
    }
    println!("\nwith a piece that is loaded on demand:");
    for piece in pieces {
        let page = piece.split('_').next().unwrap_or(piece);
        print(piece, built.first_load_kb(page) + built.file_kb(piece) + HTML_KB);
    }
    anyhow::ensure!(over.is_empty(), "these first loads are over the limit: {}", over.join(", "));
    Ok(())
}

/// Code size by crate, largest first.
fn contributors(wasm: &[u8]) -> anyhow::Result<Vec<(String, usize)>> {
    let mut bodies = Vec::new();
    let mut imported = 0;
    let mut names = BTreeMap::new();
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::ImportSection(imports) => {
                imported = imports
                    .into_imports()
                    .filter(|i| i.as_ref().is_ok_and(|i| matches!(i.ty, wasmparser::TypeRef::Func(_))))
                    .count();
            }
            Payload::CodeSectionEntry(body) => bodies.push(body.range().len()),
            Payload::CustomSection(section) if section.name() == "name" => {
                let reader =
                    NameSectionReader::new(wasmparser::BinaryReader::new(section.data(), section.data_offset()));
                for part in reader {
                    if let Name::Function(map) = part? {
                        for naming in map {
                            let naming = naming?;
                            names.insert(naming.index as usize, naming.name.to_owned());
                        }
                    }
                }
            }
            _ => {}
        }
    }
    let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
    for (at, size) in bodies.into_iter().enumerate() {
        let name = names.get(&(at + imported)).map_or_else(|| "(no name)".to_owned(), |name| krate(name));
        *sizes.entry(name).or_default() += size;
    }
    let mut sizes: Vec<_> = sizes.into_iter().collect();
    sizes.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    Ok(sizes)
}

/// The crate that a mangled function belongs to: for `<A as B>::f` the crate of `A`.
fn krate(mangled: &str) -> String {
    let name = format!("{:#}", rustc_demangle::demangle(mangled));
    let path = name.trim_start_matches(['<', '&', '*', '(', '[']).trim_start_matches("dyn ").trim_start_matches("mut ");
    path.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("").to_owned()
}

#[cfg(test)]
mod tests {
    use super::{first_loads, krate};
    use crate::site::Built;

    #[test]
    fn every_page_and_piece_over_the_limit_is_named() {
        let of = |script: usize, page: usize| Built {
            sizes: [("app.js", script), ("run.bin", page), ("tasks.bin", 25_000), ("hosts.bin", 9_000)]
                .map(|(file, size)| (format!("/assets/{file}"), size))
                .into(),
            pages: [("run", "run"), ("run_tasks_piece", "tasks"), ("run_hosts_piece", "hosts")]
                .map(|(name, file)| (name.to_owned(), format!("/assets/{file}.bin")))
                .into(),
        };
        first_loads(&of(300_000, 87_000)).unwrap();
        let error = |script, page| first_loads(&of(script, page)).unwrap_err().to_string();
        let named = |list: &str| format!("these first loads are over the limit: {list}");
        assert_eq!(
            error(300_000, 112_100),
            named("run (420.1 of 420 KB), run_hosts_piece (429.1 of 420 KB), run_tasks_piece (445.1 of 420 KB)"),
            "the pieces are checked after a page that is too large"
        );
    }

    #[test]
    fn a_method_counts_for_the_crate_of_its_type() {
        assert_eq!(krate("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"), "core");
        assert_eq!(krate("<app::ui::Button as leptos::View>::build"), "app");
    }
}
