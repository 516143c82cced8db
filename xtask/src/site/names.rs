//! Shortens the names that the wasm of a release and its script share. wasm-bindgen gives each of some 260 functions a long name
//! with a hash, once in the wasm and once in the script. After Brotli they take 6 KB of each first load.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

use anyhow::{Context, ensure};
use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{ExportSection, ImportSection, Module};
use wasmparser::{CustomSectionReader, Export, ImportSectionReader, Parser, Payload};

/// The module of the imports that wasm-bindgen's script provides.
const SCRIPT: &str = "./app_bg.js";

/// The start of the names of exports that only wasm-bindgen's script calls.
const GENERATED: &str = "wasm_bindgen__";

/// Old names and new ones.
struct Names(HashMap<String, String>);

/// The script and the wasm with short names.
///
/// # Errors
/// If the script doesn't name what the wasm imports.
pub(super) fn shorten(script: &str, wasm: &[u8]) -> anyhow::Result<(String, Vec<u8>)> {
    let mut names = Names::of(wasm)?;
    ensure!(!names.0.is_empty(), "the wasm imports nothing from {SCRIPT}");
    let named: HashSet<&str> = words(script).collect();
    for name in names.0.keys() {
        ensure!(named.contains(name.as_str()), "wasm-bindgen's script doesn't name {name}");
    }
    let short = words(script).map(|word| names.short(word)).collect();
    let mut module = Module::new();
    names.parse_core_module(&mut module, Parser::new(0), wasm).context("the names of the wasm")?;
    Ok((short, module.finish()))
}

impl Names {
    fn of(wasm: &[u8]) -> anyhow::Result<Self> {
        let (mut imports, mut exports) = (Vec::new(), Vec::new());
        for payload in Parser::new(0).parse_all(wasm) {
            match payload? {
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        let import = import?;
                        imports.extend((import.module == SCRIPT).then(|| import.name.to_owned()));
                    }
                }
                Payload::ExportSection(section) => {
                    for export in section {
                        exports.push(export?.name.to_owned());
                    }
                }
                _ => {}
            }
        }
        // A name that is both would lose the one that keeps its name.
        imports.retain(|name| !exports.contains(name));
        exports.retain(|name| name.starts_with(GENERATED));
        // No other name begins with `$`.
        let numbered = imports.into_iter().chain(exports).enumerate();
        Ok(Self(numbered.map(|(number, name)| (name, format!("${number:x}"))).collect()))
    }

    fn short<'a>(&'a self, name: &'a str) -> &'a str {
        self.0.get(name).map_or(name, String::as_str)
    }
}

impl Reencode for Names {
    type Error = Infallible;

    fn parse_import_section(
        &mut self,
        imports: &mut ImportSection,
        section: ImportSectionReader<'_>,
    ) -> Result<(), Error<Infallible>> {
        for import in section.into_imports() {
            let import = import?;
            let kind = self.entity_type(import.ty)?;
            let name = if import.module == SCRIPT { self.short(import.name) } else { import.name };
            imports.import(import.module, name, kind);
        }
        Ok(())
    }

    fn parse_export(&mut self, exports: &mut ExportSection, export: Export<'_>) -> Result<(), Error<Infallible>> {
        let (kind, index) = (self.export_kind(export.kind)?, self.external_index(export.kind, export.index)?);
        exports.export(self.short(export.name), kind, index);
        Ok(())
    }

    /// Only tools read custom sections.
    fn parse_custom_section(&mut self, _: &mut Module, _: CustomSectionReader<'_>) -> Result<(), Error<Infallible>> {
        Ok(())
    }
}

/// Identifiers, and what is between them.
fn words(script: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let mut rest = script;
    std::iter::from_fn(move || {
        let first = is_word(rest.chars().next()?);
        let end = rest.find(|c| is_word(c) != first).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{EntityType, ExportKind, FunctionSection, TypeSection};

    use super::*;

    fn module() -> Vec<u8> {
        let mut module = Module::new();
        let mut types = TypeSection::new();
        types.ty().function([], []);
        let mut imports = ImportSection::new();
        for (from, name) in [(SCRIPT, "__wbg_log_0123"), ("./chunks.js", "__wasm_split_load_run"), (SCRIPT, "both")] {
            imports.import(from, name, EntityType::Function(0));
        }
        let mut exports = ExportSection::new();
        for (index, name) in ["hydrate", "wasm_bindgen__closure_4567", "both"].into_iter().enumerate() {
            exports.export(name, ExportKind::Func, index as u32);
        }
        module.section(&types).section(&imports).section(&FunctionSection::new()).section(&exports);
        module.finish()
    }

    #[test]
    fn script_and_wasm_get_the_same_short_names() {
        let script = "imports = {\n__wbg_log_0123: function(arg0) {},\nboth: 1,\n};\nwasm.wasm_bindgen__closure_4567(`__wbg_log_01234`);\nwasm.hydrate();\n";
        let (short, wasm) = shorten(script, &module()).unwrap();
        assert_eq!(
            short,
            "imports = {\n$0: function(arg0) {},\nboth: 1,\n};\nwasm.$1(`__wbg_log_01234`);\nwasm.hydrate();\n"
        );
        let mut found = Vec::new();
        for payload in Parser::new(0).parse_all(&wasm) {
            match payload.unwrap() {
                Payload::ImportSection(section) => {
                    found.extend(section.into_imports().map(|import| import.unwrap().name.to_owned()));
                }
                Payload::ExportSection(section) => {
                    found.extend(section.into_iter().map(|export| export.unwrap().name.to_owned()));
                }
                _ => {}
            }
        }
        assert_eq!(found, ["$0", "__wasm_split_load_run", "both", "hydrate", "$1", "both"]);
    }

    #[test]
    fn a_script_without_an_imported_name_stops_the_build() {
        let error = shorten("wasm.wasm_bindgen__closure_4567();", &module()).unwrap_err();
        assert!(error.to_string().contains("doesn't name __wbg_log_0123"), "{error}");
    }
}
