//! Lines of a pod and journals on disk, changed at random. `kubeonkube-mutation` says how to run a case again.

use std::io::Write;

use masking::Masker;
use mutation::{Mutator, cases};
use serde_json::json;

use crate::journal::{decode, has_ended};
use crate::message::{Message, understand};
use crate::scan::Scan;
use crate::upstream::{RAW_LIMIT, stamped};

const TOKEN: &str = "7f3a";

/// An event of each kind, as the callback plugin writes it.
fn event(mutator: &mut Mutator) -> Vec<u8> {
    let samples = [
        json!({"n": 3, "at": 5, "type": "play_start", "play": 1, "name": "all"}),
        json!({"n": 4, "at": 5, "type": "step_start", "step": 1, "role": "main", "title": "ping"}),
        json!({"n": 5, "at": 5, "type": "step_end", "step": 1, "rc": 0}),
        json!({"n": 6, "at": 5, "type": "task_start", "task": 1, "play": 1, "name": "a", "action": "ping", "handler": false}),
        json!({"n": 7, "at": 5, "type": "host_result", "task": 1, "host": "m1", "result": "failed", "ms": 5, "message": "a\rb\nc", "item": "d"}),
        json!({"n": 8, "at": 5, "type": "stats", "hosts": {"m1": {"ok": 1, "changed": 0, "failed": 0}}}),
        json!({"n": 8, "at": 5, "type": "given_up", "left": ["m2", "m3"], "failed": ["m1"]}),
        json!({"n": 9, "at": 5, "type": "outcome", "key": "facts", "value": {"a": [{"b": "c"}]}}),
    ];
    let sample = mutator.pick(&samples).clone();
    let event = mutator.json(&sample).to_string();
    let line = [b"\x1e", TOKEN.as_bytes(), b" ", event.as_bytes()].concat();
    if mutator.one_in(4) { mutator.bytes(&line) } else { line }
}

#[test]
fn fuzz_the_lines_of_a_pod() {
    let mut masker = Masker::new("ansible_password: hunter22", Some(TOKEN));
    for mut mutator in cases("fuzz_the_lines_of_a_pod") {
        let raw = match mutator.below(3) {
            0 => mutator.bytes(b"\x1b[0;32mok: [m1] => {\"a\": \"hunter22\"}\x1b[0m\t10%\r20%"),
            _ => event(&mut mutator),
        };
        let raw = &raw[..raw.len().min(RAW_LIMIT)];
        let text = match understand(raw, raw.len() as u64, Some(TOKEN), &mut masker) {
            Message::Event(event) => serde_json::to_string(&event).expect("an event is JSON"),
            Message::Text(text) | Message::Both(text, _) => text,
        };
        // A record of the journal is one line.
        assert!(!text.contains('\n') && !text.contains("hunter22"), "{text:?} from {raw:?}");
        let stamp = mutator.bytes(b"2026-01-01T00:00:00.000000005Z a b");
        stamped(&stamp);
    }
}

#[test]
fn fuzz_the_journal_of_a_run() {
    let sample = crate::journal::tests::sample();
    for mut mutator in cases("fuzz_the_journal_of_a_run") {
        let bytes = mutator.bytes(&sample);
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(&bytes).expect("written");
        let scan = Scan::of(&file).expect("read");
        has_ended(&file).expect("read");
        let extent = scan.extent;
        assert!(extent.bytes <= bytes.len() as u64, "{bytes:?}");
        assert!(extent.bytes == 0 || bytes[extent.bytes as usize - 1] == b'\n', "{bytes:?}");
        for record in bytes.split(|byte| *byte == b'\n') {
            decode(record, 0);
        }
        scan.seek(mutator.below(10) as u64, mutator.below(10) as u64);
    }
}
