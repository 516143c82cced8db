//! Before a start: whether the state file knows the runs and logs beside it. If it doesn't, the runner would take these runs for
//! leftovers and kill them.

use std::path::{Path, PathBuf};
use std::{fs, io};

use standalone::Newest;

use super::{backups, file, rename_away};
use crate::config;

/// Why the server doesn't start with this state file.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    #[error(
        "the state file {file} {why}. Nothing was changed, and runs continue. {restore} To start without the old \
         data on purpose, add --start-empty."
    )]
    Unfit { file: PathBuf, why: String, restore: String },
    #[error(
        "--start-empty: {count} of the old runs in {data} have not ended, and a new server would kill them. Wait until they have \
         ended, or stop them, and start again."
    )]
    StillRunning { count: usize, data: PathBuf },
    #[error(
        "can't read the state file {0}: {1}. Check that you own it, or restore a backup with `kubeonkube restore`."
    )]
    Unreadable(PathBuf, rusqlite::Error),
    #[error("can't set the old state file in {0} aside: {1}. Check that you own the data directory.")]
    SetAside(PathBuf, io::Error),
}

/// Refuses a missing, empty or older state file in a data directory that has been used.
pub fn check(data: &Path) -> Result<(), StateError> {
    let file = file(data);
    let recorded = Newest::recorded(data);
    let found = Newest::of(&file).map_err(|error| StateError::Unreadable(file.clone(), error))?;
    let Some(why) = unfit(&file, found.as_ref(), recorded.as_ref(), has_runs(data)) else { return Ok(()) };
    let restore = match backups::newest(data) {
        Some(backup) => {
            format!("Restore the newest backup: {}", config::command(&["restore", &backup.to_string_lossy()], data))
        }
        None => format!("No backup is known here; if you have one: {}", config::command(&["restore", "FILE"], data)),
    };
    Err(StateError::Unfit { file, why, restore: restore + "." })
}

/// For `--start-empty`: renames the state file, so that the server makes a new one. Returns its new name.
pub fn set_aside(data: &Path) -> Result<Option<PathBuf>, StateError> {
    let count = runner::running(data).len();
    if count > 0 {
        return Err(StateError::StillRunning { count, data: data.to_owned() });
    }
    let moved = Newest::forget(data).and_then(|()| rename_away(data));
    moved.map_err(|error| StateError::SetAside(data.to_owned(), error))
}

/// What is wrong with the state file, as the end of a sentence.
fn unfit(file: &Path, found: Option<&Newest>, recorded: Option<&Newest>, has_runs: bool) -> Option<String> {
    match (found, recorded) {
        (None, None) if !has_runs => None,
        (None, _) if file.exists() => Some("is empty, but the data directory has been used".into()),
        (None, _) => Some("is missing, but the data directory has been used".into()),
        // A file of an older version has no identity.
        (Some(found), Some(recorded)) if !found.database.is_empty() && found.database != recorded.database => {
            Some("belongs to another data directory".into())
        }
        (Some(found), Some(recorded)) if found.revision < recorded.revision => {
            let (found, recorded) = (found.revision, recorded.revision);
            Some(format!("is older than the runs and logs beside it (revision {found}, they need {recorded})"))
        }
        _ => None,
    }
}

fn has_runs(data: &Path) -> bool {
    fs::read_dir(data.join("runs")).is_ok_and(|mut runs| runs.next().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(database: &str, revision: u64) -> Newest {
        Newest { database: database.into(), revision }
    }

    #[test]
    fn a_missing_empty_older_or_foreign_file_is_refused() {
        let (there, gone) = (tempfile::NamedTempFile::new().expect("a file"), Path::new("/nowhere/state.db"));
        let why = |file: &Path, found: Option<Newest>, recorded: Option<Newest>, has_runs| {
            unfit(file, found.as_ref(), recorded.as_ref(), has_runs).unwrap_or_default()
        };
        assert_eq!(why(gone, None, None, false), "", "a new data directory");
        assert!(why(gone, None, None, true).contains("is missing"), "an older version recorded nothing");
        assert!(why(gone, None, Some(at("a", 9)), false).contains("is missing"));
        assert!(why(there.path(), None, Some(at("a", 9)), false).contains("is empty"));
        assert!(why(there.path(), Some(at("a", 8)), Some(at("a", 9)), false).contains("revision 8, they need 9"));
        assert!(why(there.path(), Some(at("b", 9)), Some(at("a", 9)), false).contains("another data directory"));
        assert_eq!(why(there.path(), Some(at("a", 9)), Some(at("a", 9)), true), "");
        assert_eq!(why(there.path(), Some(at("", 3)), None, true), "", "the first start after an upgrade");
    }

    #[test]
    fn the_newest_backup_is_named() {
        let data = tempfile::tempdir().expect("a directory");
        at("a", 9).record(data.path()).expect("written");
        let refused = check(data.path()).expect_err("refused").to_string();
        assert!(refused.contains("No backup is known here") && refused.contains("--start-empty"), "{refused}");
        let kept = data.path().join("monday.db");
        fs::write(&kept, "").expect("written");
        backups::remember(data.path(), &kept).expect("written");
        backups::remember(data.path(), &data.path().join("deleted.db")).expect("written");
        let refused = check(data.path()).expect_err("refused").to_string();
        assert!(refused.contains(&format!("kubeonkube restore {}", kept.display())), "{refused}");
    }

    #[test]
    fn starting_empty_keeps_the_old_file_under_another_name() {
        let data = tempfile::tempdir().expect("a directory");
        assert_eq!(set_aside(data.path()).expect("nothing to do"), None);
        at("a", 9).record(data.path()).expect("written");
        fs::write(file(data.path()), "old").expect("written");
        let old = set_aside(data.path()).expect("renamed").expect("there was a file");
        assert_eq!(fs::read_to_string(old).expect("kept"), "old");
        assert!(!file(data.path()).exists());
        check(data.path()).expect("a new database may start");
    }
}
