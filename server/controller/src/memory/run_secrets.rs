//! The secrets of the runs that this process started, needed to mask what is written about them.

use std::collections::{BTreeMap, HashMap, HashSet};

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use parking_lot::{Mutex, MutexGuard};

/// Snapshots by the operation's uid. The controller has a snapshot in memory anyway when it creates a Job; reading it again at the
/// end of the run would cost a request. At most 1 MiB each, and about as many as run at once.
#[derive(Debug, Default)]
pub(crate) struct RunSecrets {
    snapshots: Mutex<HashMap<String, SecretKeys>>,
}

/// Those keys of a snapshot that tell which values are secret, and the key of the secret result.
pub(crate) type SecretKeys = BTreeMap<String, ByteString>;

impl RunSecrets {
    /// Remembers the snapshot of the operation with this uid. From `limit` snapshots on, those of operations that are not in
    /// `running` are dropped: another replica ended them, or a user deleted them. A snapshot dropped too early, because a store
    /// is behind, is read again.
    pub(crate) fn keep(&self, uid: &str, snapshot: &Secret, limit: usize, running: impl FnOnce() -> HashSet<String>) {
        let mut snapshots = self.locked();
        if snapshots.len() >= limit {
            let running = running();
            snapshots.retain(|uid, _| running.contains(uid));
        }
        snapshots.insert(uid.to_owned(), secret_keys(snapshot));
    }

    /// What is remembered of the operation with this uid.
    pub(crate) fn of(&self, uid: &str) -> Option<SecretKeys> {
        self.locked().get(uid).cloned()
    }

    /// Forgets an operation that has ended.
    pub(crate) fn forget(&self, uid: &str) {
        self.locked().remove(uid);
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<String, SecretKeys>> {
        self.snapshots.lock()
    }
}

/// Those keys of a snapshot that tell which values are secret.
pub(crate) fn secret_keys(snapshot: &Secret) -> SecretKeys {
    let needed = [
        crd::KEY_HOSTS,
        crd::KEY_VARS,
        crd::KEY_TOKEN,
        crd::KEY_SECRETS,
        crd::KEY_READABLE_NAMES,
        crd::KEY_SECRET_RESULT,
    ];
    let data = snapshot.data.iter().flatten().filter(|(key, _)| needed.contains(&key.as_str()));
    data.map(|(key, value)| (key.clone(), value.clone())).collect()
}
