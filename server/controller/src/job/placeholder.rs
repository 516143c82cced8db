//! Placeholders: objects that block the name of an operation's Job or snapshot.
//!
//! The situation that needs them: an operation has the turn, and two replicas of the controller work on it. One is about to create the
//! Job, with stores that are some seconds behind. The other already knows that the operation is cancelled, or that its inputs are
//! wrong, and ends it. If it simply wrote the result and gave the turn on, the first replica could still create its Job, and that
//! would run beside the next operation's.
//!
//! So the replica that ends the operation first creates a *placeholder Job*: a Job with the real Job's name that is suspended and never
//! starts. It carries the operation's result in an annotation and belongs to the operation, so Kubernetes collects it with the
//! operation. The API server accepts only one of the two Jobs. The replica that is late finds the other's Job and continues with that:
//! with the placeholder it ends the operation, with the real Job it lets that run.
//!
//! An admission policy or quota may refuse the placeholder Job. This proves nothing about the real Job, which it may accept a moment
//! later. Then the controller replaces the snapshot with a *placeholder Secret*: same name, no keys, and the result in the annotation. A
//! Job that is created after that mounts keys that don't exist, so its container never starts. If the API server refuses both
//! placeholders, the operation keeps its turn, says so, and is retried.

use std::sync::Arc;

use crd::ClusterOperation;
use k8s_openapi::api::batch::v1::{Job, JobSpec};
use k8s_openapi::api::core::v1::{Container, PodSpec, PodTemplateSpec, Secret};
use kube::api::ObjectMeta;
use kube::{Resource, ResourceExt};
use operation::Signer;

use crate::context::Context;
use crate::error::Error;
use crate::inputs::snapshot;
use crate::job::children::{self, NotCreated};
use crate::job::{build, lookup};
use crate::status::outcome::Outcome;
use crate::status::refusal::Refusal;
use crate::turn::cluster_status::seconds_of_turn;

/// How often a snapshot is deleted that another replica creates again.
const ATTEMPTS: usize = 5;
/// How long to wait until Kubernetes has collected the children of an earlier operation of the same name.
const LEFTOVER_SECONDS: i64 = 30;

/// What occupies the name of an operation's Job.
pub(crate) enum Occupied {
    /// The operation's own Job or placeholder Job.
    Taken(Arc<Job>),
    /// The real Job can't be created any more: another object has its name, or the namespace is gone.
    Impossible,
    /// The API refused the placeholder Job, and the placeholder Secret replaces the snapshot instead: no container of a Job that is
    /// created from now on starts. The value is the Job, if it exists: it may have been created before the Secret.
    NoInputs(Option<Arc<Job>>),
    /// The API refused both placeholders, for this reason; the real Job may still appear.
    Refused(Refusal),
    /// A child of an earlier operation of the same name, which Kubernetes is about to collect.
    Leftover,
}

/// Occupies the name of the Job with a placeholder that carries `outcome`, if nothing has the name yet.
pub(crate) async fn occupy(
    ctx: &Context,
    operation: &ClusterOperation,
    namespace: &str,
    outcome: &Outcome,
) -> Result<Occupied, Error> {
    match children::create(&ctx.client, operation, "Job", &job(operation, namespace, outcome, ctx.signer())).await {
        Ok(job) => Ok(Occupied::Taken(job.into())),
        Err(NotCreated::Leftover(_)) if may_wait(ctx, operation) => Ok(Occupied::Leftover),
        Err(NotCreated::Leftover(_) | NotCreated::Refused(Refusal::Foreign { .. } | Refusal::NoNamespace { .. })) => {
            Ok(Occupied::Impossible)
        }
        Err(NotCreated::Refused(refusal)) => replace_snapshot(ctx, operation, namespace, outcome, refusal).await,
        Err(NotCreated::Api(source)) => Err(Error::Api { what: "create a placeholder Job", source }),
    }
}

/// Replaces the snapshot with the placeholder Secret. `refusal` is why the placeholder Job could not be created.
async fn replace_snapshot(
    ctx: &Context,
    operation: &ClusterOperation,
    namespace: &str,
    outcome: &Outcome,
    refusal: Refusal,
) -> Result<Occupied, Error> {
    let placeholder = secret(operation, namespace, outcome, ctx.signer());
    for _ in 0..ATTEMPTS {
        match children::create(&ctx.client, operation, "Secret", &placeholder).await {
            Ok(found) if self::outcome(ctx, operation, &found).is_some() => {
                return Ok(Occupied::NoInputs(lookup::read_job(&ctx.client, operation, namespace).await?));
            }
            Ok(snapshot) => snapshot::remove(&ctx.client, &snapshot).await?,
            Err(NotCreated::Leftover(_)) if may_wait(ctx, operation) => return Ok(Occupied::Leftover),
            Err(NotCreated::Leftover(_) | NotCreated::Refused(_)) => return Ok(Occupied::Refused(refusal)),
            Err(NotCreated::Api(source)) => return Err(Error::Api { what: "create a placeholder Secret", source }),
        }
    }
    Err(Error::Conflict(placeholder.name_any()))
}

/// Whether there is still time to wait until children of an earlier operation of the same name are collected.
pub(crate) fn may_wait(ctx: &Context, operation: &ClusterOperation) -> bool {
    seconds_of_turn(ctx, operation) < LEFTOVER_SECONDS
}

/// The result that a placeholder carries; None if `child` is no placeholder. An annotation that another client wrote on the real Job
/// doesn't make that a placeholder.
pub(crate) fn outcome<K: Resource>(ctx: &Context, operation: &ClusterOperation, child: &K) -> Option<Outcome> {
    Outcome::of_child(child.meta().annotations.as_ref(), operation, ctx.signer())
}

fn secret(operation: &ClusterOperation, namespace: &str, outcome: &Outcome, signer: &Signer) -> Secret {
    Secret {
        metadata: metadata(operation, namespace, crd::inputs_name(&operation.name_any()), outcome, signer),
        immutable: Some(true),
        ..Secret::default()
    }
}

fn metadata(
    operation: &ClusterOperation,
    namespace: &str,
    name: String,
    outcome: &Outcome,
    signer: &Signer,
) -> ObjectMeta {
    let annotations = outcome.annotations(operation, signer);
    ObjectMeta { annotations: Some(annotations), ..build::child(operation, namespace, name) }
}

/// A valid Job that is suspended, and does nothing if a user resumes it. It has the same image, resources and security settings as the
/// real Job, so that any policy which accepts the real Job accepts the placeholder.
fn job(operation: &ClusterOperation, namespace: &str, outcome: &Outcome, signer: &Signer) -> Job {
    let container = Container {
        name: crd::PRODUCT.into(),
        image: Some(operation.spec.image.clone()),
        command: Some(vec!["false".into()]),
        resources: Some(build::resources(operation)),
        security_context: Some(build::container_security()),
        ..Container::default()
    };
    let pod = PodSpec {
        automount_service_account_token: Some(false),
        restart_policy: Some("Never".into()),
        security_context: Some(build::pod_security()),
        containers: vec![container],
        ..PodSpec::default()
    };
    Job {
        metadata: metadata(operation, namespace, crd::job_name(&operation.name_any()), outcome, signer),
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
    use crd::Cluster;

    use super::*;

    use crate::clock::now;

    #[test]
    fn a_policy_that_accepts_the_job_accepts_the_placeholder() {
        let mut operation = ClusterOperation::new("grow", crd::ClusterOperationSpec::default());
        operation.metadata.uid = Some("u".into());
        operation.spec.image = "registry.example.com/runner:v1".into();
        let outcome = crate::status::outcome::refused(&Refusal::Forgotten, &now());
        let signer = Signer::new(b"key", &now());
        let job = job(&operation, "lab", &outcome, &signer);
        let carried = Outcome::of_child(job.metadata.annotations.as_ref(), &operation, &signer);
        assert_eq!(carried, Some(outcome), "it carries the result");
        let spec = job.spec.unwrap();
        let pod = spec.template.spec.unwrap();
        assert_eq!(
            (spec.suspend, pod.containers[0].image.as_deref()),
            (Some(true), Some("registry.example.com/runner:v1"))
        );
        assert_eq!(pod.containers[0].resources, Some(build::resources(&operation)));
        let real =
            build::job(&operation, &Cluster::default(), &Secret::default(), 5).spec.unwrap().template.spec.unwrap();
        assert_eq!(pod.security_context, real.security_context);
        assert_eq!(pod.containers[0].security_context, real.containers[0].security_context);
    }
}
