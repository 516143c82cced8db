//! The audit log (`--audit-log`): one JSON line for each change, each download and each sign-in, with its result.
//!
//! [`Audited`] is a backend around the real one, so a server function can't forget to record. Lines contain names and fixed words only:
//! no text of a form, a message or a file, so no secret.

mod backend;

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::Arc;

use api::{Backend, Problem, User};
use axum::Extension;
use backend::Audited;
use connections::Peer;
use http::request::Parts;
use jiff::Timestamp;
use parking_lot::Mutex;
use serde::Serialize;

/// The longest name in a line, in characters. Names of objects have at most 253.
const LONGEST: usize = 253;

/// Where lines are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditLog {
    /// Standard output.
    Stdout,
    File(PathBuf),
}

/// Writes lines.
pub struct Audit {
    to: AuditLog,
    /// One line at a time.
    writing: Mutex<()>,
}

impl Audit {
    pub fn new(to: AuditLog) -> Self {
        Self { to, writing: Mutex::new(()) }
    }

    /// Whether lines can be written. Creates the file, which only the server's user may read.
    pub fn check(&self) -> io::Result<()> {
        self.write("")
    }

    /// The file is opened for each line, so it can be renamed at any time.
    fn write(&self, text: &str) -> io::Result<()> {
        let _one = self.writing.lock();
        match &self.to {
            AuditLog::Stdout if text.is_empty() => Ok(()),
            AuditLog::Stdout => disk::print(text),
            AuditLog::File(path) => {
                let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
                file.write_all(text.as_bytes())
            }
        }
    }
}

/// Who makes a request, and from where.
#[derive(Clone)]
pub struct Caller {
    audit: Arc<Audit>,
    /// The other end of the connection: behind a proxy, the proxy.
    address: Option<IpAddr>,
    /// What the request says about its origin. Every client can write this header, so it counts only behind a proxy that sets it.
    forwarded_for: Option<String>,
}

/// What is done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deed {
    pub verb: &'static str,
    pub kind: &'static str,
    pub name: String,
    /// The cluster, if the object is another one.
    pub cluster: Option<String>,
    /// What of the object, such as `inventory`.
    pub part: Option<&'static str>,
}

/// A line.
#[derive(Serialize)]
struct Line<'a> {
    time: String,
    user: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<IpAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    forwarded_for: Option<&'a str>,
    verb: &'static str,
    kind: &'static str,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<String>,
    /// The operation that was submitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<String>,
    result: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// Of an invalid form: the names of the fields.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fields: Vec<String>,
}

impl Caller {
    pub fn of(audit: Arc<Audit>, request: &Parts) -> Self {
        let forwarded = request.headers.get("x-forwarded-for").and_then(|value| value.to_str().ok());
        let address = request.extensions.get::<Peer>().map(Peer::address);
        Self { audit, address, forwarded_for: forwarded.map(plain) }
    }

    /// `backend`, which records what this caller does.
    #[must_use]
    pub fn backend(&self, backend: &Backend) -> Backend {
        Audited::over(backend.clone(), self.clone())
    }

    /// Records something that is done, or refused. `operation` is one that was submitted.
    pub fn record(&self, user: &str, deed: &Deed, operation: Option<&str>, outcome: Result<(), &Problem>) {
        let (result, reason) = match outcome {
            Ok(()) => ("allowed", None),
            Err(problem) => {
                let (result, reason) = word(problem);
                (result, Some(reason))
            }
        };
        let fields = match outcome {
            Err(Problem::Invalid { fields, .. }) => fields.iter().map(|one| plain(&one.field)).collect(),
            _ => Vec::new(),
        };
        let line = Line {
            time: Timestamp::now().to_string(),
            user,
            address: self.address,
            forwarded_for: self.forwarded_for.as_deref(),
            verb: deed.verb,
            kind: deed.kind,
            name: plain(&deed.name),
            part: deed.part,
            cluster: deed.cluster.as_deref().map(plain),
            operation: operation.map(plain),
            result,
            reason,
            fields,
        };
        let text = serde_json::to_string(&line).expect("strings") + "\n";
        if let Err(error) = self.audit.write(&text) {
            // The deed is done already. The line isn't lost where this log is collected.
            tracing::error!(%error, line = text.trim_end(), "a line of the audit log could not be written");
        }
    }

    /// Records that a person signs in or out, or is refused. The name of a refused one isn't known.
    pub fn session(&self, verb: &'static str, user: &str, outcome: Result<(), &Problem>) {
        self.record(user, &Deed { verb, kind: "Session", ..Deed::default() }, None, outcome);
    }

    async fn watch<T>(
        &self,
        user: &User,
        deed: Deed,
        operation: impl Fn(&T) -> Option<String>,
        call: impl Future<Output = Result<T, Problem>>,
    ) -> Result<T, Problem> {
        let answer = call.await;
        let submitted = answer.as_ref().ok().and_then(operation);
        self.record(&user.name, &deed, submitted.as_deref(), answer.as_ref().map(|_| ()));
        answer
    }
}

/// The backend for a request: if there is an audit log, one that records.
pub fn recorded(backend: &Backend, caller: Option<Extension<Caller>>) -> Backend {
    caller.map_or_else(|| backend.clone(), |Extension(caller)| caller.backend(backend))
}

/// The result, and why it isn't `allowed`. No message: it may quote what a person typed.
fn word(problem: &Problem) -> (&'static str, &'static str) {
    match problem {
        Problem::SignedOut => ("refused", "signed-out"),
        Problem::Forbidden { .. } => ("refused", "forbidden"),
        Problem::NotFound { .. } => ("refused", "not-found"),
        Problem::Conflict { .. } => ("refused", "conflict"),
        Problem::Invalid { .. } => ("refused", "invalid"),
        Problem::BadRequest { .. } => ("refused", "bad-request"),
        Problem::TooLarge { .. } => ("refused", "too-large"),
        Problem::Unavailable { .. } => ("failed", "unavailable"),
        Problem::Internal => ("failed", "internal"),
    }
}

/// Without control characters, and not too long.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_line_has_names_and_fixed_words_only() {
        let data = tempfile::tempdir().expect("a directory");
        let path = data.path().join("audit.log");
        let audit = Arc::new(Audit::new(AuditLog::File(path.clone())));
        audit.check().expect("writable");
        assert_eq!(fs::metadata(&path).expect("made").permissions().mode() & 0o777, 0o600);
        let request = http::Request::get("/").header("x-forwarded-for", "203.0.113.9, 10.0.0.1").body(()).expect("one");
        let caller = Caller::of(audit, &request.into_parts().0);
        let deed =
            Deed { verb: "save", kind: "Cluster", name: "prod\n{}".into(), part: Some("variables"), ..Deed::default() };
        let problem = Problem::field("text", "line 3: `hunter2` is no mapping");
        caller.record("ann", &deed, None, Err(&problem));
        // A tool that rotates logs renames the file.
        fs::rename(&path, data.path().join("audit.log.1")).expect("renamed");
        caller.record("ann", &deed, Some("ping-1"), Ok(()));
        let old = fs::read_to_string(data.path().join("audit.log.1")).expect("there");
        assert!(!old.contains("hunter2") && old.ends_with('\n') && old.lines().count() == 1, "{old}");
        let line: serde_json::Value = serde_json::from_str(&old).expect("JSON");
        assert_eq!(
            (&line["user"], &line["name"], &line["part"]),
            (&"ann".into(), &"prod{}".into(), &"variables".into())
        );
        assert_eq!((&line["result"], &line["reason"]), (&"refused".into(), &"invalid".into()));
        assert_eq!((&line["fields"][0], &line["forwarded_for"]), (&"text".into(), &"203.0.113.9, 10.0.0.1".into()));
        line["time"].as_str().expect("text").parse::<Timestamp>().expect("a time");
        let new: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).expect("there")).expect("JSON");
        assert_eq!(
            (&new["result"], &new["operation"], &new["reason"]),
            (&"allowed".into(), &"ping-1".into(), &serde_json::Value::Null)
        );
    }
}
