//! The stage `machines`: a cluster is created and grown on machines of the lab, through the console, in a browser.
//!
//! It belongs to the gate, but Kubernetes takes minutes to build. So the stage runs where the parts of the lab are built, and builds
//! them only for a change of the engine or of the lab. Otherwise, the gate's last lines name it as not run.

use std::path::PathBuf;
use std::{env, process};

use super::{Lab, Obstacle, boot_twice, browse, end, obstacle, server, unsupported};
use crate::builds::Builds;
use crate::clean_command::root;
use crate::doctor;
use crate::test::{Change, Run};

/// The lab of this stage.
const UP: &[&str] = &["up", "--machines", "3", "--machines-only", "--releases=1.36"];
/// The largest of its parts: what machines download.
const RELEASE: &str = "release-1.36";
/// Its parts.
const PARTS: &[&str] = &["build", "tools", "runc", "machine-root", "runtime", RELEASE];
/// Name of the background build.
const BUILD: &str = "parts-of-machines";
/// What the stage proves, or is made from.
const PROVED: [&str; 4] = ["deploy/runner/playbooks", "end2end/lab/parts", "end2end/lab/src", "end2end/machines"];

/// Compiles the lab's program, and builds the parts in the background if the last change touches what the stage proves.
pub(crate) fn start_build(builds: &mut Builds) -> anyhow::Result<()> {
    let touched = Change::of_this_branch().is_ok_and(|change| PROVED.iter().any(|folder| change.touches(folder)));
    if unsupported().is_some() || !(touched || was_built()) {
        return Ok(());
    }
    let lab = Lab::build(false)?;
    if touched && obstacle(&lab, UP, doctor::is_ci())?.is_none() {
        builds.start_at_lowest_priority(BUILD, &lab.command(PARTS))?;
    }
    Ok(())
}

/// Whether the parts were ever built, so that the lab's program is worth compiling. It knows whether they are the right ones.
fn was_built() -> bool {
    let named = env::var_os("KUBEONKUBE_LAB_DIR").map(|folder| root().join(folder));
    let cache = || {
        let home = || Some(PathBuf::from(env::var_os("HOME")?).join(".cache"));
        Some(env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home)?.join("kubeonkube/lab"))
    };
    let parts = named.or_else(cache).and_then(|folder| folder.join("parts").read_dir().ok());
    parts.into_iter().flatten().flatten().any(|part| part.file_name().to_string_lossy().starts_with(RELEASE))
}

/// Runs the stage, or leaves it out with the reason.
///
/// # Errors
/// If the parts can't be built, the lab can't be booted or ended, or the test can't be run.
pub(crate) fn test(run: &mut Run) -> anyhow::Result<()> {
    run.builds.wait(BUILD)?;
    let reason = match unsupported() {
        Some(reason) => Some(reason.to_owned()),
        None if !was_built() => Some(format!("`cargo xtask lab {}` builds its parts in minutes", PARTS.join(" "))),
        None => None,
    };
    if let Some(reason) = reason {
        run.leave_out(&reason);
        return Ok(());
    }
    let lab = Lab::build(false)?;
    let up = [UP, &["--only-built"]].concat();
    // A lab that somebody uses is no failure of this change.
    if let Some(Obstacle::Lack(reason) | Obstacle::Lab(reason)) = obstacle(&lab, &up, doctor::is_ci())? {
        run.leave_out(&reason);
        return Ok(());
    }
    // Nothing compiles while the lab runs.
    server()?;
    // If this run is killed, its lab ends with it.
    boot_twice(run, &lab, &[&up[..], &["--until-exit-of", &process::id().to_string()]].concat())?;
    let tested = browse(run, &lab, "create-and-grow", &[]);
    end(&lab, &tested)?;
    tested.map(drop)
}
