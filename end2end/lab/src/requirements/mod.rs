//! Checks that this computer can build and boot a lab. Every missing thing is reported in one sentence: what it is, what it
//! is for, and what installs it.
//!
//! - [`needs`] — the programs and kernel features that the lab needs
//! - [`facts`] — what this computer has
//! - [`trial`] — tries kernel features that can't be found otherwise
//! - [`space`] — free disk space

mod facts;
mod needs;
mod space;
mod trial;

use crate::build::part::Part;
use crate::build::workshop::{self, Pins};
use crate::error::Error;
use crate::layout::Layout;
use crate::program;
use crate::requirements::facts::Facts;
use crate::requirements::needs::{
    CONTROLLERS, GO_BY, NAMESPACES, OLDEST_GO, Program, TO_BUILD_IMAGES, TO_BUILD_PROGRAMS, TO_RUN_PROGRAMS,
};
use crate::requirements::trial::{TRIALS, Trial};

/// Even with `-E`, `sudo` sets its own PATH, which doesn't contain cargo.
const NEEDS_ROOT: &str = "it needs root to make and enter namespaces, mounts and cgroups: use \
                          `sudo -E env \"PATH=$PATH\" cargo xtask lab …`.";

/// Fails if the user isn't root. Called first, because later steps read files that only root can.
pub fn root() -> Result<(), Error> {
    if rustix::process::geteuid().is_root() { Ok(()) } else { Err(Error::Requirements(vec![NEEDS_ROOT.to_owned()])) }
}

/// Fails with everything that is missing. `missing` are the parts that have to be built first.
pub(crate) fn check(layout: &Layout, missing: &[&Part]) -> Result<(), Error> {
    let machine_root = workshop::places(layout, Pins::of_this_run())?["machine-root"].join("root");
    let machine_root = Some(machine_root.as_path()).filter(|root| root.is_dir());
    let lacks = lacks(&Facts::of_this_computer(layout, machine_root), missing);
    if lacks.is_empty() { Ok(()) } else { Err(Error::Requirements(lacks)) }
}

/// Fails with everything that is missing to build the images that users get. They need less than a lab.
pub(crate) fn for_images() -> Result<(), Error> {
    let mut lacks = Vec::new();
    if std::env::consts::ARCH != "x86_64" {
        lacks.push("it needs an amd64 processor, because the Debian packages are pinned for no other.".to_owned());
    }
    for (name, purpose, installed_by) in TO_BUILD_IMAGES.iter().filter(|(name, ..)| !program::is_installed(name)) {
        lacks.push(format!("`{name}`, which {purpose}, is not installed: {installed_by}"));
    }
    if lacks.is_empty() { Ok(()) } else { Err(Error::ImageRequirements(lacks)) }
}

/// What this computer lacks for building the `missing` parts and booting.
fn lacks(facts: &Facts, missing: &[&Part]) -> Vec<String> {
    let mut lacks = Vec::new();
    if facts.os != "linux" {
        lacks.push(format!("it needs Linux for namespaces, cgroups and overlay file systems; this is {}.", facts.os));
    }
    if facts.architecture != "x86_64" {
        lacks.push(format!(
            "it needs an amd64 processor, because the Debian packages are pinned for no other; this one is {}.",
            facts.architecture
        ));
    }
    if !facts.root {
        lacks.push(NEEDS_ROOT.to_owned());
    }
    programs(facts, TO_RUN_PROGRAMS, &mut lacks);
    if !missing.is_empty() {
        programs(facts, TO_BUILD_PROGRAMS, &mut lacks);
        go(facts, &mut lacks);
        if facts.programs.contains("python3") && !facts.pip {
            lacks.push(
                "Python's `pip`, which installs ansible-core, is not installed: apt-get install python3-pip".to_owned(),
            );
        }
        if !facts.libseccomp {
            lacks.push(
                "libseccomp, which runc is linked with, is not installed: apt-get install libseccomp-dev pkg-config"
                    .to_owned(),
            );
        }
    }
    for (kind, option) in NAMESPACES.iter().filter(|(kind, _)| !facts.namespaces.contains(kind)) {
        lacks.push(format!("its kernel has no {kind} namespaces, which machines are made of: it needs {option}."));
    }
    for (name, installed_by) in CONTROLLERS.iter().filter(|(name, _)| !facts.controllers.contains(*name)) {
        lacks.push(format!(
            "the cgroup controller `{name}`, which kubelet needs to start, is not mounted: it needs {installed_by}. Without \
             systemd, `apt-get install cgroupfs-mount` mounts the controllers."
        ));
    }
    lacks.extend(TRIALS.iter().filter_map(|trial| Some(refused(trial, facts.refused.get(trial.what)?))));
    lacks.extend(space::lacks(&facts.places, missing));
    if facts.on_overlay {
        lacks.push(format!(
            "{} lies on an overlay file system, which can't hold the overlays of machines: set KUBEONKUBE_LAB_DIR to a folder on \
             a real disk.",
            facts.folder.display()
        ));
    }
    lacks
}

fn programs(facts: &Facts, needed: &[Program], lacks: &mut Vec<String>) {
    for (name, purpose, installed_by) in needed.iter().filter(|(name, ..)| !facts.programs.contains(name)) {
        lacks.push(format!("`{name}`, which {purpose}, is not installed: {installed_by}"));
    }
}

fn go(facts: &Facts, lacks: &mut Vec<String>) {
    if let Some((major, minor)) = facts.go.filter(|found| *found < OLDEST_GO) {
        lacks.push(format!(
            "Go {major}.{minor} is too old to fetch the pinned toolchain; it needs {}.{} or newer: {GO_BY}",
            OLDEST_GO.0, OLDEST_GO.1
        ));
    }
}

fn refused(trial: &Trial, why: &str) -> String {
    format!("its kernel refuses {} ({why}), but {}: {}.", trial.what, trial.purpose, trial.remedy)
}

#[cfg(test)]
mod tests;
