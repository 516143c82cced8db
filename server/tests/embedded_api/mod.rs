//! The embedded API without a runner, for tests.

use std::path::Path;
use std::sync::Arc;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use standalone::{Api, LogQuery, LogRefusal, LogSource, LogStream, OpenError, Options, PodLogs};

/// No container ever starts.
struct NoLogs;

#[async_trait::async_trait]
impl PodLogs for NoLogs {
    async fn open(&self, _: &LogSource, _: &LogQuery) -> Result<LogStream, LogRefusal> {
        Err(LogRefusal::NotStarted("ContainerCreating".into()))
    }
}

/// Opens the API in `folder`, with these custom resources.
#[allow(dead_code, reason = "not all tests need it")]
pub(crate) fn open(folder: &Path, crds: Vec<CustomResourceDefinition>) -> Result<Arc<Api>, OpenError> {
    open_with_logs(folder, crds, Arc::new(NoLogs))
}

/// Opens the API in `folder`, with these custom resources and with logs of pods.
#[allow(dead_code, reason = "not all tests need it")]
pub(crate) fn open_with_logs(
    folder: &Path,
    crds: Vec<CustomResourceDefinition>,
    logs: Arc<dyn PodLogs>,
) -> Result<Arc<Api>, OpenError> {
    Api::open(Options { data_dir: folder.into(), crds, logs })
}
