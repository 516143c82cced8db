//! How a test says that it can't be run here: libtest keeps the words of a test that passes to itself.

use std::{env, fs::File, io::Write};

/// Notes `test` and what it lacks for `cargo xtask test`, which names it when the stage ends. Where `CI` is set it fails.
pub(crate) fn skip(test: &str, missing: &str) {
    assert!(env::var_os("CI").is_none(), "{test} can't be run: {missing}");
    eprintln!("skipped: {test}: {missing}");
    if let Some(file) = env::var_os("KUBEONKUBE_TEST_SKIPPED") {
        let mut file = File::options().append(true).create(true).open(file).expect("the list of what was skipped");
        // One write, so that the lines of tests that run beside each other stay whole.
        file.write_all(format!("{test}: {missing}\n").as_bytes()).expect("noted");
    }
}
