//! Whether a hosted control plane can be realised: a pure function of its Cluster and the other ones.

use std::net::{IpAddr, Ipv4Addr};

use crd::{Cluster, EndpointType, Hosted};
use kube::ResourceExt;

use crate::networks::Network;
use crate::versions::{self, Images};

/// A hosted control plane whose spec was checked.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// The name of the Cluster.
    pub(crate) cluster: String,
    pub(crate) uid: String,
    pub(crate) spec: Hosted,
    pub(crate) services: Network,
    /// How many bytes etcd may store.
    pub(crate) quota: u64,
    pub(crate) images: Images,
}

/// Why it can't.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) reason: &'static str,
    pub(crate) message: String,
}

fn refusal(reason: &'static str, message: impl Into<String>) -> Refusal {
    Refusal { reason, message: message.into() }
}

/// Checks `cluster`. `others` are all Clusters; of two that exclude each other, the older one counts.
pub(crate) fn check<'a>(
    cluster: &Cluster,
    spec: &Hosted,
    others: impl Iterator<Item = &'a Cluster>,
) -> Result<Plan, Refusal> {
    let name = cluster.name_any();
    if name.len() > 63 {
        let message =
            format!("The name of the Cluster has {} characters, and 63 are allowed: it becomes a label.", name.len());
        return Err(refusal("NameTooLong", message));
    }
    let images =
        versions::images(&spec.image_repository, &spec.version).map_err(|why| refusal("UnsupportedVersion", why))?;
    let (services, pods) = networks(spec)?;
    address(spec, services, pods)?;
    names(&spec.endpoint.cert_sans)?;
    for other in others.filter(|other| is_before(other, cluster)) {
        let Some(theirs) = &other.spec.hosted else { continue };
        if theirs.namespace == spec.namespace {
            let message = format!(
                "Cluster {} is hosted in namespace {} already. A namespace holds one hosted cluster: create this one in another.",
                other.name_any(),
                spec.namespace
            );
            return Err(refusal("NamespaceTaken", message));
        }
        if theirs.networking.pod_cidr.parse::<Network>().is_ok_and(|theirs| theirs.overlaps(pods)) {
            let message = format!(
                "podCidr {pods} overlaps with {} of the hosted cluster {}, so routes to their pods would mix. Create this cluster with another podCidr.",
                theirs.networking.pod_cidr,
                other.name_any()
            );
            return Err(refusal("NetworksOverlap", message));
        }
    }
    Ok(Plan {
        cluster: name,
        uid: cluster.metadata.uid.clone().unwrap_or_default(),
        quota: quota(&spec.etcd.storage_size),
        spec: spec.clone(),
        services,
        images,
    })
}

/// Whether `other` is another Cluster that came first.
fn is_before(other: &Cluster, cluster: &Cluster) -> bool {
    let age = |cluster: &Cluster| (cluster.metadata.creation_timestamp.clone(), cluster.name_any());
    other.metadata.uid != cluster.metadata.uid && age(other) < age(cluster)
}

fn networks(spec: &Hosted) -> Result<(Network, Network), Refusal> {
    let parsed = |field: &str, text: &str| {
        text.parse::<Network>().map_err(|why| refusal("InvalidNetwork", format!("{field}: {why}.")))
    };
    let services = parsed("serviceCidr", &spec.networking.service_cidr)?;
    let pods = parsed("podCidr", &spec.networking.pod_cidr)?;
    if services.overlaps(pods) {
        return Err(refusal("NetworksOverlap", format!("serviceCidr {services} and podCidr {pods} overlap.")));
    }
    // https://kubernetes.io/docs/reference/command-line-tools-reference/kube-apiserver/: at most 20 bits for Services. The controller
    // manager gives each node a /24.
    if !(12..=28).contains(&services.prefix()) {
        return Err(refusal("InvalidNetwork", format!("serviceCidr {services} must have a prefix from /12 to /28.")));
    }
    if !(8..=24).contains(&pods.prefix()) {
        return Err(refusal(
            "InvalidNetwork",
            format!("podCidr {pods} must have a prefix from /8 to /24: each node gets a /24."),
        ));
    }
    Ok((services, pods))
}

/// For `NodePort`, the user says the address that machines use.
fn address(spec: &Hosted, services: Network, pods: Network) -> Result<(), Refusal> {
    if spec.endpoint.kind != EndpointType::NodePort {
        return Ok(());
    }
    let host = spec.endpoint.host.as_deref().unwrap_or_default();
    let Ok(address) = host.parse::<Ipv4Addr>() else {
        let message = format!("endpoint.host “{host}” is not an IPv4 address. Put DNS names into certSANs.");
        return Err(refusal("InvalidEndpoint", message));
    };
    match [services, pods].into_iter().find(|network| network.contains(address)) {
        Some(network) => Err(refusal(
            "InvalidEndpoint",
            format!("endpoint.host {address} is in the cluster's own network {network}."),
        )),
        None => Ok(()),
    }
}

fn names(names: &[String]) -> Result<(), Refusal> {
    let is_name = |name: &str| {
        let plain = name.strip_prefix("*.").unwrap_or(name);
        name.parse::<IpAddr>().is_ok() || crd::is_object_name(plain, true)
    };
    match names.iter().find(|name| !is_name(name)) {
        Some(name) => {
            Err(refusal("InvalidEndpoint", format!("“{name}” in certSANs is neither a DNS name nor an IP address.")))
        }
        None => Ok(()),
    }
}

/// 90 % of a size that the schema has checked.
fn quota(size: &str) -> u64 {
    let (number, unit) = size.split_at(size.len().saturating_sub(2));
    let bytes = number.parse::<u64>().unwrap_or(1) << if unit == "Gi" { 30 } else { 20 };
    bytes / 10 * 9
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster(name: &str, second: i64, change: impl FnOnce(&mut Hosted)) -> Cluster {
        let mut hosted: Hosted = serde_json::from_value(serde_json::json!({
            "namespace": name, "version": "v1.36.4", "networking": {"podCidr": "10.244.0.0/16"}
        }))
        .unwrap();
        change(&mut hosted);
        let mut cluster = Cluster::new(name, crd::ClusterSpec { hosted: Some(hosted), ..crd::ClusterSpec::default() });
        cluster.metadata.uid = Some(format!("uid-of-{name}"));
        cluster.metadata.creation_timestamp = Some(crd::Time(jiff::Timestamp::from_second(second).unwrap()));
        cluster
    }

    fn checked(cluster: &Cluster, others: &[&Cluster]) -> Result<Plan, Refusal> {
        check(cluster, cluster.spec.hosted.as_ref().unwrap(), others.iter().copied())
    }

    fn refused(change: impl FnOnce(&mut Hosted)) -> (&'static str, String) {
        let refusal = checked(&cluster("a", 1, change), &[]).unwrap_err();
        (refusal.reason, refusal.message)
    }

    #[test]
    fn etcd_may_use_nine_tenths_of_its_volume() {
        assert_eq!(checked(&cluster("a", 1, |_| {}), &[]).unwrap().quota, 2 * 1024 * 1024 * 1024 / 10 * 9);
        assert_eq!(quota("512Mi"), 512 * 1024 * 1024 / 10 * 9);
    }

    #[test]
    fn what_can_not_work_is_refused_with_a_reason() {
        let (reason, says) = refused(|hosted| hosted.networking.pod_cidr = "10.96.128.0/17".into());
        assert!(reason == "NetworksOverlap" && says.contains("10.96.0.0/16"), "{says}");
        assert_eq!(refused(|hosted| hosted.networking.pod_cidr = "fd00::/48".into()).0, "InvalidNetwork");
        assert_eq!(refused(|hosted| hosted.networking.service_cidr = "172.0.0.0/8".into()).0, "InvalidNetwork");
        let (reason, says) = refused(|hosted| hosted.version = "v1.20.0".into());
        assert!(reason == "UnsupportedVersion" && says.contains("1.36"), "{says}");
        let (reason, says) = refused(|hosted| {
            hosted.endpoint.kind = EndpointType::NodePort;
            hosted.endpoint.host = Some("10.244.1.1".into());
        });
        assert!(reason == "InvalidEndpoint" && says.contains("own network"), "{says}");
        assert_eq!(refused(|hosted| hosted.endpoint.cert_sans = vec!["a b".into()]).0, "InvalidEndpoint");
    }

    #[test]
    fn of_two_overlapping_clusters_the_older_one_counts() {
        let old = cluster("old", 1, |_| {});
        let young = cluster("young", 2, |hosted| hosted.networking.pod_cidr = "10.244.8.0/21".into());
        let refusal = checked(&young, &[&old, &young]).unwrap_err();
        assert!(refusal.reason == "NetworksOverlap" && refusal.message.contains("cluster old"), "{refusal:?}");
        assert!(checked(&old, &[&old, &young]).is_ok());
        let apart = cluster("apart", 3, |hosted| hosted.networking.pod_cidr = "10.245.0.0/16".into());
        assert!(checked(&apart, &[&old]).is_ok());
        let guest = cluster("guest", 4, |hosted| {
            hosted.networking.pod_cidr = "10.246.0.0/16".into();
            hosted.namespace = "old".into();
        });
        assert_eq!(checked(&guest, &[&old]).unwrap_err().reason, "NamespaceTaken");
    }
}
