//! Every frame of the socket can be read. The tests of the pages cover what pages load.

use std::collections::BTreeMap;

use api::live::{LiveFrame, Topic};
use api::log::{LogEnd, LogLine};
use api::run::{EventBody, HostResult, HostStats, RunEvent};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::*;

fn travels<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) {
    let text = serde_json::to_string(value).unwrap();
    assert_eq!(&read::<T>(&text).unwrap(), value, "{text}");
}

fn event(body: EventBody) -> RunEvent {
    RunEvent { n: 7, at: -1, after: 3, body }
}

#[test]
fn every_frame_of_the_socket_is_read() {
    let run = || "grow-1".parse().unwrap();
    let result = |message: Option<&str>, ignored| EventBody::HostResult {
        task: 1,
        host: "a\"b".into(),
        result: HostResult::Unreachable,
        ms: 12,
        message: message.map(Into::into),
        item: None,
        ignored,
    };
    let hosts = BTreeMap::from([("node \u{e9}".to_owned(), HostStats { ok: 2, ..Default::default() })]);
    let value = serde_json::json!({"os": "Debian", "n": [1, 2.5, null, {"deep": true}]});
    let events = vec![
        event(result(None, false)),
        event(result(Some("line\nline"), true)),
        event(EventBody::Stats { hosts }),
        event(EventBody::GivenUp { left: vec!["a".into(), "b".into()], failed: vec![] }),
        event(EventBody::Outcome { key: "facts".into(), value }),
    ];
    for frame in [
        LiveFrame::Beat,
        LiveFrame::SignedOut,
        LiveFrame::Changed { topic: Topic::Clusters },
        LiveFrame::Changed { topic: Topic::Operation("grow-1".into()) },
        LiveFrame::Lines { run: run(), first: 1, lines: vec![LogLine { t: api::Time(5), s: "[0;32m{\"}]".into() }] },
        LiveFrame::Lines { run: run(), first: 1, lines: vec![] },
        LiveFrame::Events { run: run(), events },
        LiveFrame::End { run: run(), end: LogEnd { lines: 3, missing: 0 } },
    ] {
        travels(&frame);
    }
}

#[test]
fn fields_may_come_in_any_order_and_unknown_ones_are_ignored() {
    let read: HostStats = read(
        r#"{ "failed" : 2, "later": {"x": [1]}, "ok":1 , "changed":0,"unreachable":0,
        "made":0,"would_change":0,"place":0,"skipped":0,"rescued":0,"ignored":0}"#,
    )
    .unwrap();
    assert_eq!((read.ok, read.failed), (1, 2));
}

#[test]
fn an_error_names_the_path_of_the_field() {
    let error = |text: &str| read::<RunEvent>(text).unwrap_err().to_string();
    assert!(
        error(r#"{"n":1,"at":2,"body":{"retry":{"task":1,"host":"a","attempt":1,"retries":1}}}"#).contains("after")
    );
    assert!(
        error(r#"{"n":1,"at":2,"after":0,"body":{"retry":{"task":"x","host":"a","attempt":1,"retries":1}}}"#)
            .contains("body: task: ")
    );
    assert!(error(r#"{"n":1,"at":2,"after":0,"body":{"nonsense":{}}}"#).contains("nonsense"));
    let two = r#"{"n":1,"at":2,"after":0,"body":{"stats":{"hosts":{}},"retry":{}}}"#;
    let whole = r#"{"n":1,"at":2,"after":0,"body":{"stats":{"hosts":{}}}}"#;
    assert!(read::<RunEvent>(whole).is_ok());
    for broken in ["", "{", "[1]", "null", two, &format!("{whole}trailing"), &whole[..whole.len() - 1]] {
        assert!(read::<RunEvent>(broken).is_err(), "{broken}");
    }
}
