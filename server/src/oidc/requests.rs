//! Requests to the provider.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use kube::Config;
use kube::client::ConfigExt;
use oauth2::{HttpRequest, HttpResponse};
use tokio::time::timeout;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;

/// How long the provider may take for one answer.
const ANSWERED_WITHIN: Duration = Duration::from_secs(10);

/// The largest answer, in bytes.
const ANSWER_LIMIT: usize = 1024 * 1024;

/// Why requests can't be sent at all.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    #[error("--oidc-ca-file {0}: {1}.")]
    CaFile(PathBuf, String),
    #[error("requests to the OIDC provider can't be sent: {0}.")]
    Tls(kube::Error),
}

/// Sends requests, follows no redirects.
#[derive(Clone)]
pub(super) struct Http {
    send: Arc<dyn Fn(HttpRequest) -> futures::future::BoxFuture<'static, io::Result<HttpResponse>> + Send + Sync>,
}

impl Http {
    /// `ca` has the certificates of the authorities to trust. The default are those of the operating system.
    pub(super) fn new(ca: Option<&Path>) -> Result<Self, HttpError> {
        // The TLS of the Kubernetes client. The address isn't used.
        let mut tls = Config::new(http::Uri::from_static("https://localhost"));
        tls.root_cert = ca.map(certificates).transpose()?;
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_connect_timeout(Some(ANSWERED_WITHIN));
        let connector = tls.rustls_https_connector_with_connector(connector).map_err(HttpError::Tls)?;
        let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build(connector);
        let send = move |request: HttpRequest| -> futures::future::BoxFuture<'static, io::Result<HttpResponse>> {
            let answer = client.request(request.map(|body| Full::new(Bytes::from(body))));
            Box::pin(async move {
                let whole = async {
                    let (parts, body) = answer.await.map_err(|error| io::Error::other(innermost(&error)))?.into_parts();
                    let body = Limited::new(body, ANSWER_LIMIT).collect().await.map_err(io::Error::other)?;
                    Ok(HttpResponse::from_parts(parts, body.to_bytes().to_vec()))
                };
                timeout(ANSWERED_WITHIN, whole).await.unwrap_or_else(|_| Err(io::Error::other("it doesn't answer")))
            })
        };
        Ok(Self { send: Arc::new(send) })
    }

    /// Answers from a function instead of a provider.
    #[cfg(test)]
    pub(super) fn scripted(answer: impl Fn(HttpRequest) -> io::Result<HttpResponse> + Send + Sync + 'static) -> Self {
        Self { send: Arc::new(move |request| Box::pin(std::future::ready(answer(request)))) }
    }

    pub(super) async fn send(&self, request: HttpRequest) -> io::Result<HttpResponse> {
        (self.send)(request).await
    }
}

/// The reason at the end of the chain: the outer errors only say that a request failed.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

fn certificates(file: &Path) -> Result<Vec<Vec<u8>>, HttpError> {
    let failed = |why: &dyn ToString| HttpError::CaFile(file.to_owned(), why.to_string());
    let read = CertificateDer::pem_file_iter(file).map_err(|error| failed(&error))?;
    let found: Vec<_> =
        read.map(|one| one.map(|one| one.to_vec())).collect::<Result<_, _>>().map_err(|error| failed(&error))?;
    if found.is_empty() { Err(failed(&"it contains no certificate")) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_authorities_must_have_a_certificate() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let error = Http::new(Some(file.path())).err().expect("refused").to_string();
        assert!(error.contains("--oidc-ca-file") && error.contains("no certificate"), "{error}");
        assert!(matches!(Http::new(Some(Path::new("/nowhere/ca.pem"))), Err(HttpError::CaFile(..))));
    }
}
