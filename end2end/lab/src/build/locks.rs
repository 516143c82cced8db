//! Who may do what with the built parts: many may use them at once, one at a time builds, and whoever removes some is alone.
//! A lock ends with its process, however that ends, so waiting for one needs no deadline: builds come to an end.

use std::{
    fs::{File, TryLockError},
    os::unix::fs::MetadataExt,
    path::Path,
};

use crate::{
    error::{Doing, Error},
    files,
    layout::Layout,
};

/// While this is held no part is removed: from the look for parts until a lab's record names them.
pub(crate) struct InUse {
    _lock: File,
}

/// While this is held nobody else builds.
pub(crate) struct Building {
    _lock: File,
}

/// While this is held nobody else builds or takes parts.
pub(crate) struct Alone {
    _lock: File,
}

type Said<'a> = &'a (dyn Fn(String) + Sync);

impl InUse {
    pub(crate) fn take(layout: &Layout, said: Said<'_>) -> Result<Self, Error> {
        take(&parts(layout), true, "a build that removes parts", said).map(|lock| Self { _lock: lock })
    }
}

impl Building {
    /// In this order: whoever builds also uses.
    pub(crate) fn take(_: &InUse, layout: &Layout, said: Said<'_>) -> Result<Self, Error> {
        take(&layout.folder.join("build.lock"), false, "another build", said).map(|lock| Self { _lock: lock })
    }
}

impl Alone {
    pub(crate) fn take(layout: &Layout, said: Said<'_>) -> Result<Self, Error> {
        take(&parts(layout), false, "a build or a boot", said).map(|lock| Self { _lock: lock })
    }
}

fn parts(layout: &Layout) -> std::path::PathBuf {
    layout.folder.join("parts.lock")
}

/// Locks a file; says who is waited for.
fn take(path: &Path, shared: bool, who: &str, said: Said<'_>) -> Result<File, Error> {
    // The file is made with its folder, and has no content.
    let open = || File::options().create(true).append(true).open(path);
    let folder = path.parent().map_or(Ok(()), files::make_folder);
    let file = folder.and_then(|()| open().doing(|| format!("open {}", path.display())))?;
    let locked = match if shared { file.try_lock_shared() } else { file.try_lock() } {
        Ok(()) => Ok(()),
        Err(TryLockError::Error(error)) => Err(error),
        Err(TryLockError::WouldBlock) => {
            let process = holder(&file).map(|pid| format!(", process {pid},")).unwrap_or_default();
            said(format!("{who}{process} holds {}: waiting until it ends", path.display()));
            if shared { file.lock_shared() } else { file.lock() }
        }
    };
    locked.doing(|| format!("lock {}", path.display()))?;
    Ok(file)
}

/// The first process that has a lock on a file: `/proc/locks`, proc(5).
fn holder(file: &File) -> Option<i32> {
    let inode = format!(":{}", file.metadata().ok()?.ino());
    let all = files::read(Path::new("/proc/locks")).ok()?;
    // `1: FLOCK  ADVISORY  WRITE 708 fe:00:13984 0 EOF`; those who wait have `->` behind the number.
    all.lines().find_map(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        (words.get(1) == Some(&"FLOCK") && words.get(5)?.ends_with(&inode)).then(|| words[4].parse().ok())?
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

    /// What is said to whoever comes second, who then has to wait until the first has given back what it holds.
    fn waits<A, B>(first: A, second: impl FnOnce(Said<'_>) -> B + Send) -> String {
        let (given_back, (tell, told)) = (AtomicBool::new(false), mpsc::channel());
        let (given_back, tell) = (&given_back, tell);
        thread::scope(|scope| {
            let second = scope.spawn(move || {
                let _second = second(&move |line| tell.send(line).unwrap());
                assert!(given_back.load(Ordering::SeqCst), "it did not wait");
            });
            let line = told.recv().expect("it says why it waits");
            given_back.store(true, Ordering::SeqCst);
            drop(first);
            second.join().unwrap();
            line
        })
    }

    #[test]
    fn a_second_build_waits_for_the_first_and_says_for_whom() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout { folder: folder.path().join("lab") };
        let build = |said: Said<'_>| {
            let in_use = InUse::take(&layout, said).unwrap();
            (Building::take(&in_use, &layout, said).unwrap(), in_use)
        };
        let line = waits(build(&|line| panic!("{line}")), build);
        assert!(line.contains(&format!("another build, process {}, holds", std::process::id())), "{line}");
    }

    #[test]
    fn parts_are_removed_by_nobody_while_they_are_used_and_used_by_many() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout { folder: folder.path().to_owned() };
        let in_use = || InUse::take(&layout, &|line| panic!("{line}")).unwrap();
        let line = waits((in_use(), in_use()), |said| Alone::take(&layout, said).unwrap());
        assert!(line.starts_with("a build or a boot, process"), "{line}");
        let alone = Alone::take(&layout, &|_| {}).unwrap();
        waits(alone, |said| InUse::take(&layout, said).unwrap());
    }
}
