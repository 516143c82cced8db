//! The settings of a new cluster that a form asks for.

use serde::{Deserialize, Serialize};

use super::OfferedVersion;
use crate::input::{Value, chosen};

/// What a cluster is to be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Purpose {
    /// Kubernetes already runs on the machines, or something else creates it.
    #[default]
    Existing,
    /// The console creates it.
    Create,
}

impl Purpose {
    /// The value in the form.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Existing => "existing",
            Self::Create => "create",
        }
    }
}

impl Value for Purpose {
    fn parse(text: &str) -> Result<Self, String> {
        let why = "Choose whether to create a cluster or to manage an existing one.";
        chosen(text, &[Self::Existing, Self::Create], Self::as_str, why)
    }

    fn text(&self) -> String {
        self.as_str().into()
    }
}

/// Settings that become variables, as typed. An empty one stays as it is in the variables; if it isn't there either, the default is written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClusterSettings {
    /// `kube_version`
    pub version: String,
    /// `kube_pods_subnet`
    pub pods: String,
    /// `kube_service_addresses`
    pub services: String,
    /// `loadbalancer_apiserver`, as `address` or `address:port`.
    pub balancer: String,
}

/// What the form offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingsOffer {
    /// Newest first; may be empty.
    pub versions: Vec<OfferedVersion>,
    /// The default networks.
    pub pods: String,
    pub services: String,
}
