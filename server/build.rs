//! Makes sure that the embedded folder exists, and that a release embeds the current site.

use std::path::Path;
use std::{env, fs};

fn main() {
    let site = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../target/site");
    // If the folder is missing at compile time, rust-embed treats it as empty from then on, even in dev builds. An empty folder is
    // fine: pages then show how to build the site.
    if let Err(error) = fs::create_dir_all(&site) {
        println!("cargo:warning=can't create {}: {error}", site.display());
    }
    println!("cargo:rerun-if-changed=build.rs");
    // Dev builds read the files from disk at run time. Only a release, and a build with `embed-assets`, contains them.
    if env::var("PROFILE").is_ok_and(|profile| profile == "release")
        || env::var_os("CARGO_FEATURE_EMBED_ASSETS").is_some()
    {
        println!("cargo:rerun-if-changed={}", site.display());
    }
}
