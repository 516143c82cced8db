//! What the runner promises about Jobs, tested on the embedded API with real processes.

#[path = "../../../tests/parity/mod.rs"]
mod parity;
#[path = "../../../tests/patience/mod.rs"]
mod patience;
#[path = "../../../tests/skipped/mod.rs"]
mod skipped;
#[path = "../../../tests/small_disk/mod.rs"]
mod small_disk;
mod stage; // an embedded API with a runner
#[path = "../../../tests/tool/mod.rs"]
mod tool;

mod ansible; // how runs get their ansible
mod crashes; // crashes and restarts of the server, the shim and the command
mod full_disk; // a disk that is full before, during and at the end of a run
mod isolation; // what a run can reach of the server and of other runs
mod kubectl; // a session of kubectl, compared with a real API server
mod running; // what a run sees, and what the API shows of it
mod stopping; // suspending, deleting, deadlines

/// Not a test: this program as the shim of a run.
#[test]
fn shim_process() {
    stage::be_the_shim();
}

/// Not a test: this program as a server that a test kills.
#[test]
fn server_process() {
    stage::be_the_server();
}
