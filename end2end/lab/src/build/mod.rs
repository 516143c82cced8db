//! The parts a lab is made of: built from the files under `end2end/lab/parts`, kept under the key of those files.
//!
//! - [`parts`] — which parts there are, what each is made from
//! - [`workshop`] — builds what is missing, in the order of needs, and tells the times
//! - [`locks`] — one build at a time, and no part is removed that someone uses
//! - [`go`], [`debian`], [`python`], [`image`] — the four ways to make a part
//! - [`contents`] — what is in the images
//! - [`release`] — the Kubernetes versions that machines can install

pub(crate) mod contents;
pub(crate) mod debian;
pub(crate) mod go;
pub(crate) mod image;
pub(crate) mod locks;
pub(crate) mod parts;
pub(crate) mod python;
pub mod release;
pub(crate) mod workshop;

use crate::{error::Error, layout::Layout, record, requirements};
use locks::{Alone, Building, InUse};

/// Builds these parts (all, if none is named) and what they need.
pub fn build(layout: &Layout, names: &[String], said: &(dyn Fn(String) + Sync)) -> Result<(), Error> {
    let all = || parts::PARTS.iter().map(|part| part.name).collect::<Vec<_>>();
    if let Some(unknown) = names.iter().find(|name| parts::part(name).is_none()) {
        return Err(Error::NoSuchPart { name: unknown.clone(), known: all().join(", ") });
    }
    let wanted = if names.is_empty() { all() } else { names.iter().map(String::as_str).collect() };
    let in_use = InUse::take(layout, said)?;
    let missing = workshop::missing(layout, &wanted)?;
    requirements::check(layout, &missing)?;
    if missing.is_empty() {
        said("everything is built".to_owned());
    }
    workshop::build(&in_use, layout, &wanted, said).map(drop)
}

/// Parts whose packages are pinned by a lock.
pub const LOCKED: &[&str] = &["machine-root", "runner-root"];

/// Takes over what the Debian mirror has now into the lock of a part; gives what changed.
pub fn pin(layout: &Layout, name: &str, said: &(dyn Fn(String) + Sync)) -> Result<Vec<String>, Error> {
    if !LOCKED.contains(&name) {
        return Err(Error::NoSuchPart { name: name.to_owned(), known: LOCKED.join(", ") });
    }
    requirements::check(layout, &parts::part(name).into_iter().collect::<Vec<_>>())?;
    let in_use = InUse::take(layout, said)?;
    let _building = Building::take(&in_use, layout, said)?;
    debian::pin(name, &layout.cache())
}

/// Removes built parts that no longer belong to the files of this checkout, and says what becomes of each. What the lab is
/// made of that runs now, of whichever checkout, stays.
pub fn prune(layout: &Layout, said: &(dyn Fn(String) + Sync)) -> Result<(), Error> {
    let _alone = Alone::take(layout, said)?;
    let used = record::read().map(|record| record.parts).unwrap_or_default();
    workshop::prune(layout, &used, said)
}
