//! Keys and certificates of a hosted cluster: its three authorities, what they sign, and kubeconfigs.

pub(crate) mod authority;
pub(crate) mod kubeconfig;
pub(crate) mod leaf;
pub(crate) mod secrets;
