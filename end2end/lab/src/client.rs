//! A `kube::Client` that reaches the lab's API server from outside: its connections are made inside.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use hyper_util::{
    client::legacy::Client as HttpClient,
    rt::{TokioExecutor, TokioIo},
};
use kube::{
    Client, Config,
    client::{Body, ConfigExt},
};
use tokio::net::TcpStream;
use tower::{Service, ServiceBuilder};

use crate::{error::Error, inside::Inside};

const CONNECT: Duration = Duration::from_secs(5);

/// A client of `config`'s API server, inside the lab.
pub(crate) fn inside(config: &Config, inside: Inside) -> Result<Client, Error> {
    let failed = |error: kube::Error| Error::Kubernetes(Box::new(error));
    let namespace = config.default_namespace.clone();
    let https = config.rustls_https_connector_with_connector(Connector(inside)).map_err(failed)?;
    let http: HttpClient<_, Body> = HttpClient::builder(TokioExecutor::new()).build(https);
    let service = ServiceBuilder::new().layer(config.base_uri_layer()).service(http);
    Ok(Client::new(service, namespace))
}

/// Makes connections in the lab's network.
#[derive(Clone)]
struct Connector(Inside);

impl Service<http::Uri> for Connector {
    type Response = TokioIo<TcpStream>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<TokioIo<TcpStream>>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, to: http::Uri) -> Self::Future {
        let inside = self.0;
        Box::pin(async move {
            let host: IpAddr = to
                .host()
                .and_then(|host| host.parse().ok())
                .ok_or_else(|| io::Error::other(format!("{to} doesn't name an address of the lab")))?;
            let address = SocketAddr::new(host, to.port_u16().unwrap_or(443));
            let stream = tokio::task::spawn_blocking(move || inside.connect(address, CONNECT))
                .await?
                .map_err(|error| io::Error::other(error.to_string()))?;
            stream.set_nonblocking(true)?;
            stream.set_nodelay(true)?;
            Ok(TokioIo::new(TcpStream::from_std(stream)?))
        })
    }
}
