//! The stage `machines`: a cluster is created and grown on machines of the lab, through the console, in a browser.
//!
//! It belongs to the gate, but Kubernetes takes minutes to build. So the stage runs where the parts of the lab are built, and builds
//! them only for a change of the engine or of the lab. Otherwise, the gate's last lines name it as not run.

use std::path::PathBuf;
use std::{env, process};

use super::{Lab, Obstacle, boot, browse, end, obstacle, server, unsupported};
use crate::builds::Builds;
use crate::clean_command::{check, root};
use crate::doctor;
use crate::suite::{Change, Infrastructure, Run};

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
    let touched = is_touched();
    if unsupported().is_some() || !(touched || was_built()) {
        return Ok(());
    }
    let lab = Lab::build(false)?;
    if touched && obstacle(&lab, UP, doctor::is_ci())?.is_none() {
        builds.start_at_lowest_priority(BUILD, &lab.command(PARTS))?;
    }
    Ok(())
}

/// Whether the last change touches what the stage proves.
fn is_touched() -> bool {
    Change::of_this_branch().is_ok_and(|change| PROVED.iter().any(|folder| change.touches(folder)))
}

/// Whether the parts were ever built, so that the lab's program is worth compiling. It knows whether they are the right ones.
fn was_built() -> bool {
    let named = env::var_os("KUBEONKUBE_LAB_DIR").map(|folder| root().join(folder));
    let cache = || {
        let home = || Some(PathBuf::from(env::var_os("HOME")?).join(".cache"));
        let named = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
        Some(named.or_else(home)?.join("kubeonkube/lab"))
    };
    let parts = named.or_else(cache).and_then(|folder| folder.join("parts").read_dir().ok());
    parts.into_iter().flatten().flatten().any(|part| part.file_name().to_string_lossy().starts_with(RELEASE))
}

/// Runs the stage, or leaves it out with the reason.
///
/// # Errors
/// If the parts can't be built, the lab can't be booted or ended, or the test can't be run.
pub(crate) fn test(run: &mut Run) -> anyhow::Result<()> {
    let (built, touched) = (run.builds.wait(BUILD), is_touched());
    let reason = match unsupported() {
        Some(reason) => Some(reason.to_owned()),
        // They are built below, or that fails.
        None if was_built() || touched => None,
        None => Some(format!("`cargo xtask lab {}` builds its parts in minutes", PARTS.join(" "))),
    };
    if let Some(reason) = reason {
        run.leave_out(&reason);
        return Ok(());
    }
    let lab = Lab::build(false)?;
    if let Err(error) = &built {
        eprintln!("{error:#}\ntrying again");
    }
    if built.is_err() || touched {
        if let Some(Obstacle::Lack(reason) | Obstacle::Lab(reason)) = obstacle(&lab, UP, doctor::is_ci())? {
            run.leave_out(&reason);
            return Ok(());
        }
        check(&mut lab.command(PARTS)).map_err(|error| Infrastructure::from(&error))?;
    }
    // Nothing compiles while the lab runs.
    server()?;
    if !is_booted(run, &lab)? {
        return Ok(());
    }
    let tested = browse(run, &lab, "create-and-grow", &[]);
    end(&lab, &tested)?;
    tested.map(drop)
}

/// Boots the lab, and once more if that fails. A lab that somebody else uses, or has just booted, is no failure of this change: then the
/// stage is left out.
fn is_booted(run: &mut Run, lab: &Lab) -> anyhow::Result<bool> {
    let up = [UP, &["--only-built"]].concat();
    // If this run is killed, its lab ends with it.
    let process = process::id().to_string();
    let guarded = [&up[..], &["--until-exit-of", &process]].concat();
    let mut tried = Ok(());
    for _ in 0..2 {
        if let Some(Obstacle::Lack(reason) | Obstacle::Lab(reason)) = obstacle(lab, &up, doctor::is_ci())? {
            run.leave_out(&reason);
            return Ok(false);
        }
        tried = boot(lab, &guarded);
        match &tried {
            Ok(()) => return Ok(true),
            Err(error) => eprintln!("{error:#}"),
        }
    }
    tried.map(|()| true)
}
