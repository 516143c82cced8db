//! The snapshot of an operation's inputs: what the data of the immutable Secret contains.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;

use crate::names::{KEY_HOSTS, KEY_READABLE_NAMES, KEY_SECRETS, KEY_TOKEN, KEY_VARS};

/// The inputs that a run was started with, as its Secret holds them.
#[derive(Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Text of the inventory; empty if the Secret has none.
    pub inventory: String,
    /// Text of the variables; empty if the Secret has none.
    pub variables: String,
    /// The token that marks the run's events in its log.
    pub token: String,
    /// The secret values of its playbooks, scripts and arguments. Empty in a snapshot of an older version.
    pub secrets: Vec<String>,
    /// Names of hosts and groups that contain a secret value and stay readable. Empty in a snapshot of an older version.
    pub names: Vec<String>,
}

impl Snapshot {
    /// Reads a Secret's data. `None` if it has no token of at least 8 characters: then it is a placeholder and not a
    /// snapshot, and doesn't tell which values of the run are secret.
    #[must_use]
    pub fn read(data: &BTreeMap<String, ByteString>) -> Option<Self> {
        let text = |key| data.get(key).map(|bytes| String::from_utf8_lossy(&bytes.0).into_owned()).unwrap_or_default();
        let token = text(KEY_TOKEN).trim().to_owned();
        let list = |key| serde_json::from_str(&text(key)).unwrap_or_default();
        (token.len() >= 8).then(|| Self {
            inventory: text(KEY_HOSTS),
            variables: text(KEY_VARS),
            token,
            secrets: list(KEY_SECRETS),
            names: list(KEY_READABLE_NAMES),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_without_a_token_is_not_a_snapshot() {
        let data = |token: &str| {
            let field = |key: &str, text: &str| (key.to_owned(), ByteString(text.as_bytes().to_vec()));
            let secrets = field(KEY_SECRETS, "[\"of-a-playbook\"]");
            let names = field(KEY_READABLE_NAMES, "[\"n1\"]");
            BTreeMap::from([field(KEY_VARS, "password: hunter22"), field(KEY_TOKEN, token), secrets, names])
        };
        assert!(Snapshot::read(&data("")).is_none() && Snapshot::read(&BTreeMap::new()).is_none());
        let snapshot = Snapshot::read(&data("0123abcd\n")).unwrap();
        assert_eq!((snapshot.variables.as_str(), snapshot.token.as_str()), ("password: hunter22", "0123abcd"));
        assert_eq!((snapshot.secrets, snapshot.names), (vec!["of-a-playbook".to_owned()], vec!["n1".to_owned()]));
    }
}
