//! The state of the server and of one request.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

use http::Method;
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use super::openapi::Documents;
use crate::pod_log::PodLogs;
use crate::request::Query;
use crate::verbs::Objects;

/// The user name of requests with the token of the HTTPS port.
pub const ADMIN: &str = "kubeonkube:admin";

/// The state that all requests share.
pub(crate) struct Server {
    pub(crate) objects: Arc<Objects>,
    pub(super) logs: Arc<dyn PodLogs>,
    /// Ends watches and followed logs.
    pub(super) shutdown: CancellationToken,
    /// The bearer token of the HTTPS port.
    pub(crate) token: String,
    /// Requests that panicked.
    pub(crate) panics: AtomicU64,
    documents: OnceLock<Documents>,
}

/// A request without its path and body.
pub(super) struct Call {
    pub(super) method: Method,
    pub(super) query: Query,
    pub(super) accept: Option<String>,
    pub(super) media_type: String,
    pub(super) user_agent: Option<String>,
    pub(super) user: Arc<str>,
}

impl Server {
    pub(crate) fn new(
        objects: Arc<Objects>,
        logs: Arc<dyn PodLogs>,
        shutdown: CancellationToken,
        token: String,
    ) -> Self {
        Self { objects, logs, shutdown, token, panics: AtomicU64::new(0), documents: OnceLock::new() }
    }

    /// Compares digests, so that the time taken reveals nothing about the token.
    pub(super) fn is_token(&self, given: &str) -> bool {
        Sha256::digest(given) == Sha256::digest(&self.token)
    }

    /// The OpenAPI documents, made when first needed.
    pub(super) fn documents(&self) -> &Documents {
        self.documents.get_or_init(|| Documents::new(&self.objects.kinds))
    }
}
