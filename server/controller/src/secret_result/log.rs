//! Finding the event with the secret result at the end of a pod's log.

use crd::PRODUCT;
use futures::AsyncReadExt;
use k8s_openapi::api::core::v1::Pod;
use kube::api::LogParams;
use kube::{Api, Client, ResourceExt};
use serde::Deserialize;

/// The event is followed by one or two lines; a process in the background may write more.
const LINES: i64 = 50;
/// At most this much is read. The entrypoint passes on longer lines than the event's 16 KiB.
const BYTES: u64 = 4 * 1024 * 1024;

/// What the event says. Neither field: the steps wrote no result.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Told {
    /// The result, encrypted.
    pub(super) data: Option<String>,
    /// Why there is none, as a sentence.
    pub(super) error: Option<String>,
}

/// Reads the event from the end of the pod's log. `None` if it isn't there.
pub(super) async fn read(client: &Client, pod: &Pod, token: &str) -> Result<Option<Told>, kube::Error> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), &pod.namespace().unwrap_or_default());
    let params = LogParams { container: Some(PRODUCT.into()), tail_lines: Some(LINES), ..LogParams::default() };
    let mut text = Vec::new();
    let stream = pods.log_stream(&pod.name_any(), &params).await?;
    stream.take(BYTES).read_to_end(&mut text).await.map_err(|error| kube::Error::Service(error.into()))?;
    Ok(find(&text, token))
}

/// The last event of this kind. Only the run knows the token.
fn find(log: &[u8], token: &str) -> Option<Told> {
    let mark = format!("\u{1e}{token} ");
    let told = |line: &[u8]| {
        let text = std::str::from_utf8(line).ok()?;
        let event: serde_json::Value = serde_json::from_str(&text[text.find(&mark)? + mark.len()..]).ok()?;
        (event["type"] == "secret_result").then(|| Told::deserialize(event).unwrap_or_default())
    };
    log.split(|byte| *byte == b'\n').rev().find_map(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_event_with_the_token_of_the_run_counts() {
        let event = |token: &str, data: &str| {
            format!("half a line\u{1e}{token} {{\"n\":1,\"at\":2,\"type\":\"secret_result\",\"data\":\"{data}\"}}\n")
        };
        let log = [event("t", "old"), event("t", "new"), event("x", "forged"), "== 1 of 1 steps done\n".into()];
        let log = [log.concat().into_bytes(), b"\xff\n\x1et {\"type\":\"step_end\"}\n".to_vec()].concat();
        assert_eq!(find(&log, "t").and_then(|told| told.data).as_deref(), Some("new"));
        assert_eq!(find(&log, "other"), None);
        assert_eq!(find(b"\x1et {\"type\":\"secret_result\"}", "t"), Some(Told::default()));
    }
}
