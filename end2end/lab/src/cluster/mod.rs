//! The lab's own Kubernetes, the meta-cluster: nodes are machines, everything on them is a systemd unit.
//!
//! - [`pki`] — one authority, certificates, kubeconfigs
//! - [`programs`] — which binaries it runs: built ones, or those of `KUBEBUILDER_ASSETS`
//! - [`control_plane`] — etcd, API server, controller manager, scheduler, on the first node
//! - [`node`] — containerd, images, pod network, kubelet, kube-proxy, on every node
//! - [`units`] — how units are written
//! - [`readiness`] — cluster DNS, and the waits of a boot

pub(crate) mod control_plane;
pub(crate) mod node;
pub(crate) mod pki;
pub(crate) mod programs;
pub(crate) mod readiness;
pub(crate) mod units;
