//! The HTTPS port for kubectl.

use axum::body::Body;
use connections::Limits;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::api::Api;
use crate::identity::TlsIdentity;

impl Api {
    /// Serves kubectl on `listener` until `shutdown`, or until the API closes.
    pub async fn serve_https(
        &self,
        listener: TcpListener,
        identity: TlsIdentity,
        limits: Limits,
        shutdown: CancellationToken,
    ) {
        let acceptor = TlsAcceptor::from(identity.config);
        let stop = CancellationToken::new();
        let port = connections::serve(
            listener,
            limits,
            |socket| acceptor.accept(socket),
            self.service::<Body>(),
            stop.clone(),
        );
        let until = async {
            tokio::select! { () = shutdown.cancelled() => {}, () = self.shutdown().cancelled() => {} }
            stop.cancel();
        };
        tokio::join!(port, until);
    }
}
