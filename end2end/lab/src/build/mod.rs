//! Builds the parts of a lab: programs, root file systems and images. They are built from the files in `end2end/lab/parts`
//! and kept in a cache, under a hash of these files.
//!
//! - [`part`], [`parts`] — what a part is, and the table of all parts
//! - [`workshop`] — the cache: finds built parts, builds missing ones, removes old ones
//! - [`locks`] — one build at a time, and no part is removed while it is used
//! - [`go`], [`debian`], [`python`], [`image`] — the four ways to make a part
//! - [`contents`] — the content of the lab's images
//! - [`dockerfile`], [`product`] — the images that users get, and the lists that they are made from
//! - [`release`] — the Kubernetes versions that machines can install
//! - [`runtime`] — containerd and runc, which machines can install

pub(crate) mod contents;
pub(crate) mod debian;
pub(crate) mod dockerfile;
pub(crate) mod go;
pub(crate) mod image;
pub(crate) mod locks;
pub(crate) mod part;
pub(crate) mod parts;
pub mod product;
pub(crate) mod python;
pub mod release;
pub(crate) mod runtime;
pub(crate) mod workshop;

use locks::{Alone, Building, InUse};
use workshop::Pins;

use crate::error::Error;
use crate::layout::Layout;
use crate::{lock, requirements};

/// Builds the named parts, or all if none is named, and the parts they need.
pub fn build(layout: &Layout, names: &[String], report: &(dyn Fn(String) + Sync)) -> Result<(), Error> {
    let all = || parts::PARTS.iter().map(|part| part.name).collect::<Vec<_>>();
    if let Some(unknown) = names.iter().find(|name| parts::part(name).is_none()) {
        return Err(Error::NoSuchPart { name: unknown.clone(), known: all().join(", ") });
    }
    let wanted = if names.is_empty() { all() } else { names.iter().map(String::as_str).collect() };
    let in_use = InUse::take(layout, report)?;
    let pins = Pins::of_this_run();
    let missing = workshop::missing(layout, &wanted, pins)?;
    requirements::check(layout, &missing)?;
    if missing.is_empty() {
        report("everything is built".to_owned());
    }
    workshop::build(&in_use, layout, &wanted, pins, report).map(drop)
}

/// Parts whose packages are pinned by a lock.
pub const LOCKED: &[&str] = &["machine-root", "runner-root", "server-root"];

/// Writes the package versions that the Debian mirror has now into the lock of a part. Returns the changes.
pub fn pin(layout: &Layout, name: &str, report: &(dyn Fn(String) + Sync)) -> Result<Vec<String>, Error> {
    if !LOCKED.contains(&name) {
        return Err(Error::NoSuchPart { name: name.to_owned(), known: LOCKED.join(", ") });
    }
    requirements::check(layout, &parts::part(name).into_iter().collect::<Vec<_>>())?;
    let in_use = InUse::take(layout, report)?;
    let _building = Building::take(&in_use, layout, report)?;
    debian::pin(name, &layout.parts())
}

/// Removes built parts that don't match the files of this checkout, and reports each. Parts that the running lab uses are
/// kept, even if another checkout booted it.
pub fn prune(layout: &Layout, report: &(dyn Fn(String) + Sync)) -> Result<(), Error> {
    let _alone = Alone::take(layout, report)?;
    let used = lock::read().map(|record| record.parts).unwrap_or_default();
    workshop::prune(layout, &used, report)
}
