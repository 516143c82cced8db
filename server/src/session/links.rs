//! One-time sign-in links of standalone mode.
//!
//! A link's token is known to the person alone; the data directory holds `login/<sha256 of it>`, so whoever may write there
//! (the server's user, and root) can make one: `kubeonkube login` needs no door into the running server. To consume
//! a link is to remove its file, which succeeds once, whoever else tries.

use std::{
    fs,
    io::ErrorKind,
    os::unix::fs::{DirBuilderExt, MetadataExt, chown},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use sha2::{Digest, Sha256};

use super::{SessionError, key, random};

/// How long a link may wait for its person.
pub const WAITS: Duration = Duration::from_hours(1);

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

    /// Makes a link for `user` and returns its token.
    pub fn make(&self, user: &str) -> Result<String, SessionError> {
        self.forget_old();
        let token = random();
        let path = self.file(&token);
        // Complete before it counts: the server must not read a name that is half written.
        let fresh = path.with_extension("new");
        key::write_private(&fresh, user.as_bytes())
            .and_then(|()| self.hand_over(&fresh))
            .and_then(|()| fs::rename(&fresh, &path))
            .map_err(|error| SessionError::File { path, error })?;
        Ok(token)
    }

    /// A link that root made must be readable by the server's own user.
    fn hand_over(&self, file: &Path) -> std::io::Result<()> {
        let server = fs::metadata(&self.directory)?;
        if rustix::process::geteuid().is_root() { chown(file, Some(server.uid()), Some(server.gid())) } else { Ok(()) }
    }

    /// Whether `token` would sign somebody in. Consumes nothing.
    pub fn waits(&self, token: &str) -> bool {
        is_young(&self.file(token))
    }

    /// Consumes the link; returns whom it signs in. None where it is unknown, used or too old.
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

    fn forget_old(&self) {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        for old in entries.map(|entry| entry.path()).filter(|path| !is_young(path)) {
            let _ = fs::remove_file(old);
        }
    }
}

fn is_young(path: &Path) -> bool {
    let age = |meta: fs::Metadata| SystemTime::now().duration_since(meta.modified().ok()?).ok();
    // A file from the future (a clock set back) has no age: it is as good as new.
    fs::metadata(path).is_ok_and(|meta| age(meta).is_none_or(|age| age < WAITS))
}

/// The name that a link made by this process's user signs in with: what the operating system calls them.
pub fn this_person() -> String {
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
    fn a_link_signs_in_once() {
        let data = tempfile::tempdir().expect("a directory");
        let links = Links::open(data.path()).expect("open");
        let token = links.make("ann").expect("made");
        assert!(links.waits(&token) && links.waits(&token), "looking consumed it");
        assert_eq!(links.consume(&token).as_deref(), Some("ann"));
        assert_eq!(links.consume(&token), None);
        assert!(!links.waits(&token));
    }

    #[test]
    fn of_many_who_use_a_link_at_once_one_gets_in() {
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
    fn an_old_link_and_a_guess_are_worthless() {
        let data = tempfile::tempdir().expect("a directory");
        let links = Links::open(data.path()).expect("open");
        let token = links.make("ann").expect("made");
        let old = SystemTime::now() - WAITS - Duration::from_secs(1);
        fs::File::open(links.file(&token)).and_then(|file| file.set_modified(old)).expect("aged");
        assert_eq!(links.consume(&token), None);
        for guess in ["", "../session.key", "a", "%2e"] {
            assert_eq!(links.consume(guess), None);
        }
        links.make("bob").expect("made");
        assert!(!links.file(&token).exists(), "old links pile up");
    }

    #[test]
    fn the_token_itself_is_nowhere_on_disk() {
        let data = tempfile::tempdir().expect("a directory");
        let links = Links::open(data.path()).expect("open");
        let token = links.make("ann").expect("made");
        for entry in fs::read_dir(data.path().join("login")).expect("there").flatten() {
            assert!(!entry.path().to_string_lossy().contains(&token));
            assert!(!fs::read_to_string(entry.path()).expect("text").contains(&token));
        }
    }
}
