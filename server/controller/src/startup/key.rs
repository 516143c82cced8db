//! The key of all signatures, if it is in a Secret: all replicas of the controller share it.

use std::time::Duration;

use crd::DataRef;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::PostParams;
use kube::{Api, Client};
use operation::Signer;
use serde_json::json;

/// How many bytes the key has.
const BYTES: usize = 32;
/// When to try again.
const AGAIN: Duration = Duration::from_secs(2);

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
enum NoKey {
    #[error("Its key “key” must have at least 32 bytes. Delete the Secret: the controller creates it again.")]
    Invalid,
    #[error("{0}. Let the controller get and create it.")]
    Api(#[from] kube::Error),
}

/// Reads the key, or creates it if the Secret doesn't exist. Tries until that succeeds.
pub(crate) async fn from_secret(client: &Client, namespace: &str) -> Signer {
    let at = DataRef::new(namespace, crd::SIGNING_KEY_NAME);
    loop {
        match read_or_create(client, &at).await {
            Ok(signer) => return signer,
            Err(why) => {
                tracing::warn!(secret = %at, %why, "no operation starts, because there is no key to sign results with");
            }
        }
        tokio::time::sleep(AGAIN).await;
    }
}

async fn read_or_create(client: &Client, at: &DataRef) -> Result<Signer, NoKey> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), &at.namespace);
    if let Some(found) = secrets.get_opt(&at.name).await? {
        return signer(&found);
    }
    let secret = Secret {
        metadata: serde_json::from_value(json!({"name": at.name, "labels": {crd::LABEL_MANAGED_BY: crd::PRODUCT}}))
            .expect("valid metadata"),
        data: Some([(crd::KEY_SIGNING.to_owned(), ByteString(rand::random::<[u8; BYTES]>().to_vec()))].into()),
        immutable: Some(true),
        ..Secret::default()
    };
    let params = PostParams { field_manager: Some(crd::PRODUCT.into()), ..PostParams::default() };
    match secrets.create(&params, &secret).await {
        // Another replica was faster.
        Err(kube::Error::Api(status)) if status.is_already_exists() => signer(&secrets.get(&at.name).await?),
        made => signer(&made?),
    }
}

fn signer(secret: &Secret) -> Result<Signer, NoKey> {
    let key = secret.data.as_ref().and_then(|data| data.get(crd::KEY_SIGNING)).filter(|key| key.0.len() >= BYTES);
    match (key, &secret.metadata.creation_timestamp) {
        (Some(key), Some(since)) => Ok(Signer::new(&key.0, since)),
        _ => Err(NoKey::Invalid),
    }
}
