//! Only our own pages may change anything, and only under the names that are ours.
//!
//! `Host` is checked on every request: a foreign page that rebinds its own DNS name to this machine still says its own name.
//! `Origin` and `Sec-Fetch-Site` are checked on every request that may change something and on every upgrade: server
//! functions read bodies of any content type, and WebSockets know no CORS.

use std::sync::Arc;

use api::Problem;
use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, Method, StatusCode, Uri, header, uri::Authority};

use crate::{
    config::{PublicUrl, is_loopback_name},
    guard::{as_json, as_text},
    router::Web,
};

/// Which origin is ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OurOrigin {
    /// The public address, and no other.
    Public(PublicUrl),
    /// This machine's own names, on any port: an SSH tunnel may bring the page to another one.
    Loopback,
}

/// Why a request is refused.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Refusal {
    #[error(
        "This console does not answer to the name {0:?}. Open it at its own address, or start it with --public-url and the \
         address that people use."
    )]
    Host(String),
    #[error("This request came from another site ({0}). Nothing was changed.")]
    Origin(String),
}

impl OurOrigin {
    /// Whether a request with this method and these headers may go on.
    pub fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        // HTTP/2 says the host in the URI.
        let host = uri.authority().map(Authority::as_str).or_else(|| text(header::HOST)).unwrap_or_default();
        let ours = match self {
            Self::Public(url) => url.authority.eq_ignore_ascii_case(host).then(|| url.to_string()),
            Self::Loopback => {
                let name = host.parse::<Authority>().ok().filter(|name| !name.as_str().contains('@'));
                name.filter(|name| is_loopback_name(name.host())).map(|name| format!("http://{name}"))
            }
        };
        let ours = ours.ok_or_else(|| Refusal::Host(host.to_owned()))?;
        let safe = matches!(*method, Method::GET | Method::HEAD) && !headers.contains_key(header::UPGRADE);
        if safe {
            return Ok(());
        }
        // Browsers send an Origin with every POST and every upgrade, `null` where a page hides its own.
        let origin = text(header::ORIGIN).unwrap_or("none given");
        if !origin.eq_ignore_ascii_case(&ours) {
            return Err(Refusal::Origin(origin.to_owned()));
        }
        // Older browsers don't send this one; where it stands, it must agree.
        match text(header::HeaderName::from_static("sec-fetch-site")) {
            None | Some("same-origin") => Ok(()),
            Some(other) => Err(Refusal::Origin(other.to_owned())),
        }
    }
}

/// The layer. Probes are let through: a kubelet asks by the pod's address, and they tell nothing.
pub async fn layer(State(web): State<Arc<Web>>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if matches!(path, "/healthz" | "/readyz") {
        return next.run(request).await;
    }
    match web.origin.check(request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => {
            tracing::warn!(%refusal, method = %request.method(), path, "refused a request");
            let problem = Problem::Forbidden { message: refusal.to_string() };
            match refusal {
                Refusal::Host(_) => (StatusCode::MISDIRECTED_REQUEST, as_text(&problem).into_body()).into_response(),
                Refusal::Origin(_) if path.starts_with("/api/") => as_json(&problem),
                Refusal::Origin(_) => as_text(&problem),
            }
        }
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
    fn a_name_that_is_not_ours_is_refused_even_for_reading() {
        let public = OurOrigin::Public("https://console.example.com".parse().expect("url"));
        for (ours, good, bad) in [
            (
                &OurOrigin::Loopback,
                &["127.0.0.1:7080", "localhost:9000", "[::1]:7080", "LOCALHOST"][..],
                "evil.example:7080",
            ),
            (&public, &["console.example.com", "Console.Example.com"][..], "127.0.0.1:7080"),
        ] {
            for host in good {
                assert_eq!(check(ours, &Method::GET, &[("host", host)]), Ok(()), "{host}");
            }
            for host in [bad, "", "127.0.0.1.evil.example", "localhost@evil.example", "0.0.0.0:7080"] {
                assert_eq!(check(ours, &Method::GET, &[("host", host)]), Err(Refusal::Host(host.into())));
            }
        }
    }

    #[test]
    fn every_request_that_is_not_a_get_and_every_upgrade_needs_our_origin() {
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
        let upgrade = ("upgrade", "websocket");
        assert!(check(&ours, &Method::GET, &[host, upgrade, ("origin", "http://evil.example")]).is_err());
        assert_eq!(check(&ours, &Method::GET, &[host, upgrade, ("origin", "http://127.0.0.1:7080")]), Ok(()));
    }
}
