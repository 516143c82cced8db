//! The logs of runs with a secret result. The image says what is in the log.

use std::sync::Arc;

use aes_gcm::aead::{Aead, KeyInit, Payload};
use aes_gcm::{Aes256Gcm, Nonce};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures::StreamExt;
use serde_json::{Value, json};
use standalone::{LogQuery, LogRefusal, LogSource, LogStream, PodLogs};

use crate::kubelet::Kubelet;

/// What the runs deliver as kubeconfig.
pub(crate) const KUBECONFIG: &str =
    "apiVersion: v1\nkind: Config\nusers: [{name: a, user: {token: canary-of-the-kubeconfig}}]\n";

/// The log of a run with this image.
pub(crate) fn log(image: &str, token: &str, key: &[u8]) -> Vec<u8> {
    let fields = match image.rsplit('-').next().unwrap_or_default() {
        "result" => json!({"data": encrypted(key)}),
        "forged" => {
            json!({"data": encrypted(br#"{"uid": "x", "key": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="}"#)})
        }
        "unwritten" => json!({}),
        "large" => json!({"error": "The secret result has 20000 bytes; at most 11972 are possible."}),
        _ => return b"== 1 of 1 steps done\n".to_vec(),
    };
    let mut event = json!({"n": 9, "at": 1, "type": "secret_result"});
    event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    format!("PLAY [all]\n\u{1e}{token} {event}\n\n== 1 of 1 steps done\n").into_bytes()
}

fn encrypted(key: &[u8]) -> String {
    let key: Value = serde_json::from_slice(key).unwrap();
    let cipher = Aes256Gcm::new_from_slice(&STANDARD.decode(key["key"].as_str().unwrap()).unwrap()).unwrap();
    let text = json!({"kubeconfig": KUBECONFIG}).to_string();
    let text = Payload { msg: text.as_bytes(), aad: key["uid"].as_str().unwrap().as_bytes() };
    STANDARD.encode([[1; 12].as_slice(), &cipher.encrypt(Nonce::from_slice(&[1; 12]), text).unwrap()].concat())
}

/// Serves the logs of the fake kubelet.
pub(crate) struct Logs(pub(crate) Arc<Kubelet>);

#[async_trait::async_trait]
impl PodLogs for Logs {
    async fn open(&self, source: &LogSource, _: &LogQuery) -> Result<LogStream, LogRefusal> {
        let logs = self.0.logs.lock().unwrap();
        let found = logs.iter().find(|(name, _)| source.pod.starts_with(&format!("kubeonkube-{name}-job")));
        let log = Bytes::from(found.map(|(_, log)| log.clone()).unwrap_or_default());
        Ok(futures::stream::once(async move { Ok(log) }).boxed())
    }
}
