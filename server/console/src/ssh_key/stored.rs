//! The Secret with a cluster's private keys.

use std::collections::BTreeMap;

use api::Problem;
use api::configuration::StoredKey;
use crd::{Cluster, DataRef};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client, ResourceExt};
use serde_json::{Map, Value, json};

use crate::kube_problem::{Doing, answer};
use crate::made::{made, owns};
use crate::ssh::{self, KeyPair};

/// What a private key in the Secret is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    /// Runs connect with it.
    Current,
    /// A new key that is not in use yet.
    Next,
    /// The key that was replaced last.
    Previous,
}

impl Slot {
    fn private(self) -> &'static str {
        match self {
            Self::Current => crd::KEY_SSH,
            Self::Next => crd::KEY_SSH_NEXT,
            Self::Previous => crd::KEY_SSH_PREVIOUS,
        }
    }

    fn public(self) -> &'static str {
        match self {
            Self::Current => ssh::KEY_PUBLIC,
            Self::Next => "ssh-publickey-next",
            Self::Previous => "ssh-publickey-previous",
        }
    }
}

/// The keys of a cluster, as they were read.
pub(crate) struct Keys {
    pub(crate) at: DataRef,
    secret: Option<Secret>,
}

impl Keys {
    pub(crate) async fn read(client: Client, at: &DataRef) -> Result<Self, Problem> {
        let secrets: Api<Secret> = Api::namespaced(client, &at.namespace);
        let secret = answer(&Doing::new("read", "Secret", at), secrets.get_opt(&at.name)).await?;
        Ok(Self { at: at.clone(), secret })
    }

    fn text(&self, key: &str) -> Option<String> {
        let bytes = self.secret.as_ref()?.data.as_ref()?.get(key)?;
        Some(String::from_utf8_lossy(&bytes.0).into_owned())
    }

    /// The key in this slot, as it is stored.
    pub(super) fn pair(&self, slot: Slot) -> Option<KeyPair> {
        Some(KeyPair { private: self.text(slot.private())?, public: self.text(slot.public()) })
    }

    /// The current key. The error is a sentence that says why there is none that works.
    pub(crate) fn usable(&self) -> Result<KeyPair, String> {
        let at = &self.at;
        if self.secret.is_none() {
            return Err(format!("Secret {at} doesn't exist."));
        }
        let stored = self.pair(Slot::Current).ok_or_else(|| format!("Secret {at} has no key {}.", crd::KEY_SSH))?;
        let parsed =
            ssh::stored(&stored.private).map_err(|why| format!("The key in Secret {at} can't be used. {why}"))?;
        Ok(KeyPair { public: parsed.public.or(stored.public), ..stored })
    }

    /// The public parts of the key in this slot.
    pub(crate) fn shown(&self, slot: Slot) -> Option<StoredKey> {
        let stored = self.pair(slot)?;
        let derived = ssh::pasted(&stored.private).ok().and_then(|parsed| parsed.public);
        let public_key = derived.or(stored.public).map(|line| line.trim().to_owned());
        Some(StoredKey {
            id: crd::ssh_key_id(stored.private.as_bytes()),
            fingerprint: public_key.as_deref().and_then(ssh::fingerprint),
            public_key,
        })
    }

    /// The id of the key in this slot.
    pub(super) fn id(&self, slot: Slot) -> Option<String> {
        Some(crd::ssh_key_id(self.pair(slot)?.private.as_bytes()))
    }

    /// Whether the Secret exists and `cluster` doesn't own it.
    pub(crate) fn foreign(&self, cluster: &Cluster) -> bool {
        self.secret.as_ref().is_some_and(|secret| !owns(cluster, secret))
    }

    /// Writes these slots, and removes those whose key is `None`; all others stay. Fails if the Secret was changed after it was read.
    pub(super) async fn write(
        &self,
        client: Client,
        cluster: &Cluster,
        slots: &[(Slot, Option<KeyPair>)],
    ) -> Result<(), Problem> {
        let mut data: BTreeMap<&str, Option<String>> = BTreeMap::new();
        for (slot, pair) in slots {
            data.insert(slot.private(), pair.as_ref().map(|pair| pair.private.clone()));
            data.insert(slot.public(), pair.as_ref().and_then(|pair| pair.public.clone()));
        }
        let secrets: Api<Secret> = Api::namespaced(client, &self.at.namespace);
        let Some(secret) = &self.secret else {
            let data = data.into_iter().filter_map(|(key, text)| Some((key.to_owned(), bytes(text?)))).collect();
            let secret = Secret {
                metadata: made(cluster, &self.at.name),
                data: Some(data),
                type_: Some("Opaque".into()),
                ..Secret::default()
            };
            let doing = Doing::new("create", "Secret", &self.at);
            return answer(&doing, secrets.create(&PostParams::default(), &secret)).await.map(drop);
        };
        let data: Map<String, Value> =
            data.into_iter().map(|(key, text)| (key.to_owned(), json!(text.map(bytes)))).collect();
        // A merge patch changes only the keys it names, all of them or none.
        let patch = json!({"metadata": {"resourceVersion": secret.resource_version()}, "data": data});
        let doing = Doing::new("save", "Secret", &self.at);
        answer(&doing, secrets.patch(&self.at.name, &PatchParams::default(), &Patch::Merge(patch))).await.map(drop)
    }
}

fn bytes(text: String) -> ByteString {
    ByteString(text.into_bytes())
}
