//! `lab images`: the images that users get. `cargo xtask images` builds the program first and calls this.

use std::path::{Path, PathBuf};

use lab::build::product::{self, Order};
use lab::{Error, Layout};

#[derive(clap::Args)]
pub(crate) struct Images {
    /// The folder of the archives.
    #[arg(long)]
    to: PathBuf,
    /// The server's program.
    #[arg(long)]
    program: PathBuf,
    /// A further file or folder of the server's image, and its place there.
    #[arg(long, value_name = "FROM:TO", value_parser = pair)]
    further: Vec<(PathBuf, PathBuf)>,
    #[arg(long)]
    registry: String,
    #[arg(long)]
    tag: String,
    /// Install all packages again.
    #[arg(long)]
    fresh: bool,
}

fn pair(text: &str) -> Result<(PathBuf, PathBuf), String> {
    let (from, to) = text.split_once(':').ok_or("it has no `:`")?;
    Ok((from.into(), to.into()))
}

/// Prints name, digest, size and archive of each image.
pub(crate) fn images(images: &Images) -> Result<(), Error> {
    let here = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let order = Order {
        to: here(&images.to),
        program: here(&images.program),
        further: images.further.iter().map(|(from, to)| (here(from), to.clone())).collect(),
        registry: images.registry.clone(),
        tag: images.tag.clone(),
        fresh: images.fresh,
    };
    for made in product::images(&Layout::of_this_checkout(), &order, &|line| eprintln!("{line}"))? {
        println!("{} {} {:.1} MB {}", made.name, made.digest, made.bytes as f64 / 1e6, made.archive.display());
    }
    Ok(())
}
