//! `lab build` and `lab pin`.

use lab::{Error, Layout, build};

pub(crate) fn build(parts: &[String], prune: bool) -> Result<(), Error> {
    let layout = Layout::of_this_checkout();
    build::build(&layout, parts, &|line| eprintln!("{line}"))?;
    if prune {
        for name in build::prune(&layout)? {
            eprintln!("{name}: removed");
        }
    }
    Ok(())
}

pub(crate) fn pin(parts: &[String]) -> Result<(), Error> {
    let layout = Layout::of_this_checkout();
    let all = || build::LOCKED.iter().map(|name| (*name).to_owned()).collect();
    for part in if parts.is_empty() { all() } else { parts.to_vec() } {
        let changes = build::pin(&layout, &part)?;
        if changes.is_empty() {
            println!("{part}: the mirror has what the lock says");
        }
        for change in changes {
            println!("{part}: {change}");
        }
    }
    Ok(())
}
