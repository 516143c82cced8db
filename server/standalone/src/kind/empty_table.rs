//! Kinds without objects. Commands of kubectl that go through several kinds stop at the first one that discovery lacks:
//! `kubectl apply --prune`, with the kinds that it prunes by default, and `kubectl cluster-info`. So these kinds can be listed and
//! deleted, and there are never any.

use super::builtin_table::names;
use super::descriptor::{Kind, Nature};

pub(super) fn empty() -> Vec<Kind> {
    const CORE: (&str, &str) = ("", "v1");
    const APPS: (&str, &str) = ("apps", "v1");
    let namespaced = [
        (CORE, "Endpoints", "endpoints", "ep"),
        (CORE, "PersistentVolumeClaim", "persistentvolumeclaims", "pvc"),
        (CORE, "ReplicationController", "replicationcontrollers", "rc"),
        (CORE, "Service", "services", "svc"),
        (APPS, "DaemonSet", "daemonsets", "ds"),
        (APPS, "Deployment", "deployments", "deploy"),
        (APPS, "ReplicaSet", "replicasets", "rs"),
        (APPS, "StatefulSet", "statefulsets", "sts"),
        (("batch", "v1"), "CronJob", "cronjobs", "cj"),
        (("networking.k8s.io", "v1"), "Ingress", "ingresses", "ing"),
    ];
    let cluster_scoped = [(CORE, "Node", "nodes", "no"), (CORE, "PersistentVolume", "persistentvolumes", "pv")];
    let of = |namespaced: bool| {
        move |(group, kind, plural, short): ((&str, &str), &str, &str, &str)| Kind {
            namespaced,
            ..names(Nature::Empty, group, kind, plural, &[short], &[])
        }
    };
    namespaced.into_iter().map(of(true)).chain(cluster_scoped.into_iter().map(of(false))).collect()
}
