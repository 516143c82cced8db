//! A Job that never starts stands where the Job of an operation would.
//!
//! Whoever ends an operation that has the turn and no Job takes the Job's name first. Another controller that still sees the
//! operation as it was (not cancelled, its inputs good) can then not create the real Job any more, however late it comes: the
//! API lets only one of the two in, and both controllers follow the one that is there. So the turn is never given on beside a
//! Job. The tombstone says how the operation ended and goes with it.

use std::collections::BTreeMap;

use crd::{Cluster, ClusterOperation};
use k8s_openapi::api::batch::v1::{Job, JobSpec};
use k8s_openapi::api::core::v1::{Container, PodSpec, PodTemplateSpec};
use kube::ResourceExt;
use kube::runtime::controller::Action;

use crate::children::{self, NotCreated};
use crate::context::{Context, now};
use crate::error::Error;
use crate::finish::{finish, finish_stopped};
use crate::outcome::Outcome;
use crate::{build, history, observe, verdict};

/// How long the children of an earlier operation of the same name may take to be collected.
const LEFTOVER_SECONDS: i64 = 30;

/// Ends an operation that has the turn and no Job; where a colleague was faster and created it, looks at that instead.
/// `cluster` is what the end was decided on, where that is newer than the stores.
pub(crate) async fn abandon(
    ctx: &Context,
    operation: &ClusterOperation,
    cluster: Option<&Cluster>,
    outcome: &Outcome,
) -> Result<Action, Error> {
    let namespace = match cluster {
        Some(cluster) => history::namespace(operation, Some(cluster)),
        None => ctx.stores.namespace_of(operation),
    };
    let Some(namespace) = namespace else { return finish(ctx, operation, outcome).await };
    match take_name(ctx, operation, &namespace, outcome).await? {
        Name::Taken(job) => observe::observe(ctx, operation, &job).await,
        Name::Foreign => finish_stopped(ctx, operation, outcome).await,
        Name::Leftover => Ok(Action::requeue(std::time::Duration::from_secs(1))),
    }
}

/// Nothing of an operation that is over runs, and nothing will. A Job that goes on is told to stop.
pub(crate) async fn has_stopped(
    ctx: &Context,
    operation: &ClusterOperation,
    cluster: &Cluster,
    outcome: &Outcome,
) -> Result<bool, Error> {
    let job = match (ctx.stores.job_of(operation), history::namespace(operation, Some(cluster))) {
        (Some(job), _) => Job::clone(&job),
        (None, None) => return Ok(true),
        (None, Some(namespace)) => match take_name(ctx, operation, &namespace, outcome).await? {
            Name::Taken(job) => *job,
            Name::Foreign => return Ok(true),
            Name::Leftover => return Ok(false),
        },
    };
    if self::outcome(&job).is_some() || verdict::has_stopped(&job, ctx.stores.pod_of(&job).as_deref()) {
        return Ok(true);
    }
    observe::stop_stray(ctx, &job).await?;
    Ok(false)
}

/// How the operation ended, where `job` is such a tombstone.
pub(crate) fn outcome(job: &Job) -> Option<Outcome> {
    let text = job.annotations().get(crd::ANNOTATION_OUTCOME)?;
    serde_json::from_str::<Outcome>(text).ok().filter(|outcome| outcome.status.is_final())
}

/// The children of an earlier operation of the same name may still be there: they are waited for.
pub(crate) fn may_wait(ctx: &Context, operation: &ClusterOperation) -> bool {
    let cluster = ctx.stores.cluster(&operation.spec.cluster);
    let entry = cluster.as_ref().and_then(|cluster| history::entry(cluster, operation));
    let since = entry.and_then(|entry| entry.start_time.as_ref());
    since.map_or(0, |since| now().0.as_second() - since.0.as_second()) < LEFTOVER_SECONDS
}

/// Who has the name.
enum Name {
    /// The operation's own Job or tombstone.
    Taken(Box<Job>),
    /// Somebody else, or nobody may create anything there: nobody will create the real Job, either.
    Foreign,
    /// An earlier operation of the same name, for a moment.
    Leftover,
}

async fn take_name(
    ctx: &Context,
    operation: &ClusterOperation,
    namespace: &str,
    outcome: &Outcome,
) -> Result<Name, Error> {
    match children::create(&ctx.client, operation, "Job", &job(operation, namespace, outcome)).await {
        Ok(job) => Ok(Name::Taken(Box::new(job))),
        Err(NotCreated::Leftover(_)) if may_wait(ctx, operation) => Ok(Name::Leftover),
        Err(NotCreated::Leftover(_) | NotCreated::Refused(_)) => Ok(Name::Foreign),
        Err(NotCreated::Api(source)) => Err(Error::Api { what: "take the name of a Job", source }),
    }
}

/// Valid, suspended, and harmless should somebody resume it. Image and resources are those of the real Job: a policy that
/// lets that one in must not keep this one out.
fn job(operation: &ClusterOperation, namespace: &str, outcome: &Outcome) -> Job {
    let text = serde_json::to_string(outcome).expect("an outcome is plain data");
    let mut metadata = build::child(operation, namespace, crd::job_name(&operation.name_any()));
    metadata.annotations = Some(BTreeMap::from([(crd::ANNOTATION_OUTCOME.to_owned(), text)]));
    let container = Container {
        name: crd::PRODUCT.into(),
        image: Some(operation.spec.image.clone()),
        command: Some(vec!["false".into()]),
        resources: Some(build::resources(operation)),
        ..Container::default()
    };
    let pod = PodSpec {
        automount_service_account_token: Some(false),
        restart_policy: Some("Never".into()),
        containers: vec![container],
        ..PodSpec::default()
    };
    Job {
        metadata,
        spec: Some(JobSpec {
            suspend: Some(true),
            backoff_limit: Some(0),
            template: PodTemplateSpec { spec: Some(pod), ..PodTemplateSpec::default() },
            ..JobSpec::default()
        }),
        status: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_sees_the_image_and_the_resources_of_the_real_job() {
        let mut operation = ClusterOperation::new("grow", crd::ClusterOperationSpec::default());
        operation.spec.image = "registry.example.com/runner:v1".into();
        let outcome = Outcome::refused(&crate::refusal::Refusal::Forgotten, &now());
        let job = job(&operation, "lab", &outcome);
        assert_eq!(self::outcome(&job), Some(outcome), "it says how the operation ended");
        let spec = job.spec.unwrap();
        let pod = spec.template.spec.unwrap();
        assert_eq!(
            (spec.suspend, pod.containers[0].image.as_deref()),
            (Some(true), Some("registry.example.com/runner:v1"))
        );
        assert_eq!(pod.containers[0].resources, Some(build::resources(&operation)));
    }
}
