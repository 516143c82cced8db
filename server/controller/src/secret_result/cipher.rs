//! The key of a secret result, and decrypting with it. The other side is `deploy/runner/kubeonkube_secret_result.py`.

use std::collections::BTreeMap;

use aes_gcm::aead::{Aead, KeyInit, Payload};
use aes_gcm::{Aes256Gcm, Nonce};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use crd::ClusterOperation;
use serde::{Deserialize, Serialize};

const NONCE: usize = 12;

/// What encrypts the result of one operation. The uid is authenticated, so a result never counts for another operation.
#[derive(Serialize, Deserialize)]
struct Key {
    uid: String,
    /// 32 bytes in base64.
    key: String,
}

/// A new key for the snapshot of `operation`; `None` if it has no secret result.
pub(crate) fn new_key(operation: &ClusterOperation) -> Option<Vec<u8>> {
    operation::has_secret_result(&operation.spec).then(|| {
        let uid = operation.metadata.uid.clone().unwrap_or_default();
        let key = Key { uid, key: STANDARD.encode(rand::random::<[u8; 32]>()) };
        serde_json::to_vec(&key).expect("two texts")
    })
}

/// The files of a result, by name. `None` if `data` was not encrypted with this key for the operation with this uid.
pub(super) fn decrypted(key: &[u8], uid: &str, data: &str) -> Option<BTreeMap<String, String>> {
    let key: Key = serde_json::from_slice(key).ok().filter(|key: &Key| key.uid == uid)?;
    let cipher = Aes256Gcm::new_from_slice(&STANDARD.decode(key.key).ok()?).ok()?;
    let data = STANDARD.decode(data).ok()?;
    let (nonce, text) = data.split_at_checked(NONCE)?;
    let text = cipher.decrypt(Nonce::from_slice(nonce), Payload { msg: text, aad: uid.as_bytes() }).ok()?;
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &[u8] = br#"{"uid": "u1", "key": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="}"#;

    fn encrypted(uid: &str) -> String {
        let key: Key = serde_json::from_slice(KEY).unwrap();
        let cipher = Aes256Gcm::new_from_slice(&STANDARD.decode(key.key).unwrap()).unwrap();
        let text = Payload { msg: br#"{"kubeconfig": "secret"}"#, aad: uid.as_bytes() };
        STANDARD
            .encode([[7; NONCE].as_slice(), &cipher.encrypt(Nonce::from_slice(&[7; NONCE]), text).unwrap()].concat())
    }

    #[test]
    fn a_result_is_read_only_with_its_key_and_operation() {
        assert_eq!(decrypted(KEY, "u1", &encrypted("u1")).unwrap()["kubeconfig"], "secret");
        assert!(decrypted(KEY, "u1", &encrypted("u2")).is_none(), "of another operation");
        assert!(decrypted(KEY, "u2", &encrypted("u2")).is_none(), "the key is of another operation");
        let other = String::from_utf8(KEY.to_vec()).unwrap().replace("AAEC", "AAED");
        assert!(decrypted(other.as_bytes(), "u1", &encrypted("u1")).is_none());
    }

    #[test]
    fn whatever_is_no_result_is_refused() {
        let mut changed = encrypted("u1").into_bytes();
        changed[30] = if changed[30] == b'A' { b'B' } else { b'A' };
        for data in ["", "AAAA", "no base64", std::str::from_utf8(&changed).unwrap()] {
            assert!(decrypted(KEY, "u1", data).is_none(), "{data}");
        }
        assert!(decrypted(b"{}", "u1", &encrypted("u1")).is_none());
    }
}
