//! Ends a lab. Its processes, mounts, interfaces and sockets end with its namespaces. Its cgroups, its folder and its lock
//! have to be removed.

use crate::error::Error;
use crate::layout::Layout;
use crate::lock::{self, Found};
use crate::record::{Boot, Record};
use crate::{cgroups, files, wait};

/// Ends the running lab, and its boot if that is still running. `force` also removes what a crashed lab has left.
pub fn down(layout: &Layout, force: bool) -> Result<(), Error> {
    match lock::find() {
        Found::Nothing if force => files::remove(&layout.run()).and_then(|()| lock::remove_abandoned()),
        Found::Nothing => Err(Error::NoLab),
        Found::LeftOvers(what) if !force => Err(Error::LeftOvers { what }),
        Found::LeftOvers(_) | Found::Starting(_) | Found::Running(_) => clear(layout),
    }
}

/// Kills the process that is booting the lab: it would start more processes and write more files.
fn end_boot(record: &Record) -> Result<(), Error> {
    if record.boot != Boot::Underway {
        return Ok(());
    }
    record.booter.kill();
    wait::until("the end of the boot", wait::PATIENCE, || {
        if record.booter.is_alive() {
            Err(format!("process {} is still booting the lab", record.booter.pid))
        } else {
            Ok(())
        }
    })
}

fn clear(layout: &Layout) -> Result<(), Error> {
    // If the record can't be read, the lab is treated as this checkout's.
    if let Ok(record) = lock::read() {
        end_boot(&record)?;
    }
    // Read again: the boot may have written more before it ended.
    let record = lock::read().ok();
    if let Some(namespaces) = record.as_ref().and_then(|record| record.namespaces) {
        namespaces.end()?;
    }
    cgroups::remove()?;
    let folder = record.map_or_else(|| layout.clone(), |record| Layout::within(record.folder));
    files::remove(&folder.run())?;
    lock::release()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::process::Process;

    #[test]
    fn only_an_unfinished_boot_is_killed_with_its_lab() {
        let mut booter = Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let underway = Record::of_tests(Process::now(booter.id().cast_signed()).unwrap());
        end_boot(&Record { boot: Boot::Ready, ..underway.clone() }).unwrap();
        assert!(booter.try_wait().unwrap().is_none());
        end_boot(&underway).unwrap();
        assert!(!underway.booter.is_alive());
        // Ending an ended process is no error.
        end_boot(&underway).unwrap();
        booter.wait().unwrap();
    }
}
