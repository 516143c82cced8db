//! Writing `status.hosted`.

use crd::{Cluster, Fact, HostedStatus, Time, condition, upsert};
use jiff::Timestamp;
use kube::ResourceExt;
use kube::api::{Patch, PatchParams};
use serde_json::json;

use crate::context::Context;
use crate::steps::Progress;
use crate::stop::{STEPS, Stop};

/// The conditions after a reconcile that made this progress and ended so.
pub(crate) fn after(
    old: &HostedStatus,
    progress: &Progress,
    end: Result<(), &Stop>,
    generation: Option<i64>,
) -> HostedStatus {
    let now = Time(Timestamp::from_second(Timestamp::now().as_second()).expect("a time of today"));
    let mut status = progress.status(old);
    status.observed_generation = generation;
    let mut put = |fact| upsert(&mut status.conditions, fact, &now, generation);
    for (step, message) in STEPS.into_iter().zip(&progress.done) {
        put(Fact::new(step, true, "Done", message));
    }
    let mut left = STEPS.into_iter().skip(progress.done.len());
    if let (Some(step), Err(stop)) = (left.next(), end) {
        put(Fact::new(step, false, stop.reason, &stop.message));
        for later in left {
            let message = format!("Waits for {step}.");
            put(Fact { kind: later, holds: None, reason: "Waiting".into(), message });
        }
    }
    put(match end {
        Ok(()) => Fact::new(condition::READY, true, "Ready", "The control plane is ready."),
        Err(stop) => Fact::new(condition::READY, false, stop.reason, &stop.message),
    });
    status
}

/// The last known status of a Cluster.
pub(crate) fn known(ctx: &Context, cluster: &Cluster) -> HostedStatus {
    let written = cluster.metadata.uid.as_ref().and_then(|uid| ctx.written.lock().get(uid).cloned());
    written.or_else(|| cluster.status.as_ref()?.hosted.clone()).unwrap_or_default()
}

/// Writes the status if it is different. A Cluster that is gone needs none.
pub(crate) async fn write(ctx: &Context, cluster: &Cluster, status: HostedStatus) -> Result<(), kube::Error> {
    if known(ctx, cluster) == status {
        return Ok(());
    }
    let patch = json!({"status": {"hosted": status}});
    let params = PatchParams { field_manager: Some(crd::PRODUCT.into()), ..PatchParams::default() };
    match ctx.clusters_api().patch_status(&cluster.name_any(), &params, &Patch::Merge(&patch)).await {
        Err(kube::Error::Api(why)) if why.is_not_found() => Ok(()),
        Err(error) => Err(error),
        Ok(_) => {
            if let Some(uid) = cluster.metadata.uid.clone() {
                ctx.written.lock().insert(uid, status);
            }
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(status: &HostedStatus) -> Vec<(&str, &str, &str)> {
        let conditions = status.conditions.iter();
        conditions.map(|c| (c.type_.as_str(), c.status.as_str(), c.reason.as_str())).collect()
    }

    #[test]
    fn the_conditions_say_which_step_is_not_done() {
        let mut progress = Progress::default();
        progress.done.extend(["a", "b", "c"].map(str::to_owned));
        let stop = Stop::wait("Starting", "etcd isn't ready.");
        let status = after(&HostedStatus::default(), &progress, Err(&stop), Some(3));
        assert_eq!(
            states(&status)[2..],
            [
                ("CertificatesReady", "True", "Done"),
                ("EtcdReady", "False", "Starting"),
                ("ApiServerReady", "Unknown", "Waiting"),
                ("BootstrapReady", "Unknown", "Waiting"),
                ("ControllersReady", "Unknown", "Waiting"),
                ("AddonsApplied", "Unknown", "Waiting"),
                ("Ready", "False", "Starting"),
            ]
        );
        assert_eq!(status.observed_generation, Some(3));
        progress.done = STEPS.map(str::to_owned).to_vec();
        let status = after(&status, &progress, Ok(()), Some(3));
        assert!(status.conditions.iter().all(|condition| condition.status == "True"), "{status:?}");
        assert_eq!(status.conditions.len(), STEPS.len() + 1);
    }
}
