//! The engine of an operation's image.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The project whose playbooks the image of an operation contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// Our own playbooks, based on kubeadm.
    Kubeonkube,
    /// kubespray.
    Kubespray,
}

impl Engine {
    /// As in `spec.engine`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kubeonkube => "kubeonkube",
            Self::Kubespray => "kubespray",
        }
    }
}
