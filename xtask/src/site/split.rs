//! Splits the wasm of a release by page (docs/adr/0009). Code that only one page needs becomes a part. Code that several pages
//! need becomes a part they share. The rest stays in the main file. One file per page holds all parts that the page needs in
//! addition to the main file: the browser makes one request instead of dozens, and the parts compress better together.
//!
//! The splitter generates a script that loads each part by itself. We replace it by our own (`loader.js`), inside the script
//! of wasm-bindgen.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, ensure};
use wasm_encoder::Module;
use wasm_encoder::reencode::Reencode;
use wasm_split_cli_support::{Options, transform};
use wasmparser::{CustomSectionReader, Parser};

use super::hash;

/// The name of the splitter's script, in the imports that it generates.
const SCRIPT: &str = "./chunks.js";

/// We keep the splitter's script up to this function.
const RUNTIME: &str = "function wrapAsyncCb";

const LOADER: &str = include_str!("loader.js");

pub(super) struct Split {
    /// The main file, before wasm-bindgen.
    pub(super) main: PathBuf,
    /// The file of each page, by the page's split point name in the app.
    pub(super) pages: BTreeMap<String, PageFile>,
    /// The part of the splitter's script that exports what the main file shares with the parts.
    shared: String,
}

/// The parts of one page.
pub(super) struct PageFile {
    /// Under `/`.
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
}

/// Splits `input`, which must be linked with its relocations, into files below `out`.
pub(super) fn split(input: &Path, out: &Path) -> anyhow::Result<Split> {
    let (main, bytes) = (out.join("main.wasm"), fs::read(input)?);
    let mut options = Options::new(&bytes);
    (options.output_dir, options.main_out_path) = (out, &main);
    (options.main_module, options.link_name) = ("./app.js", SCRIPT);
    let cut = transform(options).map_err(|error| anyhow!("{error:?}")).context("cutting the wasm into parts")?;
    let (mut parts, mut numbers) = (Vec::new(), BTreeMap::new());
    for file in &cut.split_modules {
        let stem = file.file_stem().and_then(|stem| stem.to_str()).context("a part has a name")?;
        numbers.insert(stem.to_owned(), u32::try_from(parts.len())?);
        parts.push(compact(&fs::read(file)?)?);
    }
    let mut needs = BTreeMap::new();
    for (page, stems) in cut.prefetch_map {
        let needed: Option<BTreeSet<u32>> = stems.iter().map(|stem| numbers.get(stem).copied()).collect();
        needs.insert(page, needed.context("a page needs a part that does not exist")?);
    }
    let pages = needs.keys().map(|page| {
        let brought = if page.ends_with(PIECE) { without_parents(page, &needs) } else { with_parents(page, &needs) };
        let bytes = page_file(&parts, &brought)?;
        let path = format!("assets/{page}-{}.bin", hash(&bytes));
        Ok((page.clone(), PageFile { path, bytes }))
    });
    let pages = pages.collect::<anyhow::Result<_>>()?;
    let script = fs::read_to_string(out.join(SCRIPT))?;
    let shared = script.split_once(RUNTIME).context("unexpected script of the splitter")?.0;
    let shared = shared.lines().filter(|line| !line.starts_with("import ")).collect::<Vec<_>>().join("\n");
    ensure!(shared.contains("function getSharedImports()"), "the splitter's script exports no shared imports");
    Ok(Split { main, pages, shared })
}

/// Suffix of the names of pieces: chunks that a hydrated page loads later.
pub(super) const PIECE: &str = "_piece";

/// The parts of a page and of the pages around it: `cluster_nodes` lies within `cluster`.
fn with_parents(page: &str, needs: &BTreeMap<String, BTreeSet<u32>>) -> BTreeSet<u32> {
    &parents(page, needs) | &needs[page]
}

/// The parts of a piece without those of its page: `run_hosts_piece` is on `run`.
fn without_parents(piece: &str, needs: &BTreeMap<String, BTreeSet<u32>>) -> BTreeSet<u32> {
    &needs[piece] - &parents(piece, needs)
}

fn parents(page: &str, needs: &BTreeMap<String, BTreeSet<u32>>) -> BTreeSet<u32> {
    page.match_indices('_').filter_map(|(at, _)| needs.get(&page[..at])).flatten().copied().collect()
}

/// The format of a page's file: the number of parts, then number and length of each part (all 32 bits, little endian), then the
/// parts.
fn page_file(parts: &[Vec<u8>], numbers: &BTreeSet<u32>) -> anyhow::Result<Vec<u8>> {
    let mut file = u32::try_from(numbers.len())?.to_le_bytes().to_vec();
    for number in numbers {
        file.extend_from_slice(&number.to_le_bytes());
        file.extend_from_slice(&u32::try_from(parts[*number as usize].len())?.to_le_bytes());
    }
    numbers.iter().for_each(|number| file.extend_from_slice(&parts[*number as usize]));
    Ok(file)
}

impl Split {
    /// Inserts the loader into the script of wasm-bindgen.
    pub(super) fn weave(&self, script: &str) -> anyhow::Result<String> {
        let from = format!("from \"{SCRIPT}\"");
        let mut loader = format!("{}\n{LOADER}const pages = {{\n", self.shared);
        for (page, PageFile { path, .. }) in &self.pages {
            writeln!(loader, "__wasm_split_load_{page}: page(\"{page}\", \"/{path}\"),")?;
        }
        loader.push_str("};\n");
        // wasm-bindgen writes one import for each function of the loader, all from the same module.
        let mut woven = String::with_capacity(script.len() + loader.len());
        let mut imports = 0;
        for line in script.lines() {
            if !line.trim_end_matches(';').ends_with(&from) {
                writeln!(woven, "{line}")?;
                continue;
            }
            let name = line.strip_prefix("import * as ").and_then(|rest| rest.split(' ').next());
            let name = name.context("unexpected import of the loader in wasm-bindgen's script")?;
            if imports == 0 {
                woven.push_str(&loader);
            }
            writeln!(woven, "const {name} = pages;")?;
            imports += 1;
        }
        ensure!(imports > 0, "wasm-bindgen's script does not import the loader of the parts");
        Ok(woven)
    }
}

/// Writes a module again in its shortest form: numbers in as few bytes as possible (with relocations, the linker pads each to
/// five bytes), and no custom sections, which only tools read.
struct Compact;

impl Reencode for Compact {
    type Error = std::convert::Infallible;

    fn parse_custom_section(
        &mut self,
        _: &mut Module,
        _: CustomSectionReader<'_>,
    ) -> Result<(), wasm_encoder::reencode::Error<Self::Error>> {
        Ok(())
    }
}

fn compact(wasm: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut module = Module::new();
    Compact.parse_core_module(&mut module, Parser::new(0), wasm)?;
    Ok(module.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_page() -> Split {
        let file = PageFile { path: "assets/run-1.bin".into(), bytes: Vec::new() };
        Split {
            main: PathBuf::new(),
            pages: [("run".into(), file)].into(),
            shared: "function getSharedImports() {}".into(),
        }
    }

    #[test]
    fn the_loader_is_inserted_into_the_script() {
        let import = |n| format!("import * as import{n} from \"./chunks.js\"\n");
        let woven = one_page().weave(&format!("{}{}const imports = {{}};\n", import(1), import(2))).unwrap();
        assert!(!woven.contains("import *"), "{woven}");
        assert!(
            woven.ends_with("const pages = {\n__wasm_split_load_run: page(\"run\", \"/assets/run-1.bin\"),\n};\nconst import1 = pages;\nconst import2 = pages;\nconst imports = {};\n"),
            "{woven}"
        );
    }

    #[test]
    fn a_script_without_loader_imports_stops_the_build() {
        assert!(one_page().weave("const imports = {};").is_err());
    }

    #[test]
    fn a_page_includes_the_parts_of_the_pages_around_it() {
        let needs = BTreeMap::from([
            ("cluster".to_owned(), [1, 2].into()),
            ("cluster_nodes".to_owned(), [2, 3].into()),
            ("clusters".to_owned(), [4].into()),
        ]);
        assert_eq!(with_parents("cluster_nodes", &needs), [1, 2, 3].into());
        assert_eq!(with_parents("clusters", &needs), [4].into());
        assert_eq!(without_parents("cluster_nodes", &needs), [3].into());
        let parts = [b"".to_vec(), b"ab".to_vec(), b"c".to_vec()];
        let file = page_file(&parts, &[1, 2].into()).unwrap();
        assert_eq!(file, b"\x02\0\0\0\x01\0\0\0\x02\0\0\0\x02\0\0\0\x01\0\0\0abc");
    }
}
