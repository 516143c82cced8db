//! Why a reconcile stops before its end.

use std::time::Duration;

use crd::condition;

/// The step that isn't done, and why. A condition shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stop {
    pub(crate) reason: &'static str,
    /// A sentence.
    pub(crate) message: String,
    /// When to look again, if no watch reports a change before.
    pub(crate) again: Duration,
}

/// Pods are watched. This is for what isn't: addresses, images that a registry doesn't have, answers of a new API server.
const SOON: Duration = Duration::from_secs(2);
/// Only a person can change it.
const LATER: Duration = Duration::from_secs(30);

impl Stop {
    /// Something is in progress.
    pub(crate) fn wait(reason: &'static str, message: impl Into<String>) -> Self {
        Self { reason, message: message.into(), again: SOON }
    }

    /// A person has to act.
    pub(crate) fn refuse(reason: &'static str, message: impl Into<String>) -> Self {
        Self { reason, message: message.into(), again: LATER }
    }

    /// A request failed.
    pub(crate) fn of(namespace: &str, what: &str, error: &kube::Error) -> Self {
        let kube::Error::Api(status) = error else {
            return Self::wait("RequestFailed", format!("The server could not {what}: {error}."));
        };
        let details = status.details.as_ref();
        let is_namespace = details.is_some_and(|details| details.kind == "namespaces");
        match status.code {
            403 if status.message.contains("is being terminated") => {
                Self::wait("NamespaceEnding", format!("Namespace {namespace} is being deleted."))
            }
            403 if status.reason == "Forbidden" && status.message.contains("cannot") => Self::refuse(
                "NoRights",
                format!(
                    "The server may not {what}. Give it rights in the namespace: kubectl create rolebinding kubeonkube-hosted --namespace {namespace} --clusterrole kubeonkube-hosted --serviceaccount kubeonkube-system:kubeonkube. If the namespace doesn't exist, create it before. To delete a Cluster whose namespace is gone for good, remove its finalizer (docs/hosted-clusters.md). ({})",
                    status.message
                ),
            ),
            404 if is_namespace => Self::refuse(
                "NoNamespace",
                format!("Namespace {namespace} doesn't exist. Create it: kubectl create namespace {namespace}."),
            ),
            409 => {
                Self::wait("Conflict", format!("The server could not {what}: another client wrote at the same time."))
            }
            _ => Self::refuse("RequestRefused", format!("The server could not {what}: {}", status.message)),
        }
    }
}

/// The steps, in their order.
pub(crate) const STEPS: [&str; 8] = [
    condition::ACCEPTED,
    condition::ADDRESS_READY,
    condition::CERTIFICATES_READY,
    condition::ETCD_READY,
    condition::API_SERVER_READY,
    condition::BOOTSTRAP_READY,
    condition::CONTROLLERS_READY,
    condition::ADDONS_APPLIED,
];
