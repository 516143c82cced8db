//! Where the backups of a data directory are: `kubeonkube backup` adds a line to the file `backups`.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Adds a backup to the list.
pub(super) fn remember(data: &Path, backup: &Path) -> io::Result<()> {
    let mut list = OpenOptions::new().append(true).create(true).mode(0o600).open(data.join("backups"))?;
    writeln!(list, "{}", std::path::absolute(backup)?.display())
}

/// The newest backup that still exists. The copy that an upgrade keeps of the older format is a backup, too.
pub(super) fn newest(data: &Path) -> Option<PathBuf> {
    let list = fs::read_to_string(data.join("backups")).unwrap_or_default();
    let upgrades = fs::read_dir(data).into_iter().flatten().flatten().map(|entry| entry.path());
    let upgrades = upgrades.filter(|path| path.to_string_lossy().contains("state.db.format-"));
    let all = list.lines().map(PathBuf::from).chain(upgrades);
    let dated = all.filter_map(|path| Some((fs::metadata(&path).ok()?.modified().ok()?, path)));
    dated.max().map(|(_, path)| path)
}
