//! One lab for all test suites of a test run: the first boots it, the others wait for it.

use std::{fs::File, path::Path, process::Command, time::Duration};

use crate::{
    error::{Doing, Error},
    files,
    layout::{Layout, workspace},
    program,
    record::{self, Boot, Found},
    requirements, wait,
};

/// How long a boot by someone else is waited for. Each of its steps has a deadline of its own; parts are built before a
/// lab is there to be waited for.
const PATIENCE: Duration = Duration::from_secs(300);

/// Boots a lab if there is none; returns when all of it is usable.
pub(crate) fn boot_if_none(words: &[&str]) -> Result<(), Error> {
    requirements::root()?;
    let folder = Layout::of_this_checkout().folder;
    files::make_folder(&folder)?;
    // Two test runs can come here at the same time.
    let turn = folder.join("shared.lock");
    let turn =
        File::create(&turn).and_then(|file| file.lock().map(|()| file)).doing(|| format!("lock {}", turn.display()))?;
    let booted = match record::find() {
        Found::Nothing => program::run(
            Command::new("cargo")
                .current_dir(workspace())
                .args(["xtask", "lab", "up", "--until-exit-of", &test_run().to_string()])
                .args(words),
        ),
        _ => Ok(()),
    };
    drop(turn);
    // Where the boot has failed, the lab's record says best why; where another was quicker, its lab is as good.
    match wait_ready(PATIENCE, record::find) {
        Err(Error::NoLab) => booted.and(Err(Error::NoLab)),
        waited => waited,
    }
}

/// Waits until the lab's boot has come to its end; says so when it won't.
fn wait_ready(patience: Duration, find: impl Fn() -> Found) -> Result<(), Error> {
    wait::until("the boot of the lab that is there", patience, || match find() {
        Found::Running(record) => match (record.failure(), &record.boot) {
            (Some(why), _) => Ok(Err(Error::BootFailed { folder: record.folder, why })),
            (None, Boot::Ready) => Ok(Ok(())),
            (None, _) => Err(format!("process {} still boots it (`cargo xtask lab status`)", record.booter.pid)),
        },
        Found::Starting(record) => Err(format!("process {} still starts it", record.booter.pid)),
        Found::LeftOvers(what) => Ok(Err(Error::LeftOvers { what })),
        Found::Nothing => Ok(Err(Error::NoLab)),
    })?
}

/// Whoever runs the test suites, one after the other.
fn test_run() -> u32 {
    let parent = std::os::unix::process::parent_id();
    let name = files::read(Path::new(&format!("/proc/{parent}/comm"))).unwrap_or_default();
    if name.starts_with("cargo") { parent } else { std::process::id() }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::{process::Process, record::Record};

    fn record(boot: Boot) -> Box<Record> {
        Box::new(Record { boot, ..Record::of_tests(Process::this().unwrap()) })
    }

    #[test]
    fn a_lab_that_still_boots_is_waited_for() {
        let booting = || Found::Running(record(Boot::Underway));
        let seen =
            RefCell::new(vec![Found::Running(record(Boot::Ready)), booting(), Found::Starting(record(Boot::Underway))]);
        wait_ready(Duration::from_secs(20), || seen.borrow_mut().pop().expect("it is ready")).unwrap();
        assert!(seen.borrow().is_empty());
        let said = wait_ready(Duration::from_millis(1), booting).unwrap_err().to_string();
        assert!(said.contains(&format!("process {} still boots it", std::process::id())), "{said}");
    }

    #[test]
    fn a_lab_whose_boot_has_failed_is_told_with_the_reason_and_the_remedy() {
        let failed = || Found::Running(record(Boot::Failed("n1 doesn't boot: no room".into())));
        let said = wait_ready(PATIENCE, failed).unwrap_err().to_string();
        assert!(said.contains("n1 doesn't boot: no room") && said.contains("lab down"), "{said}");
    }

    #[test]
    fn a_lab_whose_booter_was_killed_is_not_waited_for() {
        let mut booter = Command::new("true").spawn().unwrap();
        let gone = Process::now(booter.id().cast_signed()).unwrap();
        booter.wait().unwrap();
        let killed = || Found::Running(Box::new(Record::of_tests(gone)));
        let said = wait_ready(PATIENCE, killed).unwrap_err().to_string();
        assert!(said.contains(&format!("process {}, which booted it", booter.id())), "{said}");
    }
}
