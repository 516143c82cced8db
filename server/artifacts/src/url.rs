//! URLs in messages.

use std::fmt::{Display, Formatter, Result};

/// A URL as messages show it. The login of a mirror is hidden.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownUrl(String);

impl ShownUrl {
    #[must_use]
    pub fn new(url: &str) -> Self {
        Self(masking::hide_in_script(url))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Display for ShownUrl {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(&self.0)
    }
}

/// Whether this is the URL of a server or of a folder on it. A login must be written so that it can be recognised and hidden: with `%40` for
/// `@`, and `%2F` for `/`.
pub(crate) fn is_base(url: &str) -> bool {
    let Some(Parts { login, server, path }) = parts(url) else { return false };
    let is_plain = |c: char| c.is_ascii_graphic() && !"\"'\\,?#<>@".contains(c);
    is_server(server) && !login.is_empty() && [login, path].into_iter().all(|part| part.chars().all(is_plain))
}

/// Whether its server is this machine, so that nobody on the way could change what it sends.
pub(crate) fn is_of_this_machine(url: &str) -> bool {
    let host = parts(url).map(|parts| parts.server.split(':').next().unwrap_or_default());
    matches!(host, Some("127.0.0.1" | "localhost"))
}

struct Parts<'a> {
    /// `none` if there is none.
    login: &'a str,
    server: &'a str,
    path: &'a str,
}

fn parts(url: &str) -> Option<Parts<'_>> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (login, server) = authority.split_once('@').unwrap_or(("none", authority));
    Some(Parts { login, server, path })
}

/// `host`, `host:port` or `[address]:port`
fn is_server(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !text.ends_with(']') => (host, port),
        _ => (text, "443"),
    };
    let in_host = |c: char| c.is_ascii_alphanumeric() || ".-_[]:".contains(c);
    !host.is_empty() && host.chars().all(in_host) && port.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_hidden_and_the_rest_is_shown() {
        let shown = |url: &str| ShownUrl::new(url).to_string();
        for login in ["user:hunter22", "user:h", "token", "user:%40%2F"] {
            assert_eq!(
                shown(&format!("https://{login}@a.example:8443/b/kubelet")),
                "https://(hidden)@a.example:8443/b/kubelet"
            );
        }
        for plain in [
            "https://dl.k8s.io/release/v1.36.4/bin/linux/amd64/kubelet.sha256",
            "http://127.0.0.1:5000/v2/etcd/blobs/sha256:1f3a",
            "https://auth.example/token?service=registry&scope=repository:etcd:pull",
        ] {
            assert_eq!(shown(plain), plain);
        }
    }

    #[test]
    fn the_server_decides_whether_it_is_this_machine() {
        for own in ["http://127.0.0.1:8080/k8s", "http://user:x@localhost", "http://localhost:80"] {
            assert!(is_of_this_machine(own), "{own}");
        }
        for other in
            ["http://localhost:x@mirror.example/", "http://localhost.example", "http://mirror.example/localhost"]
        {
            assert!(!is_of_this_machine(other), "{other}");
        }
    }

    #[test]
    fn a_base_is_a_server_or_a_folder_on_it() {
        for good in [
            "https://dl.k8s.io",
            "http://127.0.0.1:8080/",
            "https://[::1]:8443/a/b",
            "https://[::1]",
            "https://user:p%40ss@mirror.example:8443/k8s",
        ] {
            assert!(is_base(good), "{good}");
        }
        for bad in [
            "dl.k8s.io",
            "ftp://dl.k8s.io",
            "https://",
            "https://user:a/b@mirror.example",
            "https://user:12/b@mirror.example",
            "https://user:a@b@mirror.example",
            "https://user:a#b@mirror.example",
            "https://user:a b@mirror.example",
            "https://@mirror.example",
            "https://mirror.example:port",
        ] {
            assert!(!is_base(bad), "{bad}");
        }
    }
}
