//! The causes of failures that the run page knows are produced for real: programs fail on a machine, ansible runs them as in a run, and
//! the message of our callback plugin must tell the right cause. `produce.py` does it; the playbooks beside it say how.
//!
//! With `CAUSES_RECORD`, the path of a file, the messages are recorded there: `app/src/run/summary/cause/produced.json` is such a file. With
//! `CAUSES_LOGS`, the path of a folder, the logs of the playbooks are written there.

#[path = "../shared/mod.rs"]
mod shared;

use std::env;
use std::path::Path;

use lab::addresses::ARTIFACTS;

#[test]
fn programs_that_fail_tell_the_cause() {
    let ansible =
        env::var("KUBEONKUBE_TEST_ANSIBLE").expect("KUBEONKUBE_TEST_ANSIBLE names no folder with ansible-playbook");
    let lab = shared::lab();
    let version = lab.releases().first().expect("this lab serves no release: boot it with --releases=1.36");
    let machine = lab.machine("m1").unwrap();
    machine.reset().unwrap();
    machine.wait_reachable().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/causes");
    let produced = lab
        .command(&format!("{ansible}/python3"))
        .arg("-B")
        .arg(folder.join("produce.py"))
        .env("CAUSES_MACHINE", machine.address().to_string())
        .env("CAUSES_KEY", lab.key())
        .env("CAUSES_KNOWN_HOSTS", lab.known_hosts())
        .env("CAUSES_RELEASE", format!("http://{ARTIFACTS}/release/{version}"))
        .status()
        .unwrap();
    machine.reset().unwrap();
    assert!(produced.success(), "see above");
}
