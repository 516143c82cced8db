//! Sessions that were signed out before their end. Each is remembered until it would have ended anyway.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use parking_lot::Mutex;
use tokio::sync::watch;

use super::{SessionError, private_file};

pub(super) struct Revoked {
    path: PathBuf,
    /// Session id → when it would have ended, in seconds since the epoch.
    ids: Mutex<HashMap<String, u64>>,
    /// Counts revocations; open sockets and downloads wake up at each.
    count: watch::Sender<u64>,
}

impl Revoked {
    /// Reads the list (one `id ends` per line) and removes from it the sessions that have ended by `now`.
    pub(super) fn open(path: PathBuf, now: u64) -> Result<Self, SessionError> {
        let failed = |error| SessionError::File { path: path.clone(), error };
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failed(error)),
        };
        let entry = |line: &str| line.split_once(' ').and_then(|(id, ends)| Some((id.to_owned(), ends.parse().ok()?)));
        let ids: HashMap<String, u64> = text.lines().filter_map(entry).filter(|(_, ends)| *ends > now).collect();
        if ids.len() < text.lines().count() {
            let kept: String = ids.iter().map(|(id, ends)| format!("{id} {ends}\n")).collect();
            let write = || private_file::beside(&path, kept.as_bytes())?.persist(&path).map_err(io::Error::from);
            write().map_err(failed)?;
        }
        Ok(Self { path, ids: Mutex::new(ids), count: watch::Sender::new(0) })
    }

    pub(super) fn contains(&self, id: &str) -> bool {
        self.ids.lock().contains_key(id)
    }

    /// Revokes a session in this process at once. An error means that the file wasn't written, so a restart forgets it.
    pub(super) fn add(&self, id: &str, ends: u64) -> Result<(), SessionError> {
        self.ids.lock().insert(id.to_owned(), ends);
        self.count.send_modify(|count| *count += 1);
        let append = || {
            let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path)?;
            file.write_all(format!("{id} {ends}\n").as_bytes())?;
            file.sync_data()
        };
        append().map_err(|error| SessionError::File { path: self.path.clone(), error })
    }

    /// Resolves when `id` is revoked.
    pub(super) async fn added(&self, id: &str) {
        let mut count = self.count.subscribe();
        // `wait_for` checks the current value first, so a revocation before this call counts too. The sender lives as long
        // as `self`, so there is no error to handle.
        let _ = count.wait_for(|_| self.contains(id)).await;
    }
}
