//! Ends a lab when a process ends: a test run that fails, or is killed, leaves no lab behind. The guard is a process of
//! its own, outside the lab.

use std::{
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use crate::{
    error::{Doing, Error},
    layout::Layout,
    process::Process,
    program, record, teardown,
};

/// Between two looks.
const TICK: Duration = Duration::from_millis(200);

/// Starts the guard of the lab that has just been claimed.
pub(crate) fn start(layout: &Layout, process: i32) -> Result<(), Error> {
    Command::new("setsid")
        .arg(program::of_the_lab()?)
        .args(["guard", &process.to_string()])
        .env("KUBEONKUBE_LAB_DIR", &layout.folder)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(drop)
        .doing(|| "start the lab's guard".to_owned())
}

/// Waits for the end of the process, or of the lab; ends the lab that runs now, and no later one.
pub fn guard(layout: &Layout, process: i32) -> Result<(), Error> {
    let guarded = record::read()?.namespaces;
    let is_there = || record::read().is_ok_and(|record| record.namespaces == guarded);
    if let Some(process) = Process::now(process) {
        while process.is_alive() && is_there() {
            thread::sleep(TICK);
        }
    }
    if is_there() { teardown::down(layout, true) } else { Ok(()) }
}
