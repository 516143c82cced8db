//! Inventories, variables, pasted machines and cookies, in this process.

use std::fs;

use http::{HeaderMap, HeaderValue, header};
use kubeonkube::session::Sessions;
use mutation::cases;

/// The most processor time for one document in a debug build, in hundredths of a second.
const MOST: u64 = 1000;

const INVENTORY: &str = "\
all:
  vars: &shared {ansible_user: ubuntu, ansible_password: hunter22}
  hosts:
    m[1:3]: {ansible_host: 192.0.2.1, <<: *shared}
    w1:
  children:
    kube_control_plane: {hosts: {m1: }}
    k8s_cluster:
      children: {kube_control_plane: , kube_node: }
";
const PASTED: &str = "m1 192.0.2.1 master etcd\nm[2:3] <192.0.2.2>\nw1 ansible_host=192.0.2.4 ansible_port=22\n";

#[test]
fn fuzz_documents_about_machines() {
    for mut mutator in cases("fuzz_documents_about_machines") {
        let (text, pasted) = (mutator.bytes(INVENTORY.as_bytes()), mutator.bytes(PASTED.as_bytes()));
        let (text, pasted) = (String::from_utf8_lossy(&text), String::from_utf8_lossy(&pasted));
        let before = processor_time();
        if let Ok(inventory) = inventory::parse(&text) {
            let _ = inventory::advice(&inventory);
        }
        let _ = inventory::parse_vars(&text);
        let _ = inventory::machines_from_lines(&pasted);
        let _ = masking::hide_in_document(&text);
        masking::Masker::new(&text, None).line(pasted.clone().into_owned());
        let taken = processor_time() - before;
        assert!(taken < MOST, "{taken} hundredths of a second for {text:?} and {pasted:?}");
    }
}

/// The processor time of this thread, which doesn't depend on other programs, in hundredths of a second: fields 14 and 15 of
/// proc_pid_stat(5).
fn processor_time() -> u64 {
    let stat = fs::read_to_string("/proc/thread-self/stat").expect("our own");
    let (_, fields) = stat.rsplit_once(')').expect("a name in parentheses");
    fields.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<u64>().expect("a number")).sum()
}

#[test]
fn fuzz_cookies() {
    let data = tempfile::tempdir().expect("a directory");
    let sessions = Sessions::open(data.path(), "the API", false).expect("sessions");
    let user = api::User { name: "ann".into(), token: None };
    let cookie = sessions.start(user, None).expect("a cookie");
    let cookie = cookie.as_bytes().split(|byte| *byte == b';').next().expect("a pair");
    for mut mutator in cases("fuzz_cookies") {
        let sent = mutator.bytes(cookie);
        let Ok(value) = HeaderValue::from_bytes(&sent) else { continue };
        let headers = HeaderMap::from_iter([(header::COOKIE, value)]);
        if sessions.of(&headers).is_some() {
            // Other cookies beside it and spaces around its name and value change nothing (RFC 6265, section 5.2).
            let mut pairs = sent.split(|byte| *byte == b';').map(name_and_value);
            assert!(pairs.any(|pair| pair == name_and_value(cookie)), "accepted: {:?}", String::from_utf8_lossy(&sent));
        }
    }
}

fn name_and_value(pair: &[u8]) -> (&[u8], &[u8]) {
    let equals = pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
    let (name, value) = pair.split_at(equals);
    (name.trim_ascii(), value.get(1..).unwrap_or_default().trim_ascii())
}
