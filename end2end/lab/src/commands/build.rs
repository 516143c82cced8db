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
    for part in parts {
        for change in build::pin(&layout, part)? {
            println!("{part}: {change}");
        }
    }
    Ok(())
}
