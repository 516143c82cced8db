//! Who cancelled an operation.

use crd::ClusterOperation;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use kube::ResourceExt;
use operation::Signing;

use super::row::{not_verified, program_of};

/// The user who cancelled it in the console, otherwise the program whose write set `spec.cancel`; empty if it wasn't cancelled.
pub(crate) fn cancelled_by(operation: &ClusterOperation, signing: &Signing) -> String {
    if operation.spec.cancel != Some(true) {
        return String::new();
    }
    let signed = signing.signer().and_then(|signer| signer.verified_canceller(operation)).map(str::to_owned);
    let claimed = operation.annotations().get(crd::ANNOTATION_CANCELLED_BY);
    let user = signed.or_else(|| claimed.map(|by| not_verified(by))).filter(|by| !by.is_empty());
    let wrote = operation.managed_fields().iter().find(|entry| set_cancel(entry));
    user.or_else(|| program_of(wrote?)).unwrap_or_default()
}

fn set_cancel(entry: &ManagedFieldsEntry) -> bool {
    entry.fields_v1.as_ref().is_some_and(|fields| fields.0.pointer("/f:spec/f:cancel").is_some())
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::FieldsV1;
    use serde_json::json;

    use super::super::row::tests::operation;
    use super::*;

    fn wrote(manager: &str, fields: serde_json::Value) -> ManagedFieldsEntry {
        ManagedFieldsEntry { manager: Some(manager.into()), fields_v1: Some(FieldsV1(fields)), ..Default::default() }
    }

    #[test]
    fn a_cancel_names_the_user_otherwise_the_program() {
        let mut cancelled = operation("a", "prod", 0, crd::Phase::Failed);
        cancelled.metadata.managed_fields = Some(vec![
            wrote("argocd-controller", json!({"f:spec": {"f:action": {}}})),
            wrote("kubectl-patch", json!({"f:spec": {"f:cancel": {}}})),
        ]);
        let signer = operation::Signer::new(b"key", &cancelled.metadata.creation_timestamp.clone().unwrap());
        let cancelled_by = |operation: &ClusterOperation| super::cancelled_by(operation, &signer.clone().into());
        assert_eq!(cancelled_by(&cancelled), "", "it wasn't cancelled");
        cancelled.spec.cancel = Some(true);
        assert_eq!(cancelled_by(&cancelled), "kubectl");
        cancelled.metadata.annotations = Some([(crd::ANNOTATION_CANCELLED_BY.to_owned(), "ada".to_owned())].into());
        assert_eq!(cancelled_by(&cancelled), "ada (not verified)", "every client may write that");
        let signature = signer.sign_canceller(&cancelled, "ada");
        let annotations = cancelled.metadata.annotations.as_mut().unwrap();
        annotations.insert(crd::ANNOTATION_CANCELLER_SIGNATURE.to_owned(), signature);
        assert_eq!(cancelled_by(&cancelled), "ada");
    }
}
