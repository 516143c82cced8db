//! One lab for all test suites of a test run: the first suite boots it, the others wait for it.

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::error::{Doing, Error};
use crate::layout::{Layout, workspace};
use crate::lock::{self, Found};
use crate::record::{Boot, Record};
use crate::{files, program, requirements, wait};

/// How long to wait for a boot by another process. Each step of a boot has its own deadline. The time to build
/// parts isn't included: they are built before the lock is taken.
const BOOT_WITHIN: Duration = Duration::from_secs(600);

/// Boots a lab if there is none. Returns when the lab is usable.
pub(crate) fn boot_if_none(arguments: &[&str]) -> Result<(), Error> {
    requirements::root()?;
    let folder = Layout::of_this_checkout().folder;
    files::make_folder(&folder)?;
    // Two test runs can reach this point at the same time.
    let lock_file = folder.join("shared.lock");
    let boot_lock = File::create(&lock_file)
        .and_then(|file| file.lock().map(|()| file))
        .doing(|| format!("lock {}", lock_file.display()))?;
    // If the guard was killed too, the steps below report what is left.
    let _late = wait_ended(lock::read);
    let booted = match lock::find() {
        Found::Nothing => program::run(
            Command::new("cargo")
                .current_dir(workspace())
                .args(["xtask", "lab", "up", "--until-exit-of", &test_run().to_string()])
                .args(arguments),
        ),
        _ => Ok(()),
    };
    drop(boot_lock);
    // If the boot failed, the lab's record has the best reason. If another process booted a lab first, that lab is used.
    match wait_ready(BOOT_WITHIN, lock::find) {
        Err(Error::NoLab) => booted.and(Err(Error::NoLab)),
        waited => waited,
    }
}

/// Waits for the end of a lab whose test run has ended. Its guard is about to end it, so no other run can use it.
pub(crate) fn wait_ended(read: impl Fn() -> Result<Record, Error>) -> Result<(), Error> {
    let ended_run = || match read() {
        Ok(Record { ends_with: Some(run), .. }) if !run.is_alive() => Some(run.pid),
        _ => None,
    };
    if let Some(pid) = ended_run() {
        eprintln!("waiting for the end of the lab of process {pid}, which has ended");
    }
    wait::until("the end of the lab of an earlier test run", wait::PATIENCE, || match ended_run() {
        Some(pid) => Err(format!("process {pid} has ended")),
        None => Ok(()),
    })
}

/// Waits until the lab is up. Fails as soon as its boot can't finish.
fn wait_ready(patience: Duration, find: impl Fn() -> Found) -> Result<(), Error> {
    wait::until("the boot of the lab", patience, || match find() {
        Found::Running(record) => match (record.failure(), &record.boot) {
            (Some(why), _) => Ok(Err(Error::BootFailed { folder: record.folder, why })),
            (None, Boot::Ready) => Ok(Ok(())),
            (None, _) => Err(format!("process {} is still booting it (`cargo xtask lab status`)", record.booter.pid)),
        },
        Found::Starting(record) => Err(format!("process {} is still starting it", record.booter.pid)),
        Found::LeftOvers(what) => Ok(Err(Error::LeftOvers { what })),
        Found::Nothing => Ok(Err(Error::NoLab)),
    })?
}

/// The process that runs all test suites: cargo or cargo-nextest if it is the parent, otherwise this process.
fn test_run() -> u32 {
    let parent = std::os::unix::process::parent_id();
    let name = files::read(Path::new(&format!("/proc/{parent}/comm"))).unwrap_or_default();
    if name.starts_with("cargo") { parent } else { std::process::id() }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::process::Process;

    fn record(boot: Boot) -> Box<Record> {
        Box::new(Record { boot, ..Record::of_tests(Process::this().unwrap()) })
    }

    #[test]
    fn a_booting_lab_is_waited_for() {
        let booting = || Found::Running(record(Boot::Underway));
        let states =
            RefCell::new(vec![Found::Running(record(Boot::Ready)), booting(), Found::Starting(record(Boot::Underway))]);
        wait_ready(wait::PATIENCE, || states.borrow_mut().pop().expect("it is ready")).unwrap();
        assert!(states.borrow().is_empty());
        let said = wait_ready(Duration::from_millis(1), booting).unwrap_err().to_string();
        assert!(said.contains(&format!("process {} is still booting it", std::process::id())), "{said}");
    }

    #[test]
    fn a_lab_that_ends_with_an_earlier_test_run_is_not_used() {
        let mut run = Command::new("true").spawn().unwrap();
        let ended = Process::now(run.id().cast_signed());
        run.wait().unwrap();
        let of = |ends_with| Ok(Record { ends_with, ..*record(Boot::Ready) });
        let reads = RefCell::new(vec![Err(Error::NoLab), of(ended), of(ended), of(ended)]);
        wait_ended(|| reads.borrow_mut().pop().expect("it has ended")).unwrap();
        assert!(reads.borrow().is_empty());
        wait_ended(|| of(Some(Process::this().unwrap()))).unwrap();
    }

    #[test]
    fn a_failed_boot_is_reported_with_reason_and_remedy() {
        let failed = || Found::Running(record(Boot::Failed("n1 doesn't boot: no room".into())));
        let said = wait_ready(BOOT_WITHIN, failed).unwrap_err().to_string();
        assert!(said.contains("n1 doesn't boot: no room") && said.contains("lab down"), "{said}");
    }

    #[test]
    fn a_lab_whose_boot_was_killed_is_not_waited_for() {
        let mut booter = Command::new("true").spawn().unwrap();
        let gone = Process::now(booter.id().cast_signed()).unwrap();
        booter.wait().unwrap();
        let killed = || Found::Running(Box::new(Record::of_tests(gone)));
        let said = wait_ready(BOOT_WITHIN, killed).unwrap_err().to_string();
        assert!(said.contains(&format!("process {}, which booted it", booter.id())), "{said}");
    }
}
