//! What must not be said about a run: the same that its log doesn't say.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crd::ClusterOperation;
use k8s_openapi::ByteString;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use masking::Masker;

use crate::context::Context;
use crate::error::Error;
use crate::{snapshot, turn};

/// The inputs of the runs that this process started, by the operation's uid. They are in memory anyhow when a run begins; to
/// read them again at its end would cost a request. At most 1 MiB each, and as many as run at once.
#[derive(Debug, Default)]
pub(crate) struct Secrets {
    inputs: Mutex<HashMap<String, Snapshot>>,
}

/// Of a snapshot's data what tells which values are secret.
type Snapshot = BTreeMap<String, ByteString>;

impl Secrets {
    /// Remembers the snapshot with which `operation` runs.
    pub(crate) fn keep(&self, ctx: &Context, operation: &ClusterOperation, snapshot: &Secret) {
        let mut inputs = self.locked();
        if inputs.len() >= ctx.config.max_running {
            // What a colleague ended, or somebody deleted. A store that lags drops too many: they are read again.
            let running = turn::running_uids(&ctx.stores.clusters.state());
            inputs.retain(|uid, _| running.contains(uid));
        }
        inputs.insert(operation.uid().unwrap_or_default(), of_secrets(snapshot));
    }

    /// Hides in a text what is secret in the run of `operation`. None where its inputs are gone: then nobody knows what is, and
    /// nothing of what the run said may be repeated.
    pub(crate) async fn masker(
        &self,
        ctx: &Context,
        operation: &ClusterOperation,
        job: &Job,
    ) -> Result<Option<Masker>, Error> {
        let kept = self.locked().get(&operation.uid().unwrap_or_default()).cloned();
        let inputs = match kept {
            Some(inputs) => Some(inputs),
            None => {
                let snapshot = snapshot::read(ctx, operation, &job.namespace().unwrap_or_default()).await?;
                snapshot.as_ref().map(of_secrets)
            }
        };
        let snapshot = inputs.as_ref().and_then(crd::Snapshot::read);
        Ok(snapshot.map(|read| Masker::of_run(&read.inventory, &read.variables, &read.token)))
    }

    /// It is over.
    pub(crate) fn forget(&self, operation: &ClusterOperation) {
        self.locked().remove(&operation.uid().unwrap_or_default());
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<String, Snapshot>> {
        self.inputs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn of_secrets(snapshot: &Secret) -> Snapshot {
    let data = snapshot.data.iter().flatten();
    let told = data.filter(|(key, _)| [crd::KEY_HOSTS, crd::KEY_VARS, crd::KEY_TOKEN].contains(&key.as_str()));
    told.map(|(key, value)| (key.clone(), value.clone())).collect()
}
