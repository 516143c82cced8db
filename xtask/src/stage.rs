//! Named stages of a longer task, each with its time.

use std::time::Instant;

/// The times of the stages so far.
pub(crate) struct Stages {
    started: Instant,
    done: Vec<(String, f64)>,
}

impl Stages {
    pub(crate) fn begin() -> Self {
        Self { started: Instant::now(), done: Vec::new() }
    }

    /// Runs one stage, prints its name and keeps its time, also when it fails.
    pub(crate) fn stage<T>(&mut self, name: &str, run: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
        eprintln!("\n== {name}");
        let started = Instant::now();
        let result = run();
        let seconds = started.elapsed().as_secs_f64();
        eprintln!("== {name}: {} in {seconds:.1} s", if result.is_ok() { "done" } else { "FAILED" });
        self.done.push((name.to_owned(), seconds));
        result
    }

    /// Prints the table of times.
    pub(crate) fn print(&self) {
        eprintln!("\nstage                     seconds");
        for (name, seconds) in &self.done {
            eprintln!("{name:<24} {seconds:>8.1}");
        }
        eprintln!("{:<24} {:>8.1}", "all", self.started.elapsed().as_secs_f64());
    }
}
