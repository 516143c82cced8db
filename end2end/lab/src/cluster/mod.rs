//! The lab's own Kubernetes, called the meta-cluster. Its nodes are machines, and its components run as systemd units.
//!
//! - [`pki`] — certificate authority, certificates, kubeconfigs
//! - [`programs`] — the binaries it runs: built ones, or those of `KUBEBUILDER_ASSETS`
//! - [`control_plane`] — etcd, API server, controller manager, scheduler, on the first node
//! - [`node`] — containerd, images, pod network, kubelet, kube-proxy, on every node
//! - [`units`] — writes units
//! - [`readiness`] — installs cluster DNS and waits until the cluster is usable

pub(crate) mod control_plane;
pub(crate) mod node;
pub(crate) mod pki;
pub(crate) mod programs;
pub(crate) mod readiness;
pub(crate) mod units;
