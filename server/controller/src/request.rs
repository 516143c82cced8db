//! What all writes to the API have in common.

use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use crate::error::Error;

/// The name under which all writes appear in `managedFields`.
pub(crate) fn field_manager() -> PatchParams {
    PatchParams { field_manager: Some(crd::PRODUCT.into()), ..PatchParams::default() }
}

/// Merge-patches `status`. None if the object is no longer at `version` or is gone.
pub(crate) async fn patch_status<K>(
    api: &Api<K>,
    name: &str,
    version: Option<&str>,
    status: Value,
) -> Result<Option<K>, Error>
where
    K: Clone + serde::de::DeserializeOwned + std::fmt::Debug,
{
    let patch = json!({"metadata": {"resourceVersion": version}, "status": status});
    let answer = api.patch_status(name, &field_manager(), &Patch::Merge(&patch)).await;
    answer.unless_changed().map_err(Error::while_doing("write a status"))
}

/// The answer to a write with preconditions.
pub(crate) trait Answer<T> {
    /// None if another client wrote first, or the object is gone.
    fn unless_changed(self) -> Result<Option<T>, kube::Error>;
}

impl<T> Answer<T> for Result<T, kube::Error> {
    fn unless_changed(self) -> Result<Option<T>, kube::Error> {
        match self {
            Ok(value) => Ok(Some(value)),
            Err(kube::Error::Api(status)) if status.is_conflict() || status.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }
}
