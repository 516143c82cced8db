//! Which origin is ours, and which requests to refuse because they come from another one.
//!
//! `Host` is checked on every request: a page of another site that rebinds its DNS name to this machine still sends its own
//! name. `Origin` and `Sec-Fetch-Site` are checked on every request that may change something and on every upgrade: server
//! functions read bodies of any content type, and CORS doesn't apply to WebSockets.

use std::fmt;

use http::uri::Authority;
use http::{HeaderMap, Method, Uri, header};

use crate::config::{PublicUrl, is_loopback_name, without_default_port};

/// Which origin is ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OurOrigin {
    /// The public address only.
    Public(PublicUrl),
    /// The names of the loopback interface, on any port: an SSH tunnel may forward the page to another port.
    Loopback,
}

/// Why a request is refused.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Refusal {
    #[error(
        "This request came for the host {host:?}, and this console is at {ours}. Open it there, or start it with --public-url and the address \
         that people open. A proxy in front of it must pass the name on: “proxy_set_header Host $http_host;” in nginx."
    )]
    Host { host: String, ours: String },
    #[error(
        "This request came from another site ({origin}), and this console is at {ours}. Nothing was changed. Open the console at its own \
         address and try again. A proxy in front of it must pass the name on: “proxy_set_header Host $http_host;” in nginx."
    )]
    Origin { origin: String, ours: String },
    #[error(
        "This request came from {origin}, and this console is at {ours}. Nothing was changed. If a proxy in front of it speaks TLS, start the \
         console with --public-url {origin}."
    )]
    Scheme { origin: String, ours: String },
    #[error("This request is malformed: {0}.")]
    Malformed(&'static str),
}

impl fmt::Display for OurOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Public(url) => url.fmt(f),
            Self::Loopback => f.write_str("localhost or 127.0.0.1"),
        }
    }
}

impl OurOrigin {
    /// Whether to answer a request with this method, URI and headers.
    pub fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        if !uri.path().starts_with('/') {
            return Err(Refusal::Malformed("its target is not a path"));
        }
        if headers.get_all(header::HOST).iter().count() > 1 {
            return Err(Refusal::Malformed("it has more than one Host header"));
        }
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        // `GET http://host/path` has the host in its URI, which then counts instead of the header (RFC 9112, section 3.2.2).
        let host = uri.authority().map(Authority::as_str).or_else(|| text(header::HOST)).unwrap_or_default();
        let ours = match self {
            Self::Public(url) => (without_default_port(host, url.https) == url.authority).then(|| url.to_string()),
            Self::Loopback => {
                let name = host.parse::<Authority>().ok().filter(|name| !name.as_str().contains('@'));
                if name.as_ref().is_some_and(|name| !has_valid_port(name)) {
                    return Err(Refusal::Malformed("the port in its Host header is not a number up to 65535"));
                }
                name.filter(|name| is_loopback_name(name.host())).map(|name| format!("http://{name}"))
            }
        };
        let ours = ours.ok_or_else(|| Refusal::Host { host: host.to_owned(), ours: self.to_string() })?;
        let safe = matches!(*method, Method::GET | Method::HEAD) && !headers.contains_key(header::UPGRADE);
        if safe {
            return Ok(());
        }
        // Browsers send an Origin with every POST and every upgrade. It is `null` if the page hides its origin.
        let origin = text(header::ORIGIN).unwrap_or("no origin");
        if origin.strip_prefix("https://").is_some_and(|name| ours.strip_prefix("http://") == Some(name)) {
            return Err(Refusal::Scheme { origin: origin.to_owned(), ours });
        }
        if !origin.eq_ignore_ascii_case(&ours) {
            return Err(Refusal::Origin { origin: origin.to_owned(), ours });
        }
        // Older browsers don't send this header. If it is present, it must agree.
        match text(header::HeaderName::from_static("sec-fetch-site")) {
            None | Some("same-origin") => Ok(()),
            Some(other) => Err(Refusal::Origin { origin: other.to_owned(), ours }),
        }
    }
}

/// Whether an authority has a port from 0 to 65535, or none. `Authority` accepts any text, with which URLs can't be made.
fn has_valid_port(authority: &Authority) -> bool {
    let is_number = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    match authority.as_str().strip_prefix(authority.host()) {
        Some("") => true,
        Some(rest) => rest.strip_prefix(':').is_some_and(is_number),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderName;

    use super::*;

    fn check(ours: &OurOrigin, method: &Method, headers: &[(&'static str, &str)]) -> Result<(), Refusal> {
        let headers =
            headers.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().expect("ascii")));
        ours.check(method, &Uri::from_static("/clusters"), &headers.collect())
    }

    #[test]
    fn a_foreign_host_name_is_refused_even_for_reading() {
        let public = OurOrigin::Public("https://console.example.com".parse().expect("url"));
        for (ours, good, bad) in [
            (
                &OurOrigin::Loopback,
                &["127.0.0.1:7080", "localhost:9000", "[::1]:7080", "LOCALHOST"][..],
                "evil.example:7080",
            ),
            (&public, &["console.example.com", "Console.Example.com", "console.example.com:443"][..], "127.0.0.1:7080"),
        ] {
            for host in good {
                assert_eq!(check(ours, &Method::GET, &[("host", host)]), Ok(()), "{host}");
            }
            for host in [bad, "", "127.0.0.1.evil.example", "localhost@evil.example", "0.0.0.0:7080"] {
                let refused = Refusal::Host { host: host.into(), ours: ours.to_string() };
                assert_eq!(check(ours, &Method::GET, &[("host", host)]), Err(refused));
            }
        }
    }

    #[test]
    fn malformed_requests_are_refused() {
        let ours = OurOrigin::Loopback;
        for host in ["127.0.0.1:99999", "localhost:abc", "x:abc", "[::1]:65536", "127.0.0.1:", "localhost:+80"] {
            let refused = check(&ours, &Method::GET, &[("host", host)]);
            assert!(matches!(refused, Err(Refusal::Malformed(_) | Refusal::Host { .. })), "{host}: {refused:?}");
        }
        let twice = [("host", "localhost"), ("host", "evil.example")]
            .map(|(name, value)| (HeaderName::from_static(name), value.parse().expect("ascii")));
        let mut headers = HeaderMap::new();
        for (name, value) in twice {
            headers.append(name, value);
        }
        assert!(matches!(ours.check(&Method::GET, &Uri::from_static("/"), &headers), Err(Refusal::Malformed(_))));
        headers.remove(header::HOST);
        headers.append(header::HOST, "localhost".parse().expect("ascii"));
        for target in ["*", "localhost:80"] {
            let refused = ours.check(&Method::GET, &Uri::from_static(target), &headers);
            assert!(matches!(refused, Err(Refusal::Malformed(_))), "{target}: {refused:?}");
        }
    }

    #[test]
    fn changes_and_upgrades_need_our_origin() {
        let host = ("host", "127.0.0.1:7080");
        let ours = OurOrigin::Loopback;
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS] {
            assert!(check(&ours, &method, &[host]).is_err(), "{method} without an Origin");
            for foreign in [
                "null",
                "http://evil.example",
                "https://127.0.0.1:7080",
                "http://127.0.0.1:7081",
                "http://localhost:7080",
            ] {
                assert!(check(&ours, &method, &[host, ("origin", foreign)]).is_err(), "{method} from {foreign}");
            }
            let same = ("origin", "http://127.0.0.1:7080");
            assert_eq!(check(&ours, &method, &[host, same]), Ok(()));
            assert_eq!(check(&ours, &method, &[host, same, ("sec-fetch-site", "same-origin")]), Ok(()));
            for site in ["cross-site", "same-site", "none"] {
                assert!(check(&ours, &method, &[host, same, ("sec-fetch-site", site)]).is_err(), "{site}");
            }
        }
        let by_tls =
            check(&ours, &Method::POST, &[host, ("origin", "https://127.0.0.1:7080")]).unwrap_err().to_string();
        assert!(by_tls.contains("--public-url https://127.0.0.1:7080"), "{by_tls}");
        let upgrade = ("upgrade", "websocket");
        assert!(check(&ours, &Method::GET, &[host, upgrade, ("origin", "http://evil.example")]).is_err());
        assert_eq!(check(&ours, &Method::GET, &[host, upgrade, ("origin", "http://127.0.0.1:7080")]), Ok(()));
    }
}
