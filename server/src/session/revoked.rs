//! Sessions that were signed out before their end. Each is remembered until it would have ended anyway.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;

use super::SessionError;

/// How often a list that could not be stored is stored again.
const AGAIN: Duration = Duration::from_secs(1);

pub(super) struct Revoked {
    path: PathBuf,
    list: Mutex<List>,
    /// Counts revocations; open sockets and downloads wake up at each.
    count: watch::Sender<u64>,
    /// How many revocations are on disk. Locked while the file is written.
    stored: Mutex<u64>,
}

#[derive(Default)]
struct List {
    /// Session id → when it would have ended, in seconds since the epoch.
    ids: HashMap<String, u64>,
    /// The number of revocations in this process.
    revocations: u64,
}

impl Revoked {
    /// Reads the list (one `id ends` per line) without the sessions that have ended by `now`.
    pub(super) fn open(path: PathBuf, now: u64) -> Result<Self, SessionError> {
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(SessionError::File { path, error }),
        };
        let entry = |line: &str| line.split_once(' ').and_then(|(id, ends)| Some((id.to_owned(), ends.parse().ok()?)));
        let ids = text.lines().filter_map(entry).filter(|(_, ends)| *ends > now).collect();
        let list = Mutex::new(List { ids, revocations: 0 });
        Ok(Self { path, list, count: watch::Sender::new(0), stored: Mutex::new(0) })
    }

    pub(super) fn contains(&self, id: &str) -> bool {
        self.list.lock().ids.contains_key(id)
    }

    /// Revokes a session in this process at once. An error means that the file wasn't written: a restart forgets the revocation, unless
    /// [`Revoked::store_pending`] has stored it before.
    pub(super) fn add(&self, id: &str, ends: u64, now: u64) -> Result<(), SessionError> {
        {
            let mut list = self.list.lock();
            list.ids.retain(|_, ends| *ends > now);
            list.ids.insert(id.to_owned(), ends);
            list.revocations += 1;
        }
        self.count.send_modify(|count| *count += 1);
        self.store()
    }

    /// Writes the whole list, if there are revocations that the file doesn't have.
    fn store(&self) -> Result<(), SessionError> {
        let mut stored = self.stored.lock();
        let (text, revocations) = {
            let list = self.list.lock();
            (list.ids.iter().map(|(id, ends)| format!("{id} {ends}\n")).collect::<String>(), list.revocations)
        };
        if *stored < revocations {
            disk::save(&self.path, text.as_bytes())
                .map_err(|error| SessionError::File { path: self.path.clone(), error })?;
            *stored = revocations;
        }
        Ok(())
    }

    /// Whether a restart would forget a revocation.
    pub(super) fn has_pending(&self) -> bool {
        *self.stored.lock() < self.list.lock().revocations
    }

    /// Stores what could not be stored before, for example because the disk was full. Never returns.
    pub(super) async fn store_pending(&self) {
        let mut count = self.count.subscribe();
        loop {
            if self.has_pending() {
                tokio::time::sleep(AGAIN).await;
                if self.has_pending() && self.store().is_ok() {
                    tracing::info!("the sign-outs that could not be stored are stored now");
                }
            } else {
                // The sender lives as long as `self`.
                let _ = count.changed().await;
            }
        }
    }

    /// Resolves when `id` is revoked.
    pub(super) async fn added(&self, id: &str) {
        let mut count = self.count.subscribe();
        // `wait_for` checks the current value first, so a revocation before this call counts too. The sender lives as long
        // as `self`, so there is no error to handle.
        let _ = count.wait_for(|_| self.contains(id)).await;
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn reopened(path: &Path) -> Revoked {
        Revoked::open(path.to_owned(), 0).expect("readable")
    }

    #[test]
    fn ended_sessions_leave_the_list() {
        let data = tempfile::tempdir().expect("a directory");
        let path = data.path().join("sessions-revoked");
        reopened(&path).add("old", 10, 5).expect("stored");
        let list = reopened(&path);
        list.add("new", 30, 20).expect("stored");
        assert_eq!(fs::read_to_string(&path).expect("there"), "new 30\n");
        assert!(!Revoked::open(path, 40).expect("readable").contains("new"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_sign_out_that_could_not_be_stored_is_stored_later() {
        let data = tempfile::tempdir().expect("a directory");
        let folder = data.path().join("full");
        let list = reopened(&folder.join("sessions-revoked"));
        // Without the folder, nothing can be written.
        list.add("ann", 10, 5).expect_err("not stored");
        assert!(list.contains("ann") && list.has_pending());
        let stored = async {
            while list.has_pending() {
                tokio::time::sleep(AGAIN).await;
            }
        };
        fs::create_dir(&folder).expect("there is room");
        tokio::select! {
            () = list.store_pending() => unreachable!("it never returns"),
            done = tokio::time::timeout(60 * AGAIN, stored) => done.expect("stored in time"),
        }
        assert!(reopened(&folder.join("sessions-revoked")).contains("ann"));
    }
}
