//! What a run of the tests needs of the machine: checked in the first minute, and then fetched, before anything is compiled.

use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use anyhow::Context;

use crate::ansible::{ansible, linters, python_client};
use crate::clean_command::{check, command, output, root};
use crate::suite::Infrastructure;
use crate::{doctor, lab, playwright, programs};

/// GiB that a first run needs: 9 for target, and what cargo, npm, pip and the browsers keep.
const COLD: u64 = 14;
/// GiB that a run needs if there is the output of an earlier one.
const WARM: u64 = 4;

/// Checks the machine, and installs tools that are missing.
///
/// # Errors
/// One error that names everything that is missing.
pub(crate) fn require(chosen: &dyn Fn(&str) -> bool) -> anyhow::Result<()> {
    let mut lacks = Vec::new();
    if let Err(error) = doctor::require(doctor::For::Test) {
        lacks.push(format!("{error:#}"));
    }
    let needed = if root().join("target/debug/deps").exists() { WARM } else { COLD };
    lacks.extend(free_space(&root()).and_then(|free| lack_of_space(free, needed)));
    if doctor::is_ci() && cfg!(target_os = "linux") && !doctor::has_landlock() {
        lacks.push("the kernel has no Landlock (Linux 5.13), so the isolation of runs can't be tested".to_owned());
    }
    if chosen("lab")
        && let Err(error) = lab::require_no_other()
    {
        lacks.push(format!("{error:#}"));
    }
    if lacks.is_empty() { Ok(()) } else { Err(Infrastructure::because(lacks.join("\n"))) }
}

/// Fetches what the chosen stages need from package indexes. Where `CI` isn't set, a failure is only printed: there, a stage that
/// lacks something skips its tests.
pub(crate) fn fetch(chosen: &dyn Fn(&str) -> bool) -> anyhow::Result<()> {
    let lab = chosen("lab") || chosen("machines");
    let rust = chosen("rust") || chosen("fuzz") || lab;
    let all: [(&str, bool, Fetch); 8] = [
        ("crates", true, &|| check(command("cargo").args(["fetch", "--locked"]))),
        ("cargo-nextest", rust, &|| programs::nextest().map(drop)),
        ("ansible", rust || chosen("runner") || chosen("browser") || chosen("released"), &|| ansible().map(drop)),
        ("linters of playbooks", chosen("playbooks"), &|| linters().map(drop)),
        ("Python's client of Kubernetes", chosen("rust"), &|| python_client().map(drop)),
        ("kubectl and helm", rust, &programs::fetch_kubectl_and_helm),
        ("Go modules of the health checks", chosen("health") && doctor::lack_of_go().is_none(), &|| {
            // Only the modules that it needs, unlike `go mod download`.
            let mut list = command("go");
            list.current_dir(root().join("deploy/health/tests")).args(["list", "-deps", "-test", "./..."]);
            output(&mut list).map(drop).context("go can't fetch them")
        }),
        ("packages of npm", chosen("browser") || chosen("released") || lab, &playwright::fetch),
    ];
    let mut lacks = Vec::new();
    for (what, needed, fetch) in all {
        if needed && let Err(error) = in_three_tries(fetch, &PAUSES) {
            eprintln!("{error:#}");
            lacks.push(format!("{what} can't be fetched: {error:#}"));
        }
    }
    if lacks.is_empty() || !doctor::is_ci() { Ok(()) } else { Err(Infrastructure::because(lacks.join("\n"))) }
}

type Fetch<'a> = &'a dyn Fn() -> anyhow::Result<()>;

/// Pauses between the tries. Package indexes fail for seconds: a mirror is updated, a connection is cut.
const PAUSES: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(20)];

fn in_three_tries(fetch: Fetch, pauses: &[Duration; 2]) -> anyhow::Result<()> {
    for pause in pauses {
        match fetch() {
            Ok(()) => return Ok(()),
            Err(error) => eprintln!("{error:#}\ntrying again in {} s", pause.as_secs()),
        }
        sleep(*pause);
    }
    fetch()
}

/// Why `free` GiB are too few.
pub(super) fn lack_of_space(free: u64, needed: u64) -> Option<String> {
    (free < needed).then(|| format!("the disk of {} has {free} GiB free, and {needed} are needed", root().display()))
}

/// The free space of the disk that the folder is on, in GiB. `None` if `df` doesn't say.
pub(crate) fn free_space(folder: &Path) -> Option<u64> {
    let printed = output(command("df").arg("-Pk").arg(folder))?;
    let kibibytes: u64 = printed.lines().nth(1)?.split_whitespace().nth(3)?.parse().ok()?;
    Some(kibibytes >> 20)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use anyhow::ensure;

    use super::*;

    #[test]
    fn a_disk_that_is_too_full_is_named_with_figures() {
        let lack = lack_of_space(3, WARM).unwrap();
        assert!(lack.ends_with("has 3 GiB free, and 4 are needed"), "{lack}");
        assert_eq!(lack_of_space(4, WARM), None);
        assert!(free_space(&root()).is_some());
    }

    #[test]
    fn a_package_is_fetched_in_at_most_three_tries() {
        for (good_try, tries) in [(1, 1), (3, 3), (4, 3)] {
            let asked = Cell::new(0);
            let done = in_three_tries(
                &|| {
                    asked.set(asked.get() + 1);
                    ensure!(asked.get() >= good_try, "the index doesn't answer");
                    Ok(())
                },
                &[Duration::ZERO; 2],
            );
            assert_eq!((done.is_ok(), asked.get()), (good_try <= 3, tries));
        }
    }
}
