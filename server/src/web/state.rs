//! What all handlers share.

use std::sync::Arc;

use api::Backend;
use axum::extract::Request;
use axum::response::Response;
use disk::Room;
use futures::future::BoxFuture;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::assets::Site;
use super::origin::OurOrigin;
use super::readiness::Readiness;
use crate::audit::Audit;
use crate::oidc::Provider;
use crate::session::{Session, Sessions, SignIn};

/// The state of the web server.
pub struct Web {
    pub backend: Backend,
    pub sessions: Sessions,
    pub sign_in: SignIn,
    /// Where people can sign in instead of pasting a token.
    pub provider: Option<Arc<dyn Provider>>,
    /// `None`: there is no audit log.
    pub audit: Option<Arc<Audit>>,
    pub origin: OurOrigin,
    pub site: Site,
    pub pages: Pages,
    pub readiness: Readiness,
    /// The room on the disk of the data directory.
    pub room: watch::Receiver<Room>,
    /// Cancelled when the server stops.
    pub stop: CancellationToken,
    /// The tasks of open sockets. A stop waits for them.
    pub sockets: TaskTracker,
}

/// The pages and their server functions.
#[derive(Clone)]
pub struct Pages {
    /// The routes of pages, in axum's syntax.
    pub addresses: Vec<String>,
    /// Renders the page at the request's address.
    pub render: Handler,
    /// Runs the server function at the request's address.
    pub call: Handler,
}

/// An asynchronous function from request to response.
pub type Handler = Arc<dyn Fn(Request) -> BoxFuture<'static, Response> + Send + Sync>;

impl Web {
    /// Resolves when `session` ends, for whatever reason.
    pub(crate) async fn ended(&self, session: &Session) {
        self.sessions.ended(session, &self.sign_in).await;
    }
}
