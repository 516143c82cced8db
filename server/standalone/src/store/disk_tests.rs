use tempfile::TempDir;

use super::*;

/// A migration that a later version might add.
const LATER: &str = "CREATE TABLE marks (name TEXT PRIMARY KEY) WITHOUT ROWID; INSERT INTO marks VALUES ('later');";

/// A state file of the current format with one object, and its directory.
fn written() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("state.db");
    let mut disk = Disk::open(&file).unwrap();
    let key = Key { resource: "configmaps".into(), namespace: "default".into(), name: "kept".into() };
    disk.commit(&[Row { key, revision: 7, body: Some("{}".into()) }], 7).unwrap();
    disk.close();
    (dir, file)
}

fn with_later(later: &'static str) -> Vec<&'static str> {
    MIGRATIONS.iter().copied().chain([later]).collect()
}

fn format_of(disk: &Disk) -> usize {
    disk.connection.pragma_query_value(None, "user_version", |row| row.get::<_, u32>(0)).unwrap() as usize
}

fn has_marks(disk: &Disk) -> bool {
    disk.connection.prepare("SELECT name FROM marks").is_ok()
}

/// Whether the file still has the one object and its revision.
fn holds_what_was_written(disk: &mut Disk) -> bool {
    let mut names = Vec::new();
    disk.load(|key, stored| names.push((key.name, stored.revision))).unwrap();
    names == [("kept".to_owned(), 7)] && disk.revision().unwrap() == 7
}

fn files_in(dir: &TempDir) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn migration_keeps_a_copy_that_the_older_version_can_open() {
    let (dir, file) = written();
    let mut migrated = Disk::open_with(&file, &with_later(LATER)).unwrap();
    assert_eq!(format_of(&migrated), MIGRATIONS.len() + 1);
    assert!(has_marks(&migrated) && holds_what_was_written(&mut migrated));
    migrated.close();

    let copy = dir.path().join(format!("state.db.format-{}", MIGRATIONS.len()));
    let mut older = Disk::open(&copy).expect("the older version opens the copy");
    assert_eq!(format_of(&older), MIGRATIONS.len());
    assert!(!has_marks(&older), "the copy was made after the migration");
    assert!(holds_what_was_written(&mut older));
    assert!(matches!(Disk::open(&file), Err(DiskError::Newer(_, found, known)) if found == known + 1));
}

#[test]
fn a_migration_runs_once_and_a_new_file_needs_no_copy() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("state.db");
    for _ in 0..2 {
        // A second run of the migration would fail, because the table exists.
        let disk = Disk::open_with(&file, &with_later(LATER)).unwrap();
        assert_eq!(format_of(&disk), MIGRATIONS.len() + 1);
        disk.close();
    }
    assert_eq!(files_in(&dir), ["state.db"]);
}

#[test]
fn a_failed_migration_leaves_the_file_unchanged() {
    let (_dir, file) = written();
    let broken = "CREATE TABLE marks (name TEXT); INSERT INTO nowhere VALUES (1);";
    assert!(matches!(Disk::open_with(&file, &with_later(broken)), Err(DiskError::Sql(_))));
    let mut disk = Disk::open(&file).unwrap();
    assert!(!has_marks(&disk) && holds_what_was_written(&mut disk));
}

#[test]
fn without_a_copy_nothing_is_migrated() {
    let (dir, file) = written();
    let in_the_way = dir.path().join(format!("state.db.format-{}", MIGRATIONS.len()));
    std::fs::create_dir(&in_the_way).unwrap();
    let refused = Disk::open_with(&file, &with_later(LATER)).err().expect("refused").to_string();
    assert!(refused.contains("Nothing was changed") && refused.contains("state.db.format-"), "{refused}");
    let mut disk = Disk::open(&file).unwrap();
    assert!(!has_marks(&disk) && holds_what_was_written(&mut disk));
}
