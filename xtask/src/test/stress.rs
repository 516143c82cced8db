//! `cargo xtask stress`: repeats a test while other threads take the processors and the disk, as on a machine that others use, too.

use std::fs::{self, File};
use std::hint;
use std::io::{Seek, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use super::{MEMBERS, python_tests, rust_environment};
use crate::builds::Builds;
use crate::clean_command::root;
use crate::programs::{build_program, start_building_kubectl_and_helm};
use crate::skipped::Skipped;
use crate::suite::{FailedTest, Report, Run, Tests, reported};
use crate::{playwright, site};

/// The program that runs a test, by the form of its name.
#[derive(Debug, PartialEq)]
enum Runner {
    /// `log.spec.ts`, or with a line: `log.spec.ts:75`.
    Playwright,
    /// `test_run.Stopping`: a module, class or test in `deploy/runner/tests`.
    Python,
    /// A part of a test's name, such as `lease_managers`.
    Nextest,
}

impl Runner {
    fn of(name: &str) -> Self {
        match name {
            _ if name.contains(".spec.ts") => Self::Playwright,
            _ if name.starts_with("test_") => Self::Python,
            _ => Self::Nextest,
        }
    }
}

/// Runs the tests with this name `times` times, beside `load` busy threads, and prints the failures.
pub(crate) fn stress(name: &str, times: u32, load: usize) -> anyhow::Result<ExitCode> {
    let (mut builds, mut report) = (Builds::default(), Report::default());
    let skipped = Skipped::none(&root().join("target/skipped"), "stress")?;
    let mut run = Run { stage: "stress", full: false, change: None, skipped, builds: &mut builds, report: &mut report };
    let failed = match Runner::of(name) {
        Runner::Nextest => {
            start_building_kubectl_and_helm(run.builds)?;
            MEMBERS.build()?;
            build_program("")?;
            run.builds.finish()?;
            let (times, env) = (times.to_string(), rust_environment(&mut run)?);
            let _load = Load::begin(load)?;
            let arguments = ["--stress-count", &times];
            Tests { arguments: &arguments, filter: &format!("test({name})"), env: &env, ..MEMBERS }.run(None)?
        }
        Runner::Python => {
            let mut tests = python_tests(&run)?;
            tests.arg(name);
            let _load = Load::begin(load)?;
            let rounds = (0..times).map(|_| reported::run(&mut tests)).collect::<anyhow::Result<Vec<_>>>()?;
            rounds.concat()
        }
        Runner::Playwright => {
            site::build(site::Kind::Cut)?;
            let program = build_program("")?;
            let _load = Load::begin(load)?;
            playwright::repeat(&run, &program, name, times)?
        }
    };
    run.skipped.print(true)?;
    eprintln!("\n{}", summary(name, times, &failed));
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn summary(name: &str, times: u32, failed: &[FailedTest]) -> String {
    let lines = failed.iter().map(|test| format!("FAILED {test}\n{}\n", test.message.trim_end()));
    let failures = if failed.len() == 1 { "1 failure" } else { &format!("{} failures", failed.len()) };
    format!("{}{name}: {failures} in {times} rounds", lines.collect::<String>())
}

/// Threads that compute, and one that writes to the disk, until this is dropped.
struct Load {
    ends: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    file: PathBuf,
}

impl Load {
    fn begin(threads: usize) -> anyhow::Result<Self> {
        let file = root().join("target/stress");
        let mut load = Self { ends: Arc::default(), threads: Vec::new(), file };
        for _ in 0..threads {
            load.repeat(hint::spin_loop);
        }
        if threads > 0 {
            let (mut written, block) = (File::create(&load.file)?, vec![1; 1 << 20]);
            load.repeat(move || {
                let wrote = written.rewind().and_then(|()| written.write_all(&block)).and_then(|()| written.sync_all());
                // A full disk is load enough.
                drop(wrote);
            });
        }
        Ok(load)
    }

    fn repeat(&mut self, mut work: impl FnMut() + Send + 'static) {
        let ends = Arc::clone(&self.ends);
        self.threads.push(thread::spawn(move || {
            while !ends.load(Ordering::Relaxed) {
                work();
            }
        }));
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ended = thread.join();
        }
        let _removed = fs::remove_file(&self.file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runner_follows_from_the_name() {
        assert_eq!(Runner::of("log.spec.ts:75"), Runner::Playwright);
        assert_eq!(Runner::of("test_run.Stopping"), Runner::Python);
        assert_eq!(Runner::of("two_managers_share_a_lease"), Runner::Nextest);
    }

    #[test]
    fn the_load_ends_and_leaves_no_file() {
        let load = Load::begin(2).unwrap();
        assert_eq!(load.threads.len(), 3);
        let (file, ends) = (load.file.clone(), Arc::downgrade(&load.ends));
        drop(load);
        assert!(!file.exists());
        assert_eq!(ends.strong_count(), 0, "no thread is left");
    }

    #[test]
    fn each_failure_is_printed() {
        let late =
            FailedTest { suite: "log.spec.ts:75".into(), name: "a cut".into(), seconds: 1.0, message: "late\n".into() };
        assert_eq!(summary("log", 50, &[]), "log: 0 failures in 50 rounds");
        assert_eq!(summary("log", 50, &[late]), "FAILED log.spec.ts:75 a cut\nlate\nlog: 1 failure in 50 rounds");
    }
}
