//! `lab build` and `lab pin`.

use lab::{Error, Layout, build};

pub(crate) fn build(parts: &[String], prune: bool) -> Result<(), Error> {
    let layout = Layout::of_this_checkout();
    let report = |line| eprintln!("{line}");
    build::build(&layout, parts, &report)?;
    if prune { build::prune(&layout, &report) } else { Ok(()) }
}

pub(crate) fn pin(parts: &[String]) -> Result<(), Error> {
    let layout = Layout::of_this_checkout();
    let all = || build::LOCKED.iter().map(|name| (*name).to_owned()).collect();
    for part in if parts.is_empty() { all() } else { parts.to_vec() } {
        let changes = build::pin(&layout, &part, &|line| eprintln!("{line}"))?;
        if changes.is_empty() {
            println!("{part}: the mirror has the locked versions");
        }
        for change in changes {
            println!("{part}: {change}");
        }
    }
    Ok(())
}
