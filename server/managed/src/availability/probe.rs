//! One request over a new connection, to an API server or to a service.

use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use http::header::{HOST, USER_AGENT};
use http::{Request, StatusCode, Uri};
use http_body_util::Empty;
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use super::strip::Outcome;
use super::unverified;
use crate::connect::{Failed, Way, at, tcp};
use crate::read::{cut, failing_checks};

/// The time for a whole request: name, connection, TLS handshake and answer.
pub(super) const WITHIN: Duration = Duration::from_secs(3);
/// The longest address of a service, as in the definition of Cluster.
const ADDRESS: usize = 1024;

/// Asks the API server whether it is ready.
pub(super) async fn api(way: Arc<Way>, loopback: bool) -> Outcome {
    let asked = async {
        let (status, body) = way.connect(loopback).await?.status("/readyz").await?;
        let failing = failing_checks(&String::from_utf8_lossy(&body));
        let more = if failing.is_empty() { String::new() } else { format!(" Failing checks: {failing}.") };
        Ok((status, more))
    };
    outcome(way.at(), asked).await
}

/// The address of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Service {
    is_https: bool,
    host: String,
    port: u16,
    /// What requests name as host.
    authority: String,
    path: String,
}

impl Service {
    /// `None` if it is not an `http://` or `https://` address of at most 1,024 bytes, or if it has a user name or password.
    pub(super) fn parse(address: &str) -> Option<Self> {
        // `Uri` ignores a fragment.
        if address.len() > ADDRESS || address.contains('#') {
            return None;
        }
        let uri: Uri = address.parse().ok()?;
        let (is_https, usual) = match uri.scheme_str()? {
            "http" => (false, 80),
            "https" => (true, 443),
            _ => return None,
        };
        let authority = uri.authority()?.as_str();
        let host = uri.host()?;
        // `Uri::port` is `None` also for a port that is too large.
        let port = match authority.strip_prefix(host)? {
            "" => usual,
            port => port.strip_prefix(':').filter(|port| !port.starts_with('+'))?.parse().ok()?,
        };
        let host = host.trim_matches(['[', ']']);
        if host.is_empty() || authority.contains('@') {
            return None;
        }
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Some(Self {
            is_https,
            host: host.to_owned(),
            port,
            authority: authority.to_owned(),
            path: if path.starts_with('/') { path.to_owned() } else { format!("/{path}") },
        })
    }

    /// Requests it. A redirect is an answer and is not followed.
    pub(super) async fn ask(self, loopback: bool) -> Outcome {
        let asked = async { Ok((self.status(loopback).await?, String::new())) };
        outcome(at(&self.host, self.port), asked).await
    }

    async fn status(&self, loopback: bool) -> Result<StatusCode, Failed> {
        let stream = tcp(&self.host, self.port, loopback, "the field probeURL").await?;
        if !self.is_https {
            return self.status_over(stream).await;
        }
        let name = ServerName::try_from(self.host.clone()).map_err(|_| Failed::NoSuchName(self.host.clone()))?;
        let broken = |error| Failed::Io(at(&self.host, self.port), error);
        let config = unverified::config().map_err(|error| broken(io::Error::other(error)))?;
        let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.map_err(broken)?;
        self.status_over(stream).await
    }

    async fn status_over(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    ) -> Result<StatusCode, Failed> {
        let not_http = |_| Failed::NotHttp(at(&self.host, self.port));
        let request = Request::get(&self.path).header(HOST, &self.authority).header(USER_AGENT, crd::PRODUCT);
        let request = request.body(Empty::<Bytes>::new()).map_err(|_| Failed::NotHttp(at(&self.host, self.port)))?;
        let (mut sender, driver) = handshake(TokioIo::new(stream)).await.map_err(not_http)?;
        let asked = async { sender.send_request(request).await.map(|answer| answer.status()).map_err(not_http) };
        // When the connection ends, the request ends too, with an answer or without.
        let driving = async {
            let _ = driver.await;
            pending::<Infallible>().await
        };
        tokio::select! {
            status = asked => status,
            never = driving => match never {},
        }
    }
}

/// How a request ends, after at most [`WITHIN`]. `at` names the target.
/// Waits for the status of an answer and what it says about an error of the server: nothing, or a sentence after a space.
async fn outcome(at: String, asked: impl Future<Output = Result<(StatusCode, String), Failed>>) -> Outcome {
    let limited = AssertUnwindSafe(timeout(WITHIN, asked)).catch_unwind();
    match limited.await {
        Ok(Ok(Ok((status, _)))) if status.as_u16() < 500 => Outcome::Answered,
        Ok(Ok(Ok((status, more)))) => Outcome::Failed(format!("It answers {}.{more}", status.as_u16())),
        Ok(Ok(Err(why))) if is_ours(&why) => Outcome::Unasked(Some(cut(&why.to_string()))),
        Ok(Ok(Err(why))) => Outcome::Failed(cut(&why.to_string())),
        Ok(Err(_)) => Outcome::Failed(cut(&Failed::Timeout(at, WITHIN).to_string())),
        Err(_) => Outcome::Unasked(Some("The request failed because of an error in kubeonkube; see the log.".into())),
    }
}

/// Whether the reason lies in this server, so that it says nothing about the cluster.
fn is_ours(why: &Failed) -> bool {
    // EMFILE and ENFILE: this process, or this machine, has too many open files.
    let is_full = |error: &io::Error| matches!(error.raw_os_error(), Some(23 | 24));
    matches!(why, Failed::Address { .. }) || matches!(why, Failed::Io(_, error) if is_full(error))
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    fn service(address: &str) -> Service {
        Service::parse(address).expect(address)
    }

    async fn listening() -> (TcpListener, Service) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let service = service(&format!("http://{}/healthz?a=1", listener.local_addr().unwrap()));
        (listener, service)
    }

    /// Reads a request and answers with `text`.
    async fn answer(listener: &TcpListener, text: &str) -> Option<TcpStream> {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            request.push(stream.read_u8().await.unwrap());
        }
        stream.write_all(text.as_bytes()).await.unwrap();
        // An empty answer ends the connection.
        (!text.is_empty()).then_some(stream)
    }

    #[test]
    fn the_parts_of_an_address_are_read() {
        let read = |address: &str| {
            let Service { is_https, host, port, path, .. } = service(address);
            (is_https, host, port, path)
        };
        assert_eq!(read("http://shop"), (false, "shop".into(), 80, "/".into()));
        assert_eq!(read("https://shop.example.com/a?b=c"), (true, "shop.example.com".into(), 443, "/a?b=c".into()));
        assert_eq!(read("https://[fd12::1]:8443?x"), (true, "fd12::1".into(), 8443, "/?x".into()));
    }

    #[test]
    fn addresses_with_other_parts_are_refused() {
        let long = format!("http://shop/{}", "a".repeat(ADDRESS));
        for bad in [
            "",
            "shop",
            "/healthz",
            "ftp://shop",
            "file:///etc/passwd",
            "http://",
            "http://user@shop",
            "https://user:secret@shop/",
            "http://shop/#a",
            "http://shop:99999",
            "http://shop:80:80",
            "http://shop:",
            "http://shop:+80",
            "http://sh op/",
            "http://shop/\r\nX: y",
            long.as_str(),
        ] {
            assert_eq!(Service::parse(bad), None, "{bad}");
        }
    }

    #[tokio::test]
    async fn refused_addresses_are_not_asked() {
        let (listener, own) = listening().await;
        let Outcome::Unasked(Some(why)) = own.ask(false).await else { panic!("loopback is refused") };
        assert!(why.contains("which the field probeURL names") && why.contains("own pod"), "{why}");
        assert!(listener.accept().now_or_never().is_none());
        for bad in ["http://169.254.169.254/latest", "https://[fd00:ec2::254]/", "http://[::ffff:169.254.169.254]"] {
            let Outcome::Unasked(Some(why)) = service(bad).ask(true).await else { panic!("{bad} is refused") };
            assert!(why.contains("metadata"), "{why}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_service_that_does_not_answer_fails_after_a_while() {
        let (listener, service) = listening().await;
        let at = listener.local_addr().unwrap();
        assert_eq!(service.ask(true).await, Outcome::Failed(format!("{at} doesn't answer within 3 s.")));
    }

    #[tokio::test]
    async fn an_answer_that_is_not_http_is_told() {
        let (listener, service) = listening().await;
        let at = listener.local_addr().unwrap();
        for text in ["", "SSH-2.0-OpenSSH_9.6\r\n"] {
            let (outcome, _) = tokio::join!(service.clone().ask(true), answer(&listener, text));
            let Outcome::Failed(why) = outcome else { panic!("{outcome:?}") };
            assert_eq!(why, format!("{at} closes the connection before its answer, or its answer is not HTTP."));
        }
    }

    #[tokio::test]
    async fn an_endless_body_is_not_read() {
        let (listener, service) = listening().await;
        let head = "HTTP/1.1 404 Not Found\r\nContent-Length: 1000000000000\r\n\r\n";
        let (outcome, _stream) = tokio::join!(service.ask(true), answer(&listener, head));
        assert_eq!(outcome, Outcome::Answered);
    }

    #[test]
    fn a_full_server_says_nothing_about_the_cluster() {
        let failed = |number| Failed::Io("a:1".into(), io::Error::from_raw_os_error(number));
        assert!(is_ours(&failed(24)) && is_ours(&failed(23)));
        assert!(!is_ours(&failed(111)));
    }
}
