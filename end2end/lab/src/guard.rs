//! The guard: a process outside the lab that ends the lab when another process ends. So a test run that fails or is killed
//! leaves no lab behind.

use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::error::{Doing, Error};
use crate::layout::Layout;
use crate::process::Process;
use crate::{lock, program, teardown};

/// The pause between two checks.
const TICK: Duration = Duration::from_millis(200);

/// Starts the guard of the lab that this process boots.
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

/// Waits until the process ends, then ends the lab. Does nothing if the lab has ended before, even if another one is running
/// now.
pub fn guard(layout: &Layout, process: i32) -> Result<(), Error> {
    let guarded = lock::read()?.namespaces;
    let is_same_lab = || lock::read().is_ok_and(|record| record.namespaces == guarded);
    if let Some(process) = Process::now(process) {
        while process.is_alive() && is_same_lab() {
            thread::sleep(TICK);
        }
    }
    if is_same_lab() { teardown::down(layout, true) } else { Ok(()) }
}
