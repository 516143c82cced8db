//! Every test that runs the program also checks that no part of it panicked.

/// Fails the test if the program's log contains a panic. Call it when the program has ended.
pub(crate) fn check_none(log: &str) {
    let panics: Vec<&str> = log.lines().filter(|line| line.contains("panicked")).collect();
    // A second panic would abort the whole test binary.
    if !std::thread::panicking() {
        assert!(panics.is_empty(), "the program panicked:\n{}", panics.join("\n"));
    }
}
