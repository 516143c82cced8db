//! A Job that never starts stands where the Job of an operation would.
//!
//! Whoever ends an operation that has the turn and no Job takes the Job's name first. Another controller that still sees the
//! operation as it was (not cancelled, its inputs good) can then not create the real Job any more, however late it comes: the
//! API lets only one of the two in, and both controllers follow the one that is there. So the turn is never given on beside a
//! Job. The tombstone says how the operation ended and goes with it.
//!
//! A policy or quota that keeps the tombstone out says nothing about the real Job, which it may let in a moment later. Then the
//! tombstone takes the place of the operation's inputs: a Job that comes after that has nothing to mount, so its container
//! never runs a playbook. Where the API lets neither in, the turn is kept, visibly, until it does or the operation is deleted.

use std::collections::BTreeMap;

use crd::{Cluster, ClusterOperation};
use k8s_openapi::api::batch::v1::{Job, JobSpec};
use k8s_openapi::api::core::v1::{Container, PodSpec, PodTemplateSpec, Secret};
use kube::api::ObjectMeta;
use kube::runtime::controller::Action;
use kube::{Resource, ResourceExt};

use crate::children::{self, NotCreated};
use crate::context::{Context, now};
use crate::error::Error;
use crate::finish::{finish, finish_stopped};
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::waiting::hold;
use crate::{build, history, observe, verdict};

/// How often it takes the snapshot away that a colleague makes anew.
const ATTEMPTS: usize = 5;
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
        Name::Foreign | Name::NoInputs(None) => finish_stopped(ctx, operation, outcome).await,
        // It came before its inputs went, and is stopped before the turn is given on.
        Name::NoInputs(Some(_)) => finish(ctx, operation, outcome).await,
        Name::Leftover => Ok(Action::requeue(std::time::Duration::from_secs(1))),
        Name::Refused(refusal) => {
            let why = format!("{} {refusal}", outcome.message);
            let advice = "It can't end yet: a Job of it could still come, and the API refuses what would rule that out. Allow it, or delete the operation.";
            hold(ctx, operation, refusal.reason(), &why, advice).await
        }
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
            Name::Taken(job) | Name::NoInputs(Some(job)) => *job,
            Name::Foreign | Name::NoInputs(None) => return Ok(true),
            Name::Leftover => return Ok(false),
            Name::Refused(refusal) => {
                tracing::warn!(operation = operation.name_any(), %refusal, "keeps its turn: a Job of it could still come");
                return Ok(false);
            }
        },
    };
    if self::outcome(&job).is_some() || verdict::has_stopped(&job, ctx.stores.pod_of(&job).as_deref()) {
        return Ok(true);
    }
    observe::stop_stray(ctx, &job).await?;
    Ok(false)
}

/// How the operation ended, where `child` is such a tombstone.
pub(crate) fn outcome<K: Resource>(child: &K) -> Option<Outcome> {
    let text = child.annotations().get(crd::ANNOTATION_OUTCOME)?;
    serde_json::from_str::<Outcome>(text).ok().filter(|outcome| outcome.status.is_final())
}

/// The children of an earlier operation of the same name may still be there: they are waited for.
pub(crate) fn may_wait(ctx: &Context, operation: &ClusterOperation) -> bool {
    seconds_of_turn(ctx, operation) < LEFTOVER_SECONDS
}

/// How long the operation has had its turn.
pub(crate) fn seconds_of_turn(ctx: &Context, operation: &ClusterOperation) -> i64 {
    let cluster = ctx.stores.cluster(&operation.spec.cluster);
    let entry = cluster.as_ref().and_then(|cluster| history::entry(cluster, operation));
    let since = entry.and_then(|entry| entry.start_time.as_ref());
    since.map_or(0, |since| now().0.as_second() - since.0.as_second())
}

/// Who has the name.
enum Name {
    /// The operation's own Job or tombstone.
    Taken(Box<Job>),
    /// Somebody else, or there is no such namespace any more, and no inputs in it: nobody will create the real Job, either.
    Foreign,
    /// Nobody, but a Job that comes now has no inputs. One that came just before stands here.
    NoInputs(Option<Box<Job>>),
    /// Nobody, and it is not known who will.
    Refused(Refusal),
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
        Err(NotCreated::Leftover(_) | NotCreated::Refused(Refusal::Foreign { .. } | Refusal::NoNamespace { .. })) => {
            Ok(Name::Foreign)
        }
        Err(NotCreated::Refused(refusal)) => take_inputs(ctx, operation, namespace, outcome, refusal).await,
        Err(NotCreated::Api(source)) => Err(Error::Api { what: "take the name of a Job", source }),
    }
}

/// Puts the tombstone where the inputs would be. `refusal` is why it can't stand where the Job would be.
async fn take_inputs(
    ctx: &Context,
    operation: &ClusterOperation,
    namespace: &str,
    outcome: &Outcome,
    refusal: Refusal,
) -> Result<Name, Error> {
    let tombstone = secret(operation, namespace, outcome);
    for _ in 0..ATTEMPTS {
        match children::create(&ctx.client, operation, "Secret", &tombstone).await {
            Ok(found) if self::outcome(&found).is_some() => {
                return Ok(Name::NoInputs(children::read_job(&ctx.client, operation, namespace).await?.map(Box::new)));
            }
            Ok(inputs) => children::remove_inputs(&ctx.client, &inputs).await?,
            Err(NotCreated::Leftover(_)) if may_wait(ctx, operation) => return Ok(Name::Leftover),
            Err(NotCreated::Leftover(_) | NotCreated::Refused(_)) => return Ok(Name::Refused(refusal)),
            Err(NotCreated::Api(source)) => return Err(Error::Api { what: "take the name of a snapshot", source }),
        }
    }
    Err(Error::Conflict(tombstone.name_any()))
}

fn secret(operation: &ClusterOperation, namespace: &str, outcome: &Outcome) -> Secret {
    Secret {
        metadata: metadata(operation, namespace, crd::inputs_name(&operation.name_any()), outcome),
        immutable: Some(true),
        ..Secret::default()
    }
}

fn metadata(operation: &ClusterOperation, namespace: &str, name: String, outcome: &Outcome) -> ObjectMeta {
    let text = serde_json::to_string(outcome).expect("an outcome is plain data");
    let annotations = BTreeMap::from([(crd::ANNOTATION_OUTCOME.to_owned(), text)]);
    ObjectMeta { annotations: Some(annotations), ..build::child(operation, namespace, name) }
}

/// Valid, suspended, and harmless should somebody resume it. Image and resources are those of the real Job: a policy that
/// lets that one in must not keep this one out.
fn job(operation: &ClusterOperation, namespace: &str, outcome: &Outcome) -> Job {
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
        metadata: metadata(operation, namespace, crd::job_name(&operation.name_any()), outcome),
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
        let outcome = crate::outcome::refused(&crate::refusal::Refusal::Forgotten, &now());
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
