//! Records a test that can't run on this machine. libtest doesn't show the output of a test that passes.

use std::env;
use std::fs::File;
use std::io::Write;

/// Records `test` and what is missing for it. `cargo xtask test` lists these at the end of the stage. Where `CI` is set, the
/// test fails instead.
pub(crate) fn skip(test: &str, missing: &str) {
    assert!(env::var_os("CI").is_none(), "{test} can't be run: {missing}");
    eprintln!("skipped: {test}: {missing}");
    if let Some(file) = env::var_os("KUBEONKUBE_TEST_SKIPPED") {
        let mut file = File::options().append(true).create(true).open(file).expect("the list of what was skipped");
        // One write per line, so that the lines of parallel tests don't mix.
        file.write_all(format!("{test}: {missing}\n").as_bytes()).expect("noted");
    }
}
