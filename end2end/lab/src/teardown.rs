//! Ends a lab. Its processes, mounts, interfaces and sockets end with its namespaces; its cgroups, its folder and its
//! claim are removed here.

use crate::{
    cgroups,
    error::Error,
    files,
    layout::Layout,
    record::{self, Found},
};

/// Ends the running lab. `force` also clears what a crashed one has left.
pub fn down(layout: &Layout, force: bool) -> Result<(), Error> {
    match record::find() {
        Found::Nothing if force => files::remove(&layout.run()),
        Found::Nothing => Err(Error::NoLab),
        // There is nothing to end yet but its booter, which belongs to whoever started it.
        Found::Starting(record) => Err(record::starting(*record)),
        Found::LeftOvers(what) if !force => Err(Error::LeftOvers { what }),
        Found::LeftOvers(_) | Found::Running(_) => clear(layout),
    }
}

fn clear(layout: &Layout) -> Result<(), Error> {
    // A claim whose file can't be read belongs to this checkout as well as to any.
    let record = record::read().ok();
    if let Some(namespaces) = record.as_ref().and_then(|record| record.namespaces) {
        namespaces.end()?;
    }
    cgroups::remove()?;
    let folder = record.map_or_else(|| layout.clone(), |record| Layout { folder: record.folder });
    files::remove(&folder.run())?;
    record::release()
}
