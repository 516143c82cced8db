//! The objects that a registration writes. Pure.

use api::cluster::Purpose;
use crd::{Cluster, ClusterSpec, DataRef};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::ObjectMeta;

use super::check::{Key, Registration};
use super::{EXISTING, UNFINISHED};
use crate::ssh::{KEY_PUBLIC, KeyPair};

/// Name of the ConfigMap with the inventory, if the console creates it.
pub(crate) fn hosts_name(cluster: &str) -> String {
    format!("{cluster}-hosts-conf")
}

/// Name of the ConfigMap with the variables.
pub(crate) fn vars_name(cluster: &str) -> String {
    format!("{cluster}-vars-conf")
}

/// Name of the Secret with the SSH key.
pub(crate) fn secret_name(cluster: &str) -> String {
    format!("{cluster}-ssh-auth")
}

/// The Cluster, with the annotation [`UNFINISHED`].
pub(crate) fn cluster(registration: &Registration) -> Cluster {
    let (name, namespace) = (registration.name.as_str(), &registration.namespace);
    let with_key = !matches!(registration.key, Key::None);
    let spec = ClusterSpec {
        hosts_conf_ref: DataRef::new(namespace, hosts_name(name)),
        vars_conf_ref: DataRef::new(namespace, vars_name(name)),
        ssh_auth_ref: with_key.then(|| DataRef::new(namespace, secret_name(name))),
        ..ClusterSpec::default()
    };
    let mut cluster = Cluster::new(name, spec);
    let existing = registration.purpose == Purpose::Existing;
    let marks = std::iter::once(UNFINISHED).chain(existing.then_some(EXISTING));
    cluster.metadata.annotations = Some(marks.map(|name| (name.to_owned(), "true".to_owned())).collect());
    cluster.metadata.labels = Some([(crd::LABEL_MANAGED_BY.to_owned(), crd::PRODUCT.to_owned())].into());
    cluster
}

/// The ConfigMaps of the inputs. `metadata` is called with their names.
pub(crate) fn config_maps(registration: &Registration, metadata: impl Fn(&str) -> ObjectMeta) -> Vec<ConfigMap> {
    let name = registration.name.as_str();
    let map = |name: String, key: &str, text: &str| ConfigMap {
        metadata: metadata(&name),
        data: Some([(key.to_owned(), text.to_owned())].into()),
        ..ConfigMap::default()
    };
    let mut maps = vec![
        map(hosts_name(name), crd::KEY_HOSTS, &registration.hosts),
        map(vars_name(name), crd::KEY_VARS, &registration.vars),
    ];
    maps.extend(
        registration.known_hosts.iter().map(|text| map(crd::known_hosts_name(name), crd::KEY_KNOWN_HOSTS, text)),
    );
    maps
}

/// The Secret with the SSH key.
pub(crate) fn secret(key: &KeyPair, metadata: ObjectMeta) -> Secret {
    let bytes = |text: &str| ByteString(text.as_bytes().to_vec());
    let mut data = std::collections::BTreeMap::from([(crd::KEY_SSH.to_owned(), bytes(&key.private))]);
    data.extend(key.public.as_deref().map(|public| (KEY_PUBLIC.to_owned(), bytes(public))));
    Secret { metadata, data: Some(data), type_: Some("Opaque".into()), ..Secret::default() }
}
