//! Makes sure that the folder which is embedded exists, and that a release embeds the site as it is now.

use std::{env, fs, path::Path};

fn main() {
    let site = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../target/site");
    // rust-embed freezes a folder that is missing at compile time as empty, in dev too. It may stay empty: then pages say so.
    if let Err(error) = fs::create_dir_all(&site) {
        println!("cargo:warning=cannot make {}: {error}", site.display());
    }
    println!("cargo:rerun-if-changed=build.rs");
    // In dev the files are read from disk when asked for; only a release holds them, and a build that is tested in its place.
    if env::var("PROFILE").is_ok_and(|profile| profile == "release")
        || env::var_os("CARGO_FEATURE_EMBED_ASSETS").is_some()
    {
        println!("cargo:rerun-if-changed={}", site.display());
    }
}
