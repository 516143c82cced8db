//! One-time sign-in links of standalone mode.
//!
//! The data directory contains a file `login/<sha256 of the token>` for each link; only the link itself contains the token.
//! Every process that may write into the data directory (of the server's user, or of root) can make a link, so
//! `kubeonkube login` works without talking to the running server. To use a link is to remove its file, which succeeds for
//! exactly one of several simultaneous attempts.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, fchown};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use disk::NewFile;
use sha2::{Digest, Sha256};

use super::SessionError;
use crate::config;

/// How long a link can be used.
const VALID_FOR: Duration = Duration::from_hours(1);

/// The links of one data directory.
#[derive(Debug, Clone)]
pub struct Links {
    directory: PathBuf,
}

impl Links {
    /// The links kept under `data`, which must exist.
    pub fn open(data: &Path) -> Result<Self, SessionError> {
        let directory = data.join("login");
        match fs::DirBuilder::new().mode(0o700).create(&directory) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                Err(SessionError::File { path: directory, error })
            }
            _ => Ok(Self { directory }),
        }
    }

    /// The command that prints another link.
    #[must_use]
    pub fn command(&self) -> String {
        command(self.directory.parent().unwrap_or(&self.directory))
    }

    /// Makes a link for `user` and returns its token.
    pub fn make(&self, user: &str) -> Result<String, SessionError> {
        self.remove_old();
        let token = random();
        let path = self.file(&token);
        let write = || {
            let mut new = NewFile::for_path(&path)?;
            new.file().write_all(user.as_bytes())?;
            self.hand_over(new.file())?;
            new.replace()
        };
        write().map_err(|error| SessionError::File { path: path.clone(), error })?;
        Ok(token)
    }

    /// When root makes a link, the server's own user must be able to read it.
    fn hand_over(&self, file: &fs::File) -> io::Result<()> {
        let server = fs::metadata(&self.directory)?;
        if rustix::process::geteuid().is_root() { fchown(file, Some(server.uid()), Some(server.gid())) } else { Ok(()) }
    }

    /// Whether `token` can still be used. Doesn't use it.
    pub fn is_valid(&self, token: &str) -> bool {
        is_young(&self.file(token))
    }

    /// Uses the link and returns the name of the user that it signs in. `None` if it is unknown, used or too old.
    pub fn consume(&self, token: &str) -> Option<String> {
        let path = self.file(token);
        let user = fs::read_to_string(&path).ok().filter(|_| is_young(&path))?;
        fs::remove_file(&path).ok()?;
        Some(user)
    }

    fn file(&self, token: &str) -> PathBuf {
        let digest = Sha256::digest(token);
        self.directory.join(digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
    }

    fn remove_old(&self) {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        for old in entries.map(|entry| entry.path()).filter(|path| !is_young(path)) {
            let _ = fs::remove_file(old);
        }
    }
}

fn is_young(path: &Path) -> bool {
    let age = |meta: fs::Metadata| SystemTime::now().duration_since(meta.modified().ok()?).ok();
    // A modification time in the future (after the clock was set back) gives no age: the link counts as new.
    fs::metadata(path).is_ok_and(|meta| age(meta).is_none_or(|age| age < VALID_FOR))
}

/// The address that signs in with `token` on the server at `address`.
pub(crate) fn url(address: &str, token: &str) -> String {
    format!("{address}/login?token={token}")
}

/// The command that prints another link.
pub(crate) fn command(data: &Path) -> String {
    config::command(&["login"], data)
}

/// 256 random bits, URL-safe.
pub(super) fn random() -> String {
    BASE64_URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>())
}

/// The user name for links that this process makes: the name of the operating system's user.
pub(crate) fn this_user() -> String {
    let fits = |name: &String| {
        (1..=64).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-@".contains(c))
    };
    ["SUDO_USER", "USER", "LOGNAME"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(fits)
        .unwrap_or("admin".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_names_another_data_directory_quoted() {
        assert_eq!(command(&config::data_dir(None).expect("a default")), "kubeonkube login");
        assert_eq!(command(Path::new("/srv/my data")), "kubeonkube login --data-dir '/srv/my data'");
    }

    #[test]
    fn a_link_signs_in_once() {
        let data = tempfile::tempdir().expect("a directory");
        let links = Links::open(data.path()).expect("open");
        let token = links.make("ann").expect("made");
        assert!(links.is_valid(&token) && links.is_valid(&token), "looking at the link used it");
        assert_eq!(links.consume(&token).as_deref(), Some("ann"));
        assert_eq!(links.consume(&token), None);
        assert!(!links.is_valid(&token));
    }

    #[test]
    fn simultaneous_uses_of_a_link_sign_in_once() {
        let data = tempfile::tempdir().expect("a directory");
        let links = Links::open(data.path()).expect("open");
        let token = links.make("ann").expect("made");
        let won = std::thread::scope(|scope| {
            let tries: Vec<_> = (0..16).map(|_| scope.spawn(|| links.consume(&token))).collect();
            tries.into_iter().filter_map(|one| one.join().expect("no panic")).count()
        });
        assert_eq!(won, 1);
    }

    #[test]
    fn an_old_or_guessed_link_is_rejected() {
        let data = tempfile::tempdir().expect("a directory");
        let links = Links::open(data.path()).expect("open");
        let token = links.make("ann").expect("made");
        let old = SystemTime::now() - VALID_FOR - Duration::from_secs(1);
        fs::File::open(links.file(&token)).and_then(|file| file.set_modified(old)).expect("aged");
        assert_eq!(links.consume(&token), None);
        for guess in ["", "../session.key", "a", "%2e"] {
            assert_eq!(links.consume(guess), None);
        }
        links.make("bob").expect("made");
        assert!(!links.file(&token).exists(), "old links are removed");
    }

    #[test]
    fn the_token_is_not_written_to_disk() {
        let data = tempfile::tempdir().expect("a directory");
        let links = Links::open(data.path()).expect("open");
        let token = links.make("ann").expect("made");
        for entry in fs::read_dir(data.path().join("login")).expect("there").flatten() {
            assert!(!entry.path().to_string_lossy().contains(&token));
            assert!(!fs::read_to_string(entry.path()).expect("text").contains(&token));
        }
    }
}
