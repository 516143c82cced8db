//! Decides whether an upstream line is text or an event of the run, and cleans and masks it.

use api::run::{EventBody, RunEvent};
use masking::Masker;
use serde::Deserialize;
use serde_json::Value;

use crate::ansi;

/// The record separator of RFC 7464. An event is this byte, the run's token, a space and JSON.
const SEPARATOR: u8 = 0x1e;
/// The event with the run's secret result, which is for the controller only (docs/adr/0015). It is found as text, so that a part of the
/// line is found, too.
const SECRET_RESULT: &[u8] = br#""type":"secret_result""#;

/// The content of one upstream line.
#[derive(Debug, PartialEq)]
pub(crate) enum Message {
    Text(String),
    Event(RunEvent),
    /// A program had not finished its line when the event was written.
    Both(String, RunEvent),
}

/// Reads one line. Only a line with the run's own token can be an event: the token is never sent to a machine, so no machine can make
/// one. `n` of an event is what the run says, and 0 if that is no number; the journal numbers events itself.
pub(crate) fn understand(raw: &[u8], length: u64, token: Option<&str>, masker: &mut Masker) -> Message {
    let marked = token.and_then(|token| {
        // A program may have written the separator, too, on the line that it had not finished.
        let mut separators = raw.iter().enumerate().filter(|(_, byte)| **byte == SEPARATOR).map(|(at, _)| at);
        separators.find_map(|at| {
            let json = raw[at + 1..].strip_prefix(token.as_bytes())?.strip_prefix(b" ")?;
            Some((&raw[..at], json))
        })
    });
    if let Some((before, json)) = marked
        && has(json, SECRET_RESULT)
    {
        return Message::Text(text(before, before.len() as u64, masker) + without_result(json));
    }
    let marked = marked.and_then(|(before, json)| Some((before, event(json, masker)?)));
    match marked {
        Some(([], event)) => Message::Event(event),
        Some((before, event)) => Message::Both(text(before, before.len() as u64, masker), event),
        None => Message::Text(text(raw, length, masker)),
    }
}

fn has(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// What the log shows instead of the event with the secret result.
fn without_result(json: &[u8]) -> &'static str {
    match has(json, br#""data":"#) {
        true => "== The secret result was passed to the controller, encrypted. The log doesn't keep it.",
        false => "== This run has no secret result.",
    }
}

fn text(raw: &[u8], length: u64, masker: &mut Masker) -> String {
    ansi::cut(masker.line(ansi::clean(raw)), length)
}

/// The event, or `None` if the JSON is no event. The line is then shown as text.
fn event(json: &[u8], masker: &Masker) -> Option<RunEvent> {
    let mut event = read(json).ok()?;
    if let EventBody::Outcome { value, .. } = &mut event.body {
        each_string(value, &mut |s| *s = masker.value(masking::without_escapes(s)));
    }
    for s in texts(&mut event.body) {
        // Line by line, because `ansi::clean` keeps only what follows the last `\r` and drops `\n`. Only the log has colours.
        let clean = |line: &str| masking::without_colours(&ansi::clean(line.as_bytes()));
        *s = masker.value(s.lines().map(clean).collect::<Vec<_>>().join("\n"));
    }
    Some(event)
}

/// Removes colours from the texts of an event. Earlier versions kept them in the journal.
pub(crate) fn remove_colours(event: &mut RunEvent) {
    for s in texts(&mut event.body) {
        *s = masking::without_colours(s);
    }
}

/// The texts that people read.
fn texts(body: &mut EventBody) -> Vec<&mut String> {
    match body {
        EventBody::StepStart { title, .. } => vec![title],
        EventBody::PlayStart { name, .. } => vec![name],
        EventBody::TaskStart { name, action, .. } => vec![name, action],
        EventBody::HostResult { message, item, .. } => message.iter_mut().chain(item).collect(),
        EventBody::StepEnd { .. }
        | EventBody::HostStart { .. }
        | EventBody::Retry { .. }
        | EventBody::Stats { .. }
        | EventBody::GivenUp { .. }
        | EventBody::Outcome { .. } => Vec::new(),
    }
}

/// Parses an event as the callback plugin writes it: number, time, `type` and the fields of that type, all on one level.
fn read(json: &[u8]) -> serde_json::Result<RunEvent> {
    #[derive(Deserialize)]
    struct Written {
        #[serde(default)]
        n: Value,
        #[serde(default)]
        at: Value,
        #[serde(rename = "type")]
        kind: String,
        #[serde(flatten)]
        fields: serde_json::Map<String, Value>,
    }
    let Written { n, at, kind, fields } = serde_json::from_slice(json)?;
    let body = EventBody::deserialize(Value::from_iter([(kind, Value::Object(fields))]))?;
    Ok(RunEvent { n: n.as_u64().unwrap_or(0), at: at.as_i64().unwrap_or(-1), after: 0, body })
}

fn each_string(value: &mut Value, change: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(s) => change(s),
        Value::Array(items) => items.iter_mut().for_each(|v| each_string(v, change)),
        Value::Object(map) => map.values_mut().for_each(|v| each_string(v, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(raw: &[u8]) -> Message {
        let mut masker = Masker::new("ansible_password: hunter22", Some("7f3a"));
        understand(raw, raw.len() as u64, Some("7f3a"), &mut masker)
    }

    const EVENT: &[u8] =
        b"\x1e7f3a {\"n\":3,\"at\":5,\"type\":\"play_start\",\"play\":1,\"name\":\"all with hunter22\"}";

    #[test]
    fn an_event_with_the_token_is_an_event_and_masked() {
        let Message::Event(event) = read(EVENT) else { panic!("an event") };
        assert_eq!((event.n, event.after), (3, 0));
        assert_eq!(event.body, EventBody::PlayStart { play: 1, name: format!("all with {}", masking::MASK) });
    }

    #[test]
    fn texts_of_events_have_no_escape_sequences() {
        let red = "\\u001b]0;title\\u0007\\u001b[31mred\\u001b[0m\\n\\u009b1mbold";
        let fields = [
            format!("\"type\":\"step_start\",\"step\":1,\"role\":\"main\",\"title\":\"{red}\""),
            format!("\"type\":\"play_start\",\"play\":1,\"name\":\"{red}\""),
            format!(
                "\"type\":\"task_start\",\"task\":1,\"play\":1,\"name\":\"{red}\",\"action\":\"{red}\",\"handler\":false"
            ),
            format!(
                "\"type\":\"host_result\",\"task\":1,\"host\":\"m1\",\"result\":\"failed\",\"ms\":5,\"message\":\"{red}\",\"item\":\"{red}\""
            ),
            format!("\"type\":\"outcome\",\"key\":\"facts\",\"value\":{{\"a\":[\"{red}\"]}}"),
        ];
        for fields in fields {
            let Message::Event(event) = read(format!("\u{1e}7f3a {{\"n\":3,\"at\":5,{fields}}}").as_bytes()) else {
                panic!("an event: {fields}")
            };
            let json = serde_json::to_string(&event).expect("an event is JSON");
            assert_eq!(json.matches("\"red\\nbold\"").count(), fields.matches("red").count(), "{json}");
        }
    }

    #[test]
    fn the_payload_of_a_secret_result_is_not_kept() {
        let event = "\u{1e}7f3a {\"n\":3,\"at\":5,\"type\":\"secret_result\",\"data\":\"AbCd1234";
        for (before, end) in [("", "\"}"), ("half a line ", "\"}"), ("", "")] {
            let Message::Text(text) = read(format!("{before}{event}{end}").as_bytes()) else { panic!("text") };
            assert!(
                text.starts_with(before) && text.contains("passed to the controller") && !text.contains("AbCd"),
                "{text}"
            );
        }
        let Message::Text(text) = read(b"\x1e7f3a {\"n\":3,\"at\":5,\"type\":\"secret_result\"}") else {
            panic!("text")
        };
        assert_eq!(text, "== This run has no secret result.");
    }

    #[test]
    fn a_forged_event_stays_text() {
        let forged = b"\x1edead {\"n\":3,\"at\":5,\"type\":\"step_end\",\"step\":1,\"rc\":0}";
        let Message::Text(text) = read(forged) else { panic!("text") };
        assert_eq!(text, "dead {\"n\":3,\"at\":5,\"type\":\"step_end\",\"step\":1,\"rc\":0}");
    }

    #[test]
    fn an_event_that_cannot_be_read_is_text_without_the_token() {
        for field in ["\"step\":-1,\"rc\":0", "\"step\":1e99,\"rc\":0", "\"rc\":0", "\"step\":99999999999,\"rc\":0"] {
            let raw = format!("\u{1e}7f3a {{\"n\":3,\"at\":5,\"type\":\"step_end\",{field}}}");
            let Message::Text(text) = read(raw.as_bytes()) else { panic!("text") };
            assert!(text.contains("step_end") && !text.contains("7f3a"), "{text}");
        }
    }

    #[test]
    fn an_event_with_any_number_and_time_is_an_event() {
        for (number, n) in [("18446744073709551615", u64::MAX), ("-1", 0), ("1e400", 0), ("\"x\"", 0), ("null", 0)] {
            let raw = format!("\u{1e}7f3a {{\"n\":{number},\"at\":-9e99,\"type\":\"step_end\",\"step\":1,\"rc\":0}}");
            match read(raw.as_bytes()) {
                Message::Event(event) => assert_eq!((event.n, event.at), (n, -1), "{number}"),
                // JSON numbers that no program can hold.
                other => assert!(number == "1e400", "{number}: {other:?}"),
            }
        }
    }

    #[test]
    fn an_unfinished_line_before_an_event_stays_text() {
        let raw = [b"half a line ".as_slice(), EVENT].concat();
        let Message::Both(text, event) = read(&raw) else { panic!("both") };
        assert_eq!((text.as_str(), event.n), ("half a line ", 3));
    }

    #[test]
    fn without_a_token_nothing_is_an_event() {
        let mut masker = Masker::new("", None);
        assert!(matches!(understand(EVENT, 9, None, &mut masker), Message::Text(_)));
    }

    #[test]
    fn values_of_an_outcome_are_masked_at_any_depth() {
        let raw = b"\x1e7f3a {\"n\":1,\"at\":5,\"type\":\"outcome\",\"key\":\"facts\",\"value\":{\"a\":[{\"b\":\"hunter22\"}]}}";
        let Message::Event(RunEvent { body: EventBody::Outcome { value, .. }, .. }) = read(raw) else {
            panic!("event")
        };
        assert_eq!(value["a"][0]["b"], masking::MASK);
    }
}
