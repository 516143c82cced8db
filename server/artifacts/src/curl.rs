//! Downloads with `curl`.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use tempfile::NamedTempFile;

use crate::error::Error;

/// How much a server may send.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Limit {
    /// A text that is read into memory: checksums, manifests, tokens.
    Text,
    /// A file of this size. Its manifest says it.
    Size(u64),
    /// A program, or the file of a plugin.
    File,
}

impl Limit {
    fn bytes(self) -> u64 {
        match self {
            Self::Text => 4 << 20,
            // Also the texts of answers such as 401 and redirects count. The file itself is compared with its digest.
            Self::Size(size) => size.max(64 << 10),
            Self::File => 1 << 30,
        }
    }
}

/// What a server answered, beside the content.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The header `WWW-Authenticate`.
    pub(crate) challenge: Option<String>,
}

/// Downloads a file. Any other status than 200 is an error.
pub(crate) fn download(url: &str, to: &Path, limit: Limit) -> Result<(), Error> {
    match get(url, to, &[], limit)?.status {
        200 => Ok(()),
        status => Err(failed(url, format!("the server answered with status {status}"))),
    }
}

/// Downloads a file, with these headers in the request. Follows redirects; another server doesn't get `Authorization`.
pub(crate) fn get(url: &str, to: &Path, headers: &[String], limit: Limit) -> Result<Answer, Error> {
    let temporary = || NamedTempFile::new().map_err(|error| failed(url, error.to_string()));
    let answered = temporary()?;
    // In a file, because other users can see the arguments of a process.
    let mut given = temporary()?;
    given.write_all(headers.join("\n").as_bytes()).map_err(|error| failed(url, error.to_string()))?;
    // A server with TLS may not redirect to one without.
    let schemes = if url.starts_with("https:") { "=https" } else { "=http,https" };
    let mut command = Command::new("curl");
    command
        // First, or it doesn't count: no settings from the user's .curlrc.
        .arg("--disable")
        .args(["--silent", "--show-error", "--location", "--max-redirs", "5", "--proto", schemes])
        .args(["--connect-timeout", "20", "--speed-time", "60", "--speed-limit", "1000", "--retry", "2"])
        .args(["--write-out", "%{http_code}", "--globoff"])
        .arg("--header")
        .arg(format!("@{}", given.path().display()))
        .arg("--dump-header")
        .arg(answered.path())
        .arg("--output")
        .arg(to)
        .args(["--max-filesize", &limit.bytes().to_string()])
        .args(["--url", url]);
    if matches!(limit, Limit::Text) {
        command.args(["--max-time", "120"]);
    }
    let done = command.output().map_err(|source| Error::NoProgram { program: "curl", source })?;
    if !done.status.success() {
        return Err(failed(url, String::from_utf8_lossy(&done.stderr).trim().trim_start_matches("curl: ").to_owned()));
    }
    // curl compares only sizes that servers announce, before its version 8.4.
    let size = std::fs::metadata(to).map_or(0, |found| found.len());
    if size > limit.bytes() {
        let _gone = std::fs::remove_file(to);
        return Err(failed(url, format!("it is larger than the {} bytes that it may have", limit.bytes())));
    }
    let said = String::from_utf8_lossy(&done.stdout);
    let status = said.trim().parse().map_err(|_| failed(url, format!("curl printed “{said}”")))?;
    let challenge = last_challenge(&std::fs::read_to_string(answered.path()).unwrap_or_default());
    Ok(Answer { status, challenge })
}

fn failed(url: &str, why: String) -> Error {
    Error::Download { url: url.to_owned(), why }
}

/// The last `WWW-Authenticate` in the headers of all answers.
fn last_challenge(headers: &str) -> Option<String> {
    let named = |line: &str| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("www-authenticate").then(|| value.trim().to_owned())
    };
    headers.lines().filter_map(named).next_back()
}
