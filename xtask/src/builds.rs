//! Builds that later stages need, started early and run in the background.
//!
//! Those of the tests run at the lowest priority, so they use only the processor time that the stages which compile leave idle:
//! linking and link-time optimization keep one processor busy. They end before the first test starts.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Instant;

use anyhow::{Context, bail};

use crate::clean_command::{command, root, with_surroundings_of};

/// The builds that are running, by name.
#[derive(Default)]
pub(crate) struct Builds {
    running: Vec<Build>,
}

struct Build {
    name: &'static str,
    child: Child,
    output: PathBuf,
    started: Instant,
}

impl Builds {
    /// Starts `build` in the background, with only the processor time that other work leaves idle.
    pub(crate) fn start_at_lowest_priority(&mut self, name: &'static str, build: &Command) -> anyhow::Result<()> {
        let mut niced = command("nice");
        niced.args(["-n", "19"]).arg(build.get_program()).args(build.get_args());
        self.start(name, with_surroundings_of(build, niced))
    }

    /// Starts `build` in the background. Its output goes to `target/background/<name>.log` until a stage waits for it.
    pub(crate) fn start(&mut self, name: &'static str, mut build: Command) -> anyhow::Result<()> {
        let folder = root().join("target/background");
        fs::create_dir_all(&folder)?;
        let output = folder.join(format!("{name}.log"));
        let log = File::create(&output).with_context(|| output.display().to_string())?;
        let child = build
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("can't start {}", build.get_program().to_string_lossy()))?;
        eprintln!("{name}: building in the background");
        self.running.push(Build { name, child, output, started: Instant::now() });
        Ok(())
    }

    /// Waits until all builds have ended. Those that failed fail the stages that call [`Builds::wait`] for them.
    pub(crate) fn finish(&mut self) -> anyhow::Result<()> {
        for build in &mut self.running {
            build.child.wait()?;
        }
        Ok(())
    }

    /// Waits until the build has ended, and prints its output. Returns at once if it was never started.
    ///
    /// # Errors
    /// If the build failed.
    pub(crate) fn wait(&mut self, name: &str) -> anyhow::Result<()> {
        let Some(at) = self.running.iter().position(|build| build.name == name) else { return Ok(()) };
        let mut build = self.running.remove(at);
        let waiting = Instant::now();
        let status = build.child.wait()?;
        eprint!("{}", fs::read_to_string(&build.output).unwrap_or_default());
        eprintln!(
            "{name}: {} after {:.1} s in the background, {:.1} s of them waited for",
            outcome(status),
            build.started.elapsed().as_secs_f64(),
            waiting.elapsed().as_secs_f64()
        );
        if status.success() { Ok(()) } else { bail!("the build of {name} failed: {status}") }
    }
}

impl Drop for Builds {
    /// Ends builds that no stage waited for, because a stage before them failed.
    fn drop(&mut self) {
        for build in &mut self.running {
            // Kills only the direct child. A compiler that the child has started runs to its end.
            let _ended = build.child.kill();
            let _status = build.child.wait();
        }
    }
}

fn outcome(status: ExitStatus) -> &'static str {
    if status.success() { "built" } else { "FAILED" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_background_build_keeps_its_folder_and_environment() {
        let folder = tempfile::tempdir().unwrap();
        let mut build = command("sh");
        build.current_dir(folder.path()).env("WANTED", "yes").args(["-c", "echo $WANTED > made; nice > priority"]);
        let mut builds = Builds::default();
        builds.start_at_lowest_priority("test-environment", &build).unwrap();
        builds.wait("test-environment").unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("made")).unwrap(), "yes\n");
        assert_eq!(fs::read_to_string(folder.path().join("priority")).unwrap(), "19\n");
    }

    #[test]
    fn a_failed_build_fails_the_stage_that_waits_for_it() {
        let mut build = command("sh");
        build.args(["-c", "exit 3"]);
        let mut builds = Builds::default();
        builds.start("test-failure", build).unwrap();
        let error = builds.wait("test-failure").unwrap_err();
        assert!(error.to_string().starts_with("the build of test-failure failed"), "{error}");
        builds.wait("test-failure").unwrap();
    }
}
