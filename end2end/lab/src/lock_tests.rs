use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::thread;

use super::*;
use crate::program;
use crate::record::Boot;

fn this_lab() -> Record {
    Record::of_tests(Process::this().unwrap())
}

#[test]
fn a_starting_lab_counts_as_crashed_once_its_booter_has_ended() {
    let run = tempfile::tempdir().unwrap();
    let lock = Lock(run.path());
    let mut booter = Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
    lock.take(&Record::of_tests(Process::now(booter.id().cast_signed()).unwrap())).unwrap();
    assert!(matches!(lock.find(), Found::Starting(_)), "{:?}", lock.find());
    let said = require_none(lock.find()).unwrap_err().to_string();
    assert!(said.contains(&format!("process {}", booter.id())) && !said.contains("crashed"), "{said}");
    booter.kill().unwrap();
    booter.wait().unwrap();
    assert!(matches!(lock.find(), Found::LeftOvers(_)), "{:?}", lock.find());
    lock.release().unwrap();
    assert!(matches!(lock.find(), Found::Nothing), "{:?}", lock.find());
}

#[test]
fn a_lab_of_an_older_checkout_is_not_taken_for_crashed() {
    let run = tempfile::tempdir().unwrap();
    let this = serde_json::to_value(Process::this().unwrap()).unwrap();
    let mut record = serde_json::to_value(this_lab()).unwrap();
    record["namespaces"] = serde_json::json!({"outside": this, "inside": this});
    for unknown in ["booter", "boot", "parts"] {
        record.as_object_mut().unwrap().remove(unknown).unwrap();
    }
    let lock = Lock(run.path());
    files::write(&lock.file(), 0o600, record.to_string()).unwrap();
    let Found::Running(lab) = lock.find() else { panic!("{:?}", lock.find()) };
    assert_eq!(lab.failure(), None);
}

#[test]
fn the_lock_is_never_seen_without_a_record() {
    for _ in 0..200 {
        let run = tempfile::tempdir().unwrap();
        let lock = Lock(run.path());
        let seen = thread::scope(|scope| {
            let reader = scope.spawn(|| {
                loop {
                    match lock.find() {
                        Found::Nothing => {}
                        other => break other,
                    }
                }
            });
            lock.take(&this_lab()).unwrap();
            reader.join().unwrap()
        });
        assert!(matches!(seen, Found::Starting(_)), "{seen:?}");
        assert!(matches!(lock.take(&this_lab()), Err(Error::Starting { .. })));
        lock.release().unwrap();
    }
}

#[test]
fn the_boot_of_an_ended_lab_can_not_write_the_next_record() {
    let run = tempfile::tempdir().unwrap();
    let lock = Lock(run.path());
    let (first, second) = (Record::of_tests(Process::now(1).unwrap()), this_lab());
    lock.take(&first).unwrap();
    lock.release().unwrap();
    assert!(matches!(lock.write(&first), Err(Error::Ended)));
    lock.take(&second).unwrap();
    assert!(matches!(lock.write(&first), Err(Error::Ended)));
    assert_eq!(lock.read().unwrap().booter, second.booter);
}

#[test]
fn a_record_written_after_the_release_creates_no_lock() {
    let run = tempfile::tempdir().unwrap();
    let lock = Lock(run.path());
    lock.take(&this_lab()).unwrap();
    lock.write(&this_lab()).unwrap();
    lock.release().unwrap();
    // The booter checked the lock before it was released.
    assert!(matches!(lock.replace("{}"), Err(Error::Ended)));
    assert!(files::children(run.path()).is_empty());
}

#[test]
fn all_users_can_read_the_record() {
    let run = tempfile::tempdir().unwrap();
    let lock = Lock(run.path());
    lock.take(&this_lab()).unwrap();
    let mode = || fs::metadata(lock.file()).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o644);
    lock.write(&this_lab()).unwrap();
    assert_eq!(mode(), 0o644);
}

#[test]
fn a_release_removes_the_temporary_folders_of_killed_processes() {
    let run = tempfile::tempdir().unwrap();
    program::run(Command::new("mkdir").arg(run.path().join("kubeonkube-lab.999999999"))).unwrap();
    Lock(run.path()).release().unwrap();
    assert!(files::children(run.path()).is_empty());
}

#[test]
fn a_second_lab_is_refused_with_the_state_of_the_first() {
    let lab = |boot| Box::new(Record { boot, ..Record::of_tests(Process::this().unwrap()) });
    for (found, why) in [
        (Found::Running(lab(Boot::Ready)), "is running already"),
        (Found::Running(lab(Boot::Underway)), "is running already"),
        (Found::Running(lab(Boot::Failed("no room".into()))), "its boot has failed: no room"),
        (Found::Starting(lab(Boot::Underway)), "is starting"),
        (Found::LeftOvers("/sys/fs/cgroup/x".into()), "a crashed lab has left something behind (/sys/fs/cgroup/x)"),
    ] {
        let said = require_none(found).unwrap_err().to_string();
        assert!(said.contains(why), "{said}");
    }
    require_none(Found::Nothing).unwrap();
}
