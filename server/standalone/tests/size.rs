//! The embedded API and the runner stay small: `docs/adr/0008-size-of-the-embedded-api.md`.

use std::fs;
use std::path::Path;

/// Lines without tests.
const API: usize = 8_150;
const RUNNER: usize = 3_330;

#[test]
fn the_api_and_the_runner_stay_below_their_ceilings() {
    let api = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let runner = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runner/src");
    for (part, folder, ceiling) in [("API", api, API), ("runner", runner, RUNNER)] {
        let lines = lines(&folder);
        assert!(
            lines <= ceiling,
            "the {part} has {lines} lines, {ceiling} are allowed: remove something that no client uses, or change the \
             record (docs/adr/0008-size-of-the-embedded-api.md)"
        );
    }
}

fn lines(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let of = |path: &Path| {
        let text = fs::read_to_string(path).expect("text");
        let before_tests = text.split("\n#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let before_tests = before_tests.split("\n#[cfg(test)]\n#[path").next().unwrap_or_default();
        before_tests.lines().count()
    };
    entries
        .map(|path| match path {
            path if path.is_dir() => lines(&path),
            path if path.to_string_lossy().ends_with("_tests.rs") => 0,
            path => of(&path),
        })
        .sum()
}

#[test]
fn the_record_names_the_ceilings_and_its_table_adds_up() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/adr/0008-size-of-the-embedded-api.md");
    let record = fs::read_to_string(file).expect("the record");
    let number = |text: &str| text.trim_matches(['*', ' ']).replace(',', "").parse::<usize>().ok();
    let title = record.lines().next().unwrap_or_default();
    let in_title: Vec<usize> = title.split([' ', '.']).filter_map(number).filter(|n| *n > 100).collect();
    assert_eq!(in_title, [API, RUNNER], "{title}");
    let (mut sum, mut totals) = (0, Vec::new());
    for row in record.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = row.split(" | ").collect();
        match number(cells[1]) {
            Some(total) if cells[1].contains("**") => {
                assert_eq!(total, std::mem::take(&mut sum), "{row}");
                totals.push(total);
            }
            Some(lines) => sum += lines,
            None => {}
        }
    }
    assert!(totals.len() == 2 && totals[0] <= API && totals[1] <= RUNNER, "{totals:?}");
}
