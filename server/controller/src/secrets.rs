//! What must not be said about a run: the same that its log doesn't say.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crd::{ClusterOperation, Masker};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;

use crate::context::Context;
use crate::error::Error;
use crate::{snapshot, turn};

/// The inputs of the runs that this process started, by the operation's uid. They are in memory anyhow when a run begins; to
/// read them again at its end would cost a request. At most 1 MiB each, and as many as run at once.
#[derive(Debug, Default)]
pub(crate) struct Secrets {
    inputs: Mutex<HashMap<String, Inputs>>,
}

#[derive(Debug, Clone)]
struct Inputs {
    text: String,
    token: Option<String>,
}

impl Secrets {
    /// Remembers the snapshot with which `operation` runs.
    pub(crate) fn keep(&self, ctx: &Context, operation: &ClusterOperation, snapshot: &Secret) {
        let mut inputs = self.locked();
        if inputs.len() >= ctx.config.max_running {
            // What a colleague ended, or somebody deleted. A store that lags drops too many: they are read again.
            let running = turn::running_uids(&ctx.stores.clusters.state());
            inputs.retain(|uid, _| running.contains(uid));
        }
        inputs.insert(operation.uid().unwrap_or_default(), Inputs::of(snapshot));
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
                snapshot.as_ref().map(Inputs::of)
            }
        };
        Ok(inputs.map(|inputs| Masker::new(&inputs.text, inputs.token.as_deref())))
    }

    /// It is over.
    pub(crate) fn forget(&self, operation: &ClusterOperation) {
        self.locked().remove(&operation.uid().unwrap_or_default());
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<String, Inputs>> {
        self.inputs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inputs {
    fn of(snapshot: &Secret) -> Self {
        let (hosts, vars) = snapshot::texts(snapshot);
        let token = snapshot.data.as_ref().and_then(|data| data.get("token"));
        let token = token.map(|bytes| String::from_utf8_lossy(&bytes.0).trim().to_owned());
        Self { text: format!("{hosts}\n{vars}"), token }
    }
}
