//! The embedded API and the runner stay small: `docs/adr/0008-size-of-the-embedded-api.md`.

use std::fs;
use std::path::Path;

/// Lines without tests.
const API: usize = 7_200;
const RUNNER: usize = 2_950;

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
