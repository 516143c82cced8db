//! What every reconcile gets.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crd::{Cluster, ClusterOperation};
use disk::Room;
use kube::runtime::events::Recorder;
use kube::{Api, Client};
use operation::{Signer, Signing};
use parking_lot::Mutex;

use crate::config::Config;
use crate::memory::checks::Checks;
use crate::memory::expectations::Expectations;
use crate::memory::first_tries::FirstTries;
use crate::memory::run_secrets::RunSecrets;
use crate::memory::used_by::UsedBy;
use crate::watch::stores::Stores;

/// Client, settings, stores and memory of one controller.
pub(crate) struct Context {
    pub(crate) client: Client,
    pub(crate) config: Config,
    pub(crate) stores: Stores,
    pub(crate) expectations: Expectations,
    pub(crate) recorder: Recorder,
    pub(crate) run_secrets: RunSecrets,
    pub(crate) first_tries: FirstTries,
    /// Set before the first reconcile.
    pub(crate) signing: Signing,
    pub(crate) used_by: Arc<UsedBy>,
    /// Clusters whose inputs may have changed since they were last checked.
    pub(crate) touched: Mutex<HashSet<String>>,
    pub(crate) checks: Checks,
    /// Whether an operation waits for `--max-running`.
    pub(crate) slots_wanted: AtomicBool,
}

impl Context {
    pub(crate) fn clusters(&self) -> Api<Cluster> {
        Api::all(self.client.clone())
    }

    pub(crate) fn operations(&self) -> Api<ClusterOperation> {
        Api::all(self.client.clone())
    }

    pub(crate) fn signer(&self) -> &Signer {
        self.signing.signer().expect("reconciles start after the key is known")
    }

    /// Notes that an input of `cluster` may have changed. Its next reconcile checks them.
    pub(crate) fn touch(&self, cluster: &str) {
        self.touched.lock().insert(cluster.to_owned());
    }

    /// Whether the next reconcile of `cluster` checks its inputs.
    pub(crate) fn is_touched(&self, cluster: &str) -> bool {
        self.touched.lock().contains(cluster)
    }

    /// Whether an input of `cluster` may have changed since the last call.
    pub(crate) fn was_touched(&self, cluster: &str) -> bool {
        self.touched.lock().remove(cluster)
    }

    pub(crate) fn is_disk_full(&self) -> bool {
        *self.config.room.borrow() == Room::Full
    }

    pub(crate) fn want_slot(&self) {
        self.slots_wanted.store(true, Ordering::Relaxed);
    }
}
