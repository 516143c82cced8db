//! Ends a lab. Its processes, mounts, interfaces and sockets end with its namespaces; its cgroups, its folder and its
//! claim are removed here.

use std::time::Duration;

use crate::{
    cgroups,
    error::Error,
    files,
    layout::Layout,
    record::{self, Boot, Found, Record},
    wait,
};

/// Ends the running lab, and whoever boots it still. `force` also clears what a crashed one has left.
pub fn down(layout: &Layout, force: bool) -> Result<(), Error> {
    match record::find() {
        Found::Nothing if force => files::remove(&layout.run()),
        Found::Nothing => Err(Error::NoLab),
        Found::LeftOvers(what) if !force => Err(Error::LeftOvers { what }),
        Found::LeftOvers(_) | Found::Starting(_) | Found::Running(_) => clear(layout),
    }
}

/// Ends a boot that goes on: it would start and write more.
fn end_boot(record: &Record) -> Result<(), Error> {
    if record.boot != Boot::Underway {
        return Ok(());
    }
    record.booter.kill();
    wait::until("the end of the boot", Duration::from_secs(20), || {
        if record.booter.is_alive() { Err(format!("process {} still boots it", record.booter.pid)) } else { Ok(()) }
    })
}

fn clear(layout: &Layout) -> Result<(), Error> {
    // A claim whose file can't be read belongs to this checkout as well as to any.
    if let Ok(record) = record::read() {
        end_boot(&record)?;
    }
    // The boot may have come further than it told before.
    let record = record::read().ok();
    if let Some(namespaces) = record.as_ref().and_then(|record| record.namespaces) {
        namespaces.end()?;
    }
    cgroups::remove()?;
    let folder = record.map_or_else(|| layout.clone(), |record| Layout { folder: record.folder });
    files::remove(&folder.run())?;
    record::release()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::process::Process;

    #[test]
    fn whoever_boots_a_lab_is_ended_with_it_and_who_has_booted_it_is_not() {
        let mut booter = Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let underway = Record::of_tests(Process::now(booter.id().cast_signed()).unwrap());
        end_boot(&Record { boot: Boot::Ready, ..underway.clone() }).unwrap();
        assert!(booter.try_wait().unwrap().is_none());
        end_boot(&underway).unwrap();
        assert!(!underway.booter.is_alive());
        // It has ended already.
        end_boot(&underway).unwrap();
        booter.wait().unwrap();
    }
}
