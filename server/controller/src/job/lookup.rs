//! Finding the Job of an operation.

use std::sync::Arc;

use crd::{ClusterOperation, JobRef};
use k8s_openapi::api::batch::v1::Job;
use kube::runtime::reflector::ObjectRef;
use kube::{Api, Client, ResourceExt};

use crate::context::Context;
use crate::error::Error;
use crate::ownership::is_owned_by;
use crate::turn::history;

/// The Job or placeholder Job of `operation` in the store. A Job of an earlier operation of the same name doesn't count.
pub(crate) fn stored_job(ctx: &Context, operation: &ClusterOperation) -> Option<Arc<Job>> {
    let name = crd::job_name(&operation.name_any());
    let job = match namespace_of(ctx, operation) {
        Some(namespace) => ctx.stores.jobs.get(&ObjectRef::new(&name).within(&namespace)),
        None => ctx.stores.jobs.find(|job| job.metadata.name.as_deref() == Some(&name)),
    };
    job.filter(|job| is_owned_by(&**job, operation))
}

/// The namespace of its Job, whether that exists or not, according to the stores.
pub(crate) fn namespace_of(ctx: &Context, operation: &ClusterOperation) -> Option<String> {
    history::namespace(operation, ctx.stores.cluster(&operation.spec.cluster).as_deref())
}

/// Reads the Job or placeholder Job of `operation` from the API.
pub(crate) async fn read_job(
    client: &Client,
    operation: &ClusterOperation,
    namespace: &str,
) -> Result<Option<Arc<Job>>, Error> {
    let jobs: Api<Job> = Api::namespaced(client.clone(), namespace);
    let job = jobs.get_opt(&crd::job_name(&operation.name_any())).await.map_err(Error::while_doing("read a Job"))?;
    Ok(job.filter(|job| is_owned_by(job, operation)).map(Arc::new))
}

/// A Job's name and uid.
pub(crate) fn reference(job: &Job) -> JobRef {
    JobRef { namespace: job.namespace().unwrap_or_default(), name: job.name_any(), uid: job.uid() }
}
