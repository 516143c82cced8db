//! The first objects in a new cluster, and the requests to its API server.

use std::fmt::Debug;
use std::time::Duration;

use http::Request;
use http_body_util::{BodyExt, Limited};
use k8s_openapi::ClusterResourceScope;
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::api::{DeleteParams, DynamicObject, Patch, Preconditions};
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::addons::{Addon, Object};
use crate::address::Address;
use crate::api::{self, Child};
use crate::certificates::authority::Data;
use crate::certificates::secrets::{KEY_OWN, OWN_CONFIG};
use crate::check::Plan;
use crate::context::Reach;
use crate::joining::{self, Objects};

/// A new API server may not answer yet, and a wrong address never does.
const ANSWER_WITHIN: Duration = Duration::from_secs(3);

/// Where a kubeconfig of ours has the certificate of the authority.
const AUTHORITY: &str = "/clusters/0/cluster/certificate-authority-data";
/// How long the first objects may take. A server that stops in the middle of an answer must not hold the reconcile.
const WRITTEN_WITHIN: Duration = Duration::from_secs(10);
/// The longest answer of `/readyz` that is read, in bytes, and the longest text of another server in a condition, in characters.
const LONGEST_ANSWER: usize = 4096;
const LONGEST_TEXT: usize = 300;

/// A client of the hosted API server, with certificates of our Secret. The error is a sentence.
pub(crate) async fn client(data: &Data, address: &Address, reach: Reach) -> Result<Client, String> {
    let url = if reach == Reach::Inside { address.inner_url() } else { address.url() };
    // No details: they would quote keys.
    let unusable = || format!("Secret {OWN_CONFIG} can't be used. Delete it: the server makes it again.");
    let kubeconfig = trusted(data, &url).ok_or_else(unusable)?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    let mut config = config.map_err(|_| unusable())?;
    // The proxy of the environment leads to other places.
    config.proxy_url = None;
    config.connect_timeout = Some(ANSWER_WITHIN);
    config.read_timeout = Some(WRITTEN_WITHIN);
    Client::try_from(config).map_err(|_| unusable())
}

/// The certificates of the kubeconfig in our Secret, for this URL. Users of the namespace can write that Secret, so nothing else of it
/// is used: a kubeconfig can name programs to run and files to send.
fn trusted(data: &Data, url: &str) -> Option<Kubeconfig> {
    let stored: Value = serde_json::from_slice(&data.get(KEY_OWN)?.0).ok()?;
    let text = |at: &str| stored.pointer(at)?.as_str();
    let config = json!({
        "current-context": "own",
        "contexts": [{"name": "own", "context": {"cluster": "own", "user": "own"}}],
        "clusters": [{"name": "own", "cluster": {"server": url,
            "certificate-authority-data": text(AUTHORITY)?}}],
        "users": [{"name": "own", "user": {
            "client-certificate-data": text("/users/0/user/client-certificate-data")?,
            "client-key-data": text("/users/0/user/client-key-data")?}}],
    });
    serde_json::from_value(config).ok()
}

/// Whether the API server says that it is ready. The error is a sentence.
pub(crate) async fn is_ready(client: &Client) -> Result<(), String> {
    match timeout(ANSWER_WITHIN, ask(client)).await {
        Ok(Ok(answer)) if answer == "ok" => Ok(()),
        Ok(Ok(answer)) => Err(format!("/readyz answers “{}”", short(&answer))),
        Ok(Err(error)) => Err(format!("/readyz: {}", short(&error))),
        Err(_) => Err(format!("/readyz didn't answer within {} s", ANSWER_WITHIN.as_secs())),
    }
}

async fn ask(client: &Client) -> Result<String, String> {
    let request = Request::get("/readyz").body(Body::empty()).expect("a valid request");
    let answer = client.send(request).await.map_err(|error| error.to_string())?;
    let body = Limited::new(answer.into_body(), LONGEST_ANSWER).collect().await.map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&body.to_bytes()).into_owned())
}

/// The beginning of a text that another server wrote.
fn short(text: &str) -> String {
    text.chars().take(LONGEST_TEXT).collect()
}

/// Creates the objects: the address of the Service `kubernetes`, the rights of `admin.conf`, and what machines join with. `data` is that
/// of our Secret, for the certificate of the authority.
///
/// # Errors
/// A sentence without its end.
pub(crate) async fn apply(client: &Client, plan: &Plan, address: &Address, data: &Data) -> Result<(), String> {
    let authority =
        authority(data).ok_or_else(|| format!("Secret {OWN_CONFIG} has no certificate of the authority"))?;
    let joining = joining::objects(plan, address, &authority);
    match timeout(WRITTEN_WITHIN, write(client, address, &joining)).await {
        Ok(written) => written.map_err(|error| short(&error.to_string())),
        Err(_) => Err(format!("no answer within {} s", WRITTEN_WITHIN.as_secs())),
    }
}

async fn write(client: &Client, address: &Address, joining: &Objects) -> Result<(), kube::Error> {
    put(client, &[slice(address)]).await?;
    put_for_all(client, &joining.roles_of_all).await?;
    put_for_all(client, &joining.rights_of_all).await?;
    put(client, &joining.roles).await?;
    put(client, &joining.rights).await?;
    put(client, &joining.settings).await
}

/// Applies objects in their namespaces.
async fn put<K: Child>(client: &Client, objects: &[K]) -> Result<(), kube::Error> {
    for object in objects {
        let api: Api<K> = Api::namespaced(client.clone(), &object.namespace().unwrap_or_default());
        api.patch(&object.name_any(), &api::params(), &Patch::Apply(object)).await?;
    }
    Ok(())
}

/// Applies objects that have no namespace.
async fn put_for_all<K>(client: &Client, objects: &[K]) -> Result<(), kube::Error>
where
    K: Resource<DynamicType = (), Scope = ClusterResourceScope> + Clone + Debug + DeserializeOwned + Serialize,
{
    let api: Api<K> = Api::all(client.clone());
    for object in objects {
        api.patch(&object.name_any(), &api::params(), &Patch::Apply(object)).await?;
    }
    Ok(())
}

/// Applies the add-ons that are switched on, and deletes what was installed of the others.
///
/// # Errors
/// A sentence without its end.
pub(crate) async fn apply_addons(client: &Client, addons: &[Addon]) -> Result<(), String> {
    let written = async {
        for addon in addons {
            for object in &addon.objects {
                if addon.enabled { apply_object(client, object).await? } else { delete_object(client, object).await? }
            }
        }
        Ok::<(), kube::Error>(())
    };
    match timeout(WRITTEN_WITHIN, written).await {
        Ok(written) => written.map_err(|error| short(&error.to_string())),
        Err(_) => Err(format!("no answer within {} s", WRITTEN_WITHIN.as_secs())),
    }
}

fn api_of(client: &Client, object: &Object) -> Api<DynamicObject> {
    match &object.body.metadata.namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &object.kind),
        None => Api::all_with(client.clone(), &object.kind),
    }
}

async fn apply_object(client: &Client, object: &Object) -> Result<(), kube::Error> {
    let api = api_of(client, object);
    api.patch(&object.body.name_any(), &api::params(), &Patch::Apply(&object.body)).await.map(drop)
}

/// Deletes an object that we have made. One that a user made stays.
async fn delete_object(client: &Client, object: &Object) -> Result<(), kube::Error> {
    let (api, name) = (api_of(client, object), object.body.name_any());
    let found = api.get_metadata_opt(&name).await?;
    let Some(ours) =
        found.filter(|found| found.labels().get(crd::LABEL_MANAGED_BY).is_some_and(|by| by == crd::PRODUCT))
    else {
        return Ok(());
    };
    let this = Preconditions { uid: ours.uid(), resource_version: None };
    match api.delete(&name, &DeleteParams { preconditions: Some(this), ..DeleteParams::default() }).await {
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        deleted => deleted.map(drop),
    }
}

/// The certificate of the authority in our kubeconfig, in base64.
fn authority(data: &Data) -> Option<String> {
    let stored: Value = serde_json::from_slice(&data.get(KEY_OWN)?.0).ok()?;
    Some(stored.pointer(AUTHORITY)?.as_str()?.to_owned())
}

/// API servers write this object themselves, unless they run with `--endpoint-reconciler-type=none`. They can't know their NodePort.
fn slice(address: &Address) -> EndpointSlice {
    serde_json::from_value(json!({
        "metadata": {"name": "kubernetes", "namespace": "default", "labels": {"kubernetes.io/service-name": "kubernetes"}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": [address.public.to_string()], "conditions": {"ready": true}}],
        "ports": [{"name": "https", "port": address.port, "protocol": "TCP"}],
    }))
    .expect("a valid object")
}

#[cfg(test)]
mod tests {
    use k8s_openapi::ByteString;

    use super::*;
    use crate::certificates::kubeconfig;

    const URL: &str = "https://192.0.2.1:6443";

    fn data(text: String) -> Data {
        [(KEY_OWN.to_owned(), ByteString(text.into_bytes()))].into()
    }

    #[test]
    fn only_certificates_of_the_kubeconfig_are_used() {
        let text = kubeconfig::text("prod", "https://elsewhere", "CA", "own", &("CERTIFICATE".into(), "KEY".into()));
        let plain = trusted(&data(text.clone()), URL).unwrap();
        let mut changed: Value = serde_json::from_str(&text).unwrap();
        let user = &mut changed["users"][0]["user"];
        user["exec"] = json!({"apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "args": ["-c", "id"]});
        user["tokenFile"] = json!("/var/run/secrets/kubernetes.io/serviceaccount/token");
        user["client-key"] = json!("/etc/shadow");
        changed["clusters"][0]["cluster"]["proxy-url"] = json!("http://elsewhere");
        changed["clusters"][0]["cluster"]["insecure-skip-tls-verify"] = json!(true);
        let used = trusted(&data(changed.to_string()), URL).unwrap();
        assert_eq!(used.clusters[0].cluster.as_ref().unwrap().server.as_deref(), Some(URL));
        let json = |config: &Kubeconfig| serde_json::to_value(config).unwrap();
        assert_eq!(json(&used), json(&plain));
        assert!(trusted(&data("users: [{user: {exec: {command: sh}}}]".into()), URL).is_none());
    }
}
