//! `docs/security.md` names the tests that prove each promise. This test checks that they exist.

use std::fs;
use std::path::Path;

#[test]
fn every_promise_of_the_security_page_names_existing_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let page = fs::read_to_string(root.join("docs/security.md")).expect("the page");
    let rows = page.lines().filter(|line| line.starts_with('|') && line.contains('/'));
    let mut tests = 0;
    for row in rows {
        let proof = row.trim_matches('|').rsplit_once(" | ").map(|(_, proof)| proof).expect("two columns");
        let mut source = String::new();
        for word in proof.split('`').skip(1).step_by(2) {
            if word.contains('/') {
                source = fs::read_to_string(root.join(word)).unwrap_or_else(|error| panic!("{word}: {error}"));
                continue;
            }
            let exists = ["fn", "def"].iter().any(|keyword| source.contains(&format!("{keyword} {word}(")));
            assert!(exists, "there is no test {word} for: {row}");
            tests += 1;
        }
    }
    assert!(tests > 40, "only {tests} tests were found on the page");
}
