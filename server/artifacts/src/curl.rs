//! Downloads with `curl`.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::error::Error;
use crate::files;
use crate::progress::{self, Progress};
use crate::url::{self, ShownUrl};

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

const CHECK_ADDRESS: &str = "Check the version and the flags for mirrors, then run the command again.";
const CHECK_CERTIFICATES: &str =
    "Install the certificate authority of the server or proxy on this machine, then run the command again.";
const CHECK_DISK: &str = "Check the free space and the permissions of the folder, then run the command again.";
const CHECK_CURL: &str = "Install a newer version of curl.";
const CHECK_LOGIN: &str = "Put the login that the server needs into its URL.";
const CHECK_PROXY: &str = "Put the login that the proxy needs into https_proxy or http_proxy.";
const CHECK_REGISTRY: &str = "The registry refuses downloads without a login, or has no such image.";
const CHECK_NETWORK: &str =
    "Check the network and the proxy (https_proxy, http_proxy, no_proxy), then run the command again.";
const CHECK_SERVER: &str = "Check the server, or try again later.";

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
        status => Err(refused(url, "server", status)),
    }
}

/// Downloads a file, with these headers in the request. Follows redirects; another server doesn't get `Authorization`.
pub(crate) fn get(url: &str, to: &Path, headers: &[String], limit: Limit) -> Result<Answer, Error> {
    get_with(Progress::on_stderr(), url, to, headers, limit)
}

fn get_with<W: Write>(
    shown: Progress<W>,
    url: &str,
    to: &Path,
    headers: &[String],
    limit: Limit,
) -> Result<Answer, Error> {
    let answered = files::beside(to)?;
    // A server with TLS may not redirect to one without.
    let schemes = if url.starts_with("https:") { "=https" } else { "=http,https" };
    let mut command = Command::new("curl");
    command
        // First, or it doesn't count: no settings from the user's .curlrc.
        .arg("--disable")
        .args(["--silent", "--show-error", "--location", "--max-redirs", "5", "--proto", schemes])
        .args(["--connect-timeout", "20", "--speed-time", "60", "--speed-limit", "1000", "--retry", "2"])
        .args(["--write-out", "%{http_code}", "--globoff"])
        .arg("--dump-header")
        .arg(answered.path())
        .arg("--output")
        .arg(to)
        .args(["--max-filesize", &limit.bytes().to_string()])
        .args(["--config", "-"]);
    if url::is_of_this_machine(url) {
        command.args(["--noproxy", "*"]);
    }
    if matches!(limit, Limit::Text) {
        command.args(["--max-time", "120"]);
    }
    let size = || std::fs::metadata(to).map_or(0, |found| found.len());
    let answers = || std::fs::read_to_string(answered.path()).unwrap_or_default();
    let public = ShownUrl::new(url);
    let progress = || progress::text(progress::name(public.as_str()), size(), last_length(&answers()));
    let curl = start(&mut command, &secret_settings(url, headers))
        .map_err(|error| Error::NoProgram { program: "curl", error })?;
    let done = shown.wait(curl, progress).map_err(|error| Error::Download {
        url: ShownUrl::new(url),
        why: format!("the end of curl is unknown: {error}"),
        next: CHECK_SERVER,
    })?;
    if !done.status.success() {
        let why = reason(&String::from_utf8_lossy(&done.stderr))
            .unwrap_or_else(|| format!("curl ended with {}", done.status));
        return Err(Error::Download { url: ShownUrl::new(url), why, next: next_step(done.status.code()) });
    }
    // curl compares only sizes that servers announce, before its version 8.4.
    if size() > limit.bytes() {
        let _gone = std::fs::remove_file(to);
        let why = format!("it is larger than the {} bytes that it may have", limit.bytes());
        return Err(Error::Download { url: ShownUrl::new(url), why, next: CHECK_SERVER });
    }
    let said = String::from_utf8_lossy(&done.stdout);
    let status = said.trim().parse().map_err(|_| Error::Download {
        url: ShownUrl::new(url),
        why: format!("curl printed “{said}” and no status"),
        next: CHECK_SERVER,
    })?;
    let challenge = last_challenge(&answers());
    Ok(Answer { status, challenge })
}

/// What [`refused`] calls a registry.
pub(crate) const REGISTRY: &str = "registry";

/// The error for a status of a server that isn't the file.
pub(crate) fn refused(url: &str, server: &str, status: u16) -> Error {
    let next = match status {
        401 | 403 if server == REGISTRY => CHECK_REGISTRY,
        401 | 403 => CHECK_LOGIN,
        407 => CHECK_PROXY,
        404 | 410 => CHECK_ADDRESS,
        _ => CHECK_SERVER,
    };
    Error::Download { url: ShownUrl::new(url), why: format!("the {server} answered with status {status}"), next }
}

/// The settings that may contain passwords and tokens. curl reads them from its standard input, because other users can see the arguments
/// of a process.
fn secret_settings(url: &str, headers: &[String]) -> String {
    let setting = |name: &str, value: &str| {
        // A line break would start another setting.
        let value: String = value.chars().filter(|c| !c.is_control()).collect();
        format!("{name} = \"{}\"\n", value.replace('\\', r"\\").replace('"', "\\\""))
    };
    let headers = headers.iter().map(|header| setting("header", header));
    std::iter::once(setting("url", url)).chain(headers).collect()
}

/// Starts a program with this standard input.
fn start(command: &mut Command, input: &str) -> io::Result<Child> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // If curl ended before it read everything, its own error says why.
        let _unread = stdin.write_all(input.as_bytes());
    }
    Ok(child)
}

/// The last error that curl printed. With `--retry` it prints one for each attempt.
fn reason(stderr: &str) -> Option<String> {
    let last = stderr.lines().rfind(|line| line.starts_with("curl: "))?.trim_start_matches("curl: ");
    // Its number: “(6) Could not resolve host: dl.k8s.io”.
    let text = last.split_once(") ").filter(|_| last.starts_with('(')).map_or(last, |(_, text)| text);
    match text.split_once('\'') {
        // curl quotes the address of the proxy, with its password.
        Some((message, _)) if message.starts_with("Unsupported proxy") => Some(format!("{message}the proxy's address")),
        _ => Some(masking::hide_in_script(text.trim_end_matches('.'))),
    }
}

/// What the user should do, for the exit code of curl: <https://curl.se/libcurl/c/libcurl-errors.html>.
fn next_step(code: Option<i32>) -> &'static str {
    match code {
        Some(2) => CHECK_CURL,
        Some(3) => CHECK_ADDRESS,
        Some(23) => CHECK_DISK,
        Some(35 | 60 | 77) => CHECK_CERTIFICATES,
        Some(1 | 47 | 63) => CHECK_SERVER,
        _ => CHECK_NETWORK,
    }
}

/// The last `WWW-Authenticate` in the headers of all answers.
fn last_challenge(headers: &str) -> Option<String> {
    values(headers, "www-authenticate").next_back().map(str::to_owned)
}

/// The size of the content that the last answer announces.
fn last_length(headers: &str) -> Option<u64> {
    // Redirects and proxies answer before.
    let last = headers.rfind("\nHTTP/").map_or(headers, |start| &headers[start..]);
    values(last, "content-length").next_back()?.parse().ok()
}

/// The values of a header.
fn values<'h>(headers: &'h str, wanted: &str) -> impl DoubleEndedIterator<Item = &'h str> {
    headers.lines().filter_map(move |line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case(wanted).then(|| value.trim())
    })
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::net::TcpListener;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_reason_is_the_error_of_the_last_attempt() {
        let attempts = "curl: (28) Connection timed out\ncurl: (6) Could not resolve host: a.example\n";
        assert_eq!(reason(attempts).unwrap(), "Could not resolve host: a.example");
        let with_help = "curl: (60) SSL certificate problem: self-signed certificate\nMore details here: https://curl.se/docs/sslcerts.html\n";
        assert_eq!(reason(with_help).unwrap(), "SSL certificate problem: self-signed certificate");
        assert_eq!(reason(""), None);
    }

    #[test]
    fn the_password_of_a_proxy_is_not_shown() {
        let said = "curl: (7) Unsupported proxy scheme for 'ftp://user:hunter22@proxy.example'\n";
        assert_eq!(reason(said).unwrap(), "Unsupported proxy scheme for the proxy's address");
        let said = "curl: (5) Could not use http://user:hunter22@proxy.example\n";
        assert_eq!(reason(said).unwrap(), "Could not use http://(hidden)@proxy.example");
    }

    #[test]
    fn the_length_is_that_of_the_last_answer() {
        let redirect = "HTTP/1.1 302 Found\r\nContent-Length: 5\r\n\r\n";
        assert_eq!(last_length(&format!("{redirect}HTTP/2 200\r\ncontent-length: 78\r\n\r\n")), Some(78));
        assert_eq!(last_length(&format!("{redirect}HTTP/1.1 200 OK\r\n\r\n")), None);
    }

    /// Passes on what is shown.
    struct Screen(mpsc::Sender<String>);

    impl Write for Screen {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            let _closed = self.0.send(String::from_utf8_lossy(text).into_owned());
            Ok(text.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_long_download_shows_how_much_of_it_is_there() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/release/kubelet", listener.local_addr().unwrap());
        let (screen, shown) = mpsc::channel();
        let content = vec![b'x'; 2_000_000];
        let server = thread::spawn(move || {
            let (mut connection, _) = listener.accept().unwrap();
            let request = BufReader::new(connection.try_clone().unwrap()).lines();
            request.map(Result::unwrap).take_while(|line| !line.is_empty()).for_each(drop);
            write!(connection, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", content.len()).unwrap();
            let (first, rest) = content.split_at(1_500_000);
            connection.write_all(first).unwrap();
            // The rest follows only when the progress is seen.
            let seen = |text: String| text == "kubelet: 1 of 2 MB\n";
            while !seen(shown.recv_timeout(Duration::from_secs(60)).expect("the progress is shown")) {}
            connection.write_all(rest).unwrap();
        });
        let file = tempfile::NamedTempFile::new().unwrap();
        let progress = Progress::new(Screen(screen), false, Duration::from_millis(10));
        let answer = get_with(progress, &url, file.path(), &[], Limit::File).unwrap();
        server.join().unwrap();
        assert_eq!((answer.status, files::size(file.path()).unwrap()), (200, 2_000_000));
    }

    #[test]
    fn a_value_is_one_setting() {
        let settings = secret_settings("http://a.example/\"\noutput = \"b", &[r"X: \".to_owned()]);
        assert_eq!(settings, "url = \"http://a.example/\\\"output = \\\"b\"\nheader = \"X: \\\\\"\n");
    }
}
