//! Delivers the secret result of a run that has ended, before the operation's own result is recorded. Deletes that of a cluster that the
//! run has reset.

use std::time::Duration;

use crd::{ClusterOperation, DataRef, Fact, Phase, condition, upsert};
use k8s_openapi::ByteString;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use masking::Masker;
use operation::terminated;

use super::discard::{discard_kubeconfig, is_useless};
use super::store::Store;
use super::{cipher, log, store};
use crate::clock::now;
use crate::context::Context;
use crate::error::Error;
use crate::memory::run_secrets::SecretKeys;
use crate::next::Next;
use crate::status::outcome::Outcome;
use crate::status::sentence::cut;
use crate::status::write;

/// When it is tried again.
const AGAIN: Duration = Duration::from_secs(2);
const LOST: &str = "ResultLost";

/// What happened to the result of a run.
enum Delivery {
    /// The operation has no secret result, or its run failed before it wrote one.
    Nothing,
    /// It is stored; a sentence says where.
    Stored(String),
    /// The run succeeded, but its steps wrote none.
    Empty,
    /// It can't be had any more; a sentence says why.
    Lost(String),
    /// It can't be had or stored now; a sentence says why. `stored` says which part is stored already.
    Later { why: String, stored: Option<String> },
}

/// Why the log doesn't tell the result.
enum Untold {
    /// The pod or the key is gone; a sentence says which.
    Gone(String),
    /// The log was read, and its end has no result.
    NotInLog,
    /// The log can't be read now; a sentence says why.
    Unread(String),
}

/// Delivers the result, writes how that went into the status, and records `outcome`. `secrets` are those keys of the snapshot that this
/// process has; `None` if the snapshot is gone.
pub(crate) async fn deliver(
    ctx: &Context,
    operation: &ClusterOperation,
    job: &Job,
    pod: Option<&Pod>,
    secrets: Option<&SecretKeys>,
    masker: &Masker,
    mut outcome: Outcome,
) -> Result<Next, Error> {
    let uid = operation.uid().unwrap_or_default();
    if !operation::has_secret_result(&operation.spec) {
        let told = match discard(ctx, operation, job, &outcome).await {
            Ok(told) => told,
            Err(Undeleted { why, is_permanent: false }) if ctx.first_tries.since(&uid) < ctx.config.result_patience => {
                tracing::warn!(operation = operation.name_any(), why, "this is tried again");
                return Ok(Next::again_after(AGAIN));
            }
            Err(Undeleted { why, .. }) => Some(why),
        };
        if let Some(told) = told {
            let (before, told) = (cut(&outcome.message, 450), cut(&masker.value(told), 500));
            outcome.message = format!("{before} {told}").trim().to_owned();
        }
        ctx.first_tries.forget(&uid);
        return Ok(Next::record(outcome, true));
    }
    let succeeded = outcome.status == Phase::Succeeded;
    let delivery = attempt(ctx, operation, job, pod, secrets, succeeded).await;
    if let Delivery::Later { why, .. } = &delivery
        && ctx.first_tries.since(&uid) < ctx.config.result_patience
    {
        tracing::warn!(
            operation = operation.name_any(),
            why,
            "a secret result could not be delivered; this is tried again"
        );
        return Ok(Next::again_after(AGAIN));
    }
    let fact = match delivery {
        Delivery::Nothing => {
            ctx.first_tries.forget(&uid);
            return Ok(Next::record(outcome, true));
        }
        Delivery::Later { why, stored: Some(stored) } => {
            let told = format!("{stored} {}", cut(&masker.value(why), 500));
            Fact::new(condition::RESULT_STORED, true, "Stored", told)
        }
        Delivery::Stored(told) => Fact::new(condition::RESULT_STORED, true, "Stored", told),
        Delivery::Empty => {
            let none = "The playbook wrote no kubeconfig.";
            Fact::new(condition::RESULT_STORED, false, "NoResult", none)
        }
        Delivery::Lost(why) | Delivery::Later { why, stored: None } => {
            let why = cut(&masker.value(why), 500);
            outcome.message =
                format!("{} Its secret result, such as a kubeconfig, is lost: {why}", cut(&outcome.message, 450));
            Fact::new(condition::RESULT_STORED, false, LOST, format!("{why} Run kubeconfig.yml to get a new one."))
        }
    };
    let mut status = operation.status.clone().unwrap_or_default();
    upsert(&mut status.conditions, fact, &now(), operation.metadata.generation);
    match write::status(ctx, operation, &status).await? {
        Some(newer) => {
            ctx.first_tries.forget(&uid);
            Ok(Next::record(outcome, true).with(newer))
        }
        None => Err(Error::Conflict(operation.name_any())),
    }
}

/// Why a kubeconfig was not deleted, as a sentence.
struct Undeleted {
    why: String,
    is_permanent: bool,
}

/// Deletes the kubeconfig of a cluster of which the run has left nothing, and says so in a sentence.
async fn discard(
    ctx: &Context,
    operation: &ClusterOperation,
    job: &Job,
    outcome: &Outcome,
) -> Result<Option<String>, Undeleted> {
    let cluster = ctx.stores.cluster(&operation.spec.cluster);
    let Some(cluster) = cluster.filter(|cluster| is_useless(operation, cluster, outcome)) else { return Ok(None) };
    let at = DataRef::new(job.namespace().unwrap_or_default(), crd::kubeconfig_name(&cluster.name_any()));
    let what = format!("Secret {at} with the kubeconfig of the former cluster");
    match discard_kubeconfig(&ctx.client, &at, &cluster).await {
        Ok(deleted) => Ok(deleted.then(|| format!("{what} was deleted."))),
        Err(error) => Err(Undeleted {
            why: format!("{what} could not be deleted: {error}."),
            is_permanent: store::is_permanent(&error),
        }),
    }
}

async fn attempt(
    ctx: &Context,
    operation: &ClusterOperation,
    job: &Job,
    pod: Option<&Pod>,
    secrets: Option<&SecretKeys>,
    succeeded: bool,
) -> Delivery {
    let (namespace, uid) = (job.namespace().unwrap_or_default(), operation.uid().unwrap_or_default());
    let cluster = ctx.stores.cluster(&operation.spec.cluster);
    let said = match told(ctx, pod, secrets).await {
        Ok(told) => told,
        Err(untold) => {
            // A process may have stopped between storing the result and recording the operation's.
            return match store::stored(&ctx.client, &namespace, operation).await {
                Ok(Some(files)) => {
                    store::finish(&ctx.client, &namespace, operation, cluster.as_deref(), &files).await.into()
                }
                Ok(None) => without(untold, succeeded),
                Err(error) => later(format!("The Secret for it can't be read: {error}.")),
            };
        }
    };
    let (data, error) = (said.data, said.error);
    if let Some(error) = error {
        return Delivery::Lost(error);
    }
    let Some(data) = data else { return if succeeded { Delivery::Empty } else { Delivery::Nothing } };
    let key = secrets.and_then(|keys| keys.get(crd::KEY_SECRET_RESULT));
    let Some(files) = key.and_then(|key| cipher::decrypted(&key.0, &uid, &data)) else {
        return Delivery::Lost("It was not encrypted with the key of this operation.".into());
    };
    let files = files.into_iter().map(|(name, text)| (name, ByteString(text.into_bytes()))).collect();
    store::store(&ctx.client, &namespace, operation, cluster.as_deref(), files).await.into()
}

impl From<Store> for Delivery {
    fn from(stored: Store) -> Self {
        match stored {
            Store::Done(told) => Self::Stored(told),
            Store::Later { why, stored } => Self::Later { why, stored },
            Store::Refused(why) => Self::Lost(why),
        }
    }
}

/// What it means that the log doesn't tell the result. A run that failed may have written none.
fn without(untold: Untold, succeeded: bool) -> Delivery {
    match untold {
        Untold::Unread(why) => later(why),
        Untold::Gone(_) | Untold::NotInLog if !succeeded => Delivery::Nothing,
        Untold::Gone(what) => Delivery::Lost(what),
        Untold::NotInLog => later(
            "The end of the run's log doesn't contain it: the log was rotated, cut or not written to its end.".into(),
        ),
    }
}

fn later(why: String) -> Delivery {
    Delivery::Later { why, stored: None }
}

/// What the end of the log says; otherwise why it says nothing.
async fn told(ctx: &Context, pod: Option<&Pod>, secrets: Option<&SecretKeys>) -> Result<log::Told, Untold> {
    let gone = |what: &str| Err(Untold::Gone(format!("{what} was deleted before the controller could read it.")));
    let Some(pod) = pod.filter(|pod| terminated(pod).is_some()) else { return gone("The run's pod") };
    let snapshot = secrets.and_then(crd::Snapshot::read);
    let Some(snapshot) = snapshot else { return gone("The snapshot of the run's inputs, with the key of the result,") };
    match log::read(&ctx.client, pod, &snapshot.token).await {
        Ok(told) => told.ok_or(Untold::NotInLog),
        Err(kube::Error::Api(status)) if status.is_not_found() => gone("The run's pod"),
        Err(error) => Err(Untold::Unread(format!("The run's log can't be read: {error}."))),
    }
}
