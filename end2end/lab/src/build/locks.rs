//! File locks on the built parts. Several processes may use parts at once, one at a time builds, and a process that removes
//! parts excludes all others. The kernel releases a lock when its process ends, so waiting for a lock has no deadline.

use std::fs::{File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::error::{Doing, Error};
use crate::files;
use crate::layout::Layout;

/// While this lock is held, no part is removed. A boot holds it from finding the parts until the lab's record names them.
pub(crate) struct InUse {
    _lock: File,
}

/// While this lock is held, no other process builds.
pub(crate) struct Building {
    _lock: File,
}

/// While this lock is held, no other process builds or uses parts.
pub(crate) struct Alone {
    _lock: File,
}

type Report<'a> = &'a (dyn Fn(String) + Sync);

impl InUse {
    pub(crate) fn take(layout: &Layout, report: Report<'_>) -> Result<Self, Error> {
        take(&parts(layout), true, "a build that removes parts", report).map(|lock| Self { _lock: lock })
    }
}

impl Building {
    /// A build also needs [`InUse`], and must take it first.
    pub(crate) fn take(_: &InUse, layout: &Layout, report: Report<'_>) -> Result<Self, Error> {
        take(&layout.shared.join("build.lock"), false, "another build", report).map(|lock| Self { _lock: lock })
    }
}

impl Alone {
    pub(crate) fn take(layout: &Layout, report: Report<'_>) -> Result<Self, Error> {
        take(&parts(layout), false, "a build or a boot", report).map(|lock| Self { _lock: lock })
    }
}

fn parts(layout: &Layout) -> std::path::PathBuf {
    layout.shared.join("parts.lock")
}

/// Locks a file. If it has to wait, reports for which process.
fn take(path: &Path, shared: bool, holder_name: &str, report: Report<'_>) -> Result<File, Error> {
    // The lock file has no content. It is created if it doesn't exist.
    let open = || File::options().create(true).append(true).open(path);
    let folder = path.parent().map_or(Ok(()), files::make_folder);
    let file = folder.and_then(|()| open().doing(|| format!("open {}", path.display())))?;
    let locked = match if shared { file.try_lock_shared() } else { file.try_lock() } {
        Ok(()) => Ok(()),
        Err(TryLockError::Error(error)) => Err(error),
        Err(TryLockError::WouldBlock) => {
            let process = holder(&file).map(|pid| format!(" (process {pid})")).unwrap_or_default();
            report(format!("waiting for {holder_name}{process}, which holds {}", path.display()));
            if shared { file.lock_shared() } else { file.lock() }
        }
    };
    locked.doing(|| format!("lock {}", path.display()))?;
    Ok(file)
}

/// The first process that holds a lock on a file, from `/proc/locks` (proc(5)).
fn holder(file: &File) -> Option<i32> {
    let about = file.metadata().ok()?;
    let (device, inode) = (about.dev(), about.ino());
    // Inode numbers are unique on one device only. An overlay may show another device than the kernel's list does.
    let exact = format!("{:02x}:{:02x}:{inode}", rustix::fs::major(device), rustix::fs::minor(device));
    let any_device = format!(":{inode}");
    // The kernel's list can miss an entry while other locks are taken and released.
    (0..5).find_map(|_| {
        let all = files::read(Path::new("/proc/locks")).ok()?;
        locked_by(&all, |place| place == exact).or_else(|| locked_by(&all, |place| place.ends_with(&any_device)))
    })
}

/// The process in the first line of `/proc/locks` whose `DEVICE:INODE` matches.
fn locked_by(all: &str, matches: impl Fn(&str) -> bool) -> Option<i32> {
    // `1: FLOCK  ADVISORY  WRITE 708 fe:00:13984 0 EOF`; lines of waiting processes have `->` after the number.
    all.lines().find_map(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        (words.get(1) == Some(&"FLOCK") && matches(words.get(5)?)).then(|| words[4].parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            atomic::{AtomicBool, Ordering},
            mpsc,
        },
        thread,
    };

    use super::*;

    /// Takes a second lock while `first` is held. Checks that the second one waits until `first` is dropped. Returns the report
    /// of the wait.
    fn waits<A, B>(first: A, second: impl FnOnce(Report<'_>) -> B + Send) -> String {
        let (released, (sender, reports)) = (AtomicBool::new(false), mpsc::channel());
        let (released, sender) = (&released, sender);
        thread::scope(|scope| {
            let second = scope.spawn(move || {
                let _second = second(&move |line| sender.send(line).unwrap());
                assert!(released.load(Ordering::SeqCst), "it did not wait");
            });
            let line = reports.recv().expect("it reports the wait");
            released.store(true, Ordering::SeqCst);
            drop(first);
            second.join().unwrap();
            line
        })
    }

    #[test]
    fn a_second_build_waits_and_reports_for_which_process() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::within(folder.path().join("lab"));
        let build = |report: Report<'_>| {
            let in_use = InUse::take(&layout, report).unwrap();
            (Building::take(&in_use, &layout, report).unwrap(), in_use)
        };
        let line = waits(build(&|line| panic!("{line}")), build);
        assert!(line.contains(&format!("another build (process {}), which holds", std::process::id())), "{line}");
    }

    #[test]
    fn a_lock_on_another_device_is_not_taken_for_this_one() {
        let all = "1: FLOCK  ADVISORY  WRITE 10 00:21:77 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 11 fe:00:77 0 EOF\n\
                   2: POSIX  ADVISORY  WRITE 12 fe:00:77 0 EOF\n3: FLOCK  ADVISORY  WRITE 13 fe:00:77 0 EOF\n";
        assert_eq!(locked_by(all, |place| place == "fe:00:77"), Some(13));
        assert_eq!(locked_by(all, |place| place.ends_with(":77")), Some(10));
    }

    #[test]
    fn parts_have_many_users_or_one_process_that_removes_some() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::within(folder.path().to_owned());
        let in_use = || InUse::take(&layout, &|line| panic!("{line}")).unwrap();
        let line = waits((in_use(), in_use()), |report| Alone::take(&layout, report).unwrap());
        assert!(line.starts_with("waiting for a build or a boot (process"), "{line}");
        let alone = Alone::take(&layout, &|_| {}).unwrap();
        waits(alone, |report| InUse::take(&layout, report).unwrap());
    }
}
