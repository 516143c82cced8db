//! What the runner promises about Jobs, tested on the embedded API with real processes.

#[path = "../../../tests/skipped/mod.rs"]
mod skipped;
mod stage; // an embedded API with a runner

mod ansible; // how runs get their ansible
mod crashes; // crashes and restarts of the server, the shim and the command
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
