//! Decides whether an upstream line is text or an event of the run, and cleans and masks it.

use api::run::{EventBody, RunEvent};
use masking::Masker;
use serde::Deserialize;
use serde_json::Value;

use crate::ansi;

/// The record separator of RFC 7464. An event is this byte, the run's token, a space and JSON.
const SEPARATOR: u8 = 0x1e;

/// The content of one upstream line.
#[derive(Debug, PartialEq)]
pub(crate) enum Message {
    Text(String),
    Event(RunEvent),
    /// A program had not finished its line when the event was written.
    Both(String, RunEvent),
}

/// Reads one line. Only a line with the run's own token can be an event. `last_event` is the number of the previous event.
pub(crate) fn understand(
    raw: &[u8],
    length: u64,
    token: Option<&str>,
    last_event: u64,
    masker: &mut Masker,
) -> Message {
    let marked = token.and_then(|token| {
        let at = raw.iter().position(|b| *b == SEPARATOR)?;
        let json = raw[at + 1..].strip_prefix(token.as_bytes())?.strip_prefix(b" ")?;
        Some((&raw[..at], event(json, last_event, masker)?))
    });
    match marked {
        Some(([], event)) => Message::Event(event),
        Some((before, event)) => Message::Both(text(before, before.len() as u64, masker), event),
        None => Message::Text(text(raw, length, masker)),
    }
}

fn text(raw: &[u8], length: u64, masker: &mut Masker) -> String {
    ansi::cut(masker.line(ansi::clean(raw)), length)
}

/// The event, or `None` if the JSON is no event or repeats an earlier number. The line is then shown as text.
fn event(json: &[u8], last_event: u64, masker: &Masker) -> Option<RunEvent> {
    let mut event = read(json).ok().filter(|event| event.n > last_event)?;
    let mut strings: Vec<&mut String> = Vec::new();
    match &mut event.body {
        EventBody::StepStart { title, .. } => strings.push(title),
        EventBody::PlayStart { name, .. } => strings.push(name),
        EventBody::TaskStart { name, action, .. } => strings.extend([name, action]),
        EventBody::HostResult { message, item, .. } => strings.extend(message.iter_mut().chain(item)),
        EventBody::Outcome { value, .. } => each_string(value, &mut |s| *s = masker.value(std::mem::take(s))),
        EventBody::StepEnd { .. } | EventBody::HostStart { .. } | EventBody::Retry { .. } | EventBody::Stats { .. } => {
        }
    }
    for s in strings {
        // Line by line, because `ansi::clean` keeps only what follows the last `\r` and drops `\n`.
        *s = masker.value(s.lines().map(|line| ansi::clean(line.as_bytes())).collect::<Vec<_>>().join("\n"));
    }
    Some(event)
}

/// Parses an event as the callback plugin writes it: number, time, `type` and the fields of that type, all on one level.
fn read(json: &[u8]) -> serde_json::Result<RunEvent> {
    #[derive(Deserialize)]
    struct Written {
        n: u64,
        at: i64,
        #[serde(rename = "type")]
        kind: String,
        #[serde(flatten)]
        fields: serde_json::Map<String, Value>,
    }
    let Written { n, at, kind, fields } = serde_json::from_slice(json)?;
    let body = EventBody::deserialize(Value::from_iter([(kind, Value::Object(fields))]))?;
    Ok(RunEvent { n, at, after: 0, body })
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

    fn read(raw: &[u8], last: u64) -> Message {
        let mut masker = Masker::new("ansible_password: hunter22", Some("7f3a"));
        understand(raw, raw.len() as u64, Some("7f3a"), last, &mut masker)
    }

    const EVENT: &[u8] =
        b"\x1e7f3a {\"n\":3,\"at\":5,\"type\":\"play_start\",\"play\":1,\"name\":\"all with hunter22\"}";

    #[test]
    fn an_event_with_the_token_is_an_event_and_masked() {
        let Message::Event(event) = read(EVENT, 2) else { panic!("an event") };
        assert_eq!((event.n, event.after), (3, 0));
        assert_eq!(event.body, EventBody::PlayStart { play: 1, name: format!("all with {}", masking::MASK) });
    }

    #[test]
    fn a_forged_event_stays_text() {
        let forged = b"\x1edead {\"n\":3,\"at\":5,\"type\":\"step_end\",\"step\":1,\"rc\":0}";
        let Message::Text(text) = read(forged, 0) else { panic!("text") };
        assert_eq!(text, "dead {\"n\":3,\"at\":5,\"type\":\"step_end\",\"step\":1,\"rc\":0}");
    }

    #[test]
    fn an_event_with_a_repeated_number_is_text_without_the_token() {
        let Message::Text(text) = read(EVENT, 3) else { panic!("text") };
        assert!(!text.contains("7f3a"), "{text}");
    }

    #[test]
    fn an_unfinished_line_before_an_event_stays_text() {
        let raw = [b"half a line ".as_slice(), EVENT].concat();
        let Message::Both(text, event) = read(&raw, 0) else { panic!("both") };
        assert_eq!((text.as_str(), event.n), ("half a line ", 3));
    }

    #[test]
    fn without_a_token_nothing_is_an_event() {
        let mut masker = Masker::new("", None);
        assert!(matches!(understand(EVENT, 9, None, 0, &mut masker), Message::Text(_)));
    }

    #[test]
    fn values_of_an_outcome_are_masked_at_any_depth() {
        let raw = b"\x1e7f3a {\"n\":1,\"at\":5,\"type\":\"outcome\",\"key\":\"facts\",\"value\":{\"a\":[{\"b\":\"hunter22\"}]}}";
        let Message::Event(RunEvent { body: EventBody::Outcome { value, .. }, .. }) = read(raw, 0) else {
            panic!("event")
        };
        assert_eq!(value["a"][0]["b"], masking::MASK);
    }
}
