//! Benchmarks. Each prints its figures and the machine they were measured on. `docs/benchmarks.md` keeps the results.

mod size;

pub(crate) use size::first_loads;

use anyhow::{bail, ensure};

use crate::clean_command::{check, command};
use crate::{lab, site};

/// The benchmarks, each with what it measures.
const BENCHES: &[(&str, &str)] = &[
    ("size", "the first load of each page, and the ten largest crates in it"),
    ("pages", "time to first byte of /clusters with 1,000 clusters"),
    ("status", "from a change in the API to a tab that shows it, with 1,000 clusters"),
    ("turns", "from an operation's turn to its Job: 1,000 operations on 1,000 clusters"),
    ("memory", "growth of the server per 1,000 objects"),
    ("fanout", "a log at 1, 100 and 1,000 viewers and 1,000 lines a second"),
    ("search", "a text in a run of 1,000,000 lines"),
    ("engine", "the playbooks of the built-in engine on six machines of the lab, a quarter of an hour"),
];

/// Only by name: it needs root and a quarter of an hour.
const ONLY_BY_NAME: &str = "engine";
/// The benchmarks that don't measure programs with the site of a release.
const WITHOUT_SITE: &[&str] = &["size", "engine"];

pub(crate) fn bench(only: &[String]) -> anyhow::Result<()> {
    if let Some(unknown) = only.iter().find(|name| !BENCHES.iter().any(|(known, _)| known == name)) {
        bail!(
            "there is no benchmark `{unknown}`; there are: {}",
            BENCHES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
        );
    }
    let chosen: Vec<_> = BENCHES
        .iter()
        .filter(|(name, _)| only.iter().any(|chosen| chosen == name) || only.is_empty() && *name != ONLY_BY_NAME)
        .collect();
    // The measured programs embed the site of a release.
    if chosen.iter().any(|(name, _)| !WITHOUT_SITE.contains(name)) {
        site::build(site::Kind::Release)?;
    }
    let mut failed = Vec::new();
    for (name, what) in chosen {
        println!("\n## {name}: {what}");
        let done = match *name {
            "size" => size::run(),
            "engine" => lab::bench(),
            _ => check(command("cargo").args([
                "bench",
                "--quiet",
                "--package",
                "kubeonkube",
                "--bench",
                "figures",
                "--",
                name,
            ])),
        };
        // Go on with the other benchmarks.
        if let Err(error) = done {
            println!("{error:#}");
            failed.push(*name);
        }
    }
    ensure!(failed.is_empty(), "failed: {}", failed.join(", "));
    Ok(())
}
