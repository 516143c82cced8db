//! A `kube::Client` of the meta-cluster. If that is the lab's own, connections are made inside the lab.
//!
//! An ordinary request fails if the API server doesn't answer within [`ANSWER`]. Watches, followed logs and upgraded
//! connections (exec, port-forward) may be silent for any time, so they use separate connections without this limit.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Request;
use http::header::UPGRADE;
use hyper_timeout::TimeoutConnector;
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::rt::{TokioExecutor, TokioIo};
use kube::client::{Body, ConfigExt};
use kube::{Client, Config};
use tokio::net::TcpStream;
use tower::{Service, ServiceBuilder, service_fn};

use crate::error::Error;
use crate::inside::Inside;

/// Time limit of a TCP connect.
const CONNECT: Duration = Duration::from_secs(5);
/// Time limit of a TCP connect with its TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(15);
/// How long an API server may be silent during a request. An admission webhook may take 30 s
/// (<https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#timeouts>).
const ANSWER: Duration = Duration::from_secs(40);

/// A client of `config`'s API server, inside the lab.
pub(crate) fn inside(config: &Config, inside: Inside) -> Result<Client, Error> {
    bounded(ANSWER, |silence| with_connector(config, Connector(inside), silence))
}

/// A client of an API server that can be reached from outside.
pub(crate) fn outside(config: &Config) -> Result<Client, Error> {
    bounded(ANSWER, |silence| direct(config, silence))
}

/// Combines two clients: one whose connections may be silent for at most `answer`, and one without a limit for streaming
/// requests.
fn bounded(answer: Duration, make: impl Fn(Option<Duration>) -> Result<Client, Error>) -> Result<Client, Error> {
    let (limited, unlimited) = (make(Some(answer))?, make(None)?);
    let namespace = limited.default_namespace().to_owned();
    let service = service_fn(move |request: Request<Body>| {
        let client = if is_streaming(&request) { unlimited.clone() } else { limited.clone() };
        async move { client.send(request).await }
    });
    Ok(Client::new(service, namespace))
}

/// Whether the response may stay open and silent for any time.
fn is_streaming(request: &Request<Body>) -> bool {
    let query = request.uri().query().unwrap_or_default();
    request.headers().contains_key(UPGRADE)
        || query.split('&').any(|pair| ["watch=true", "follow=true"].contains(&pair))
}

/// A client whose connections are made by `connector` and may be silent for at most `silence`.
fn with_connector<C>(config: &Config, connector: C, silence: Option<Duration>) -> Result<Client, Error>
where
    C: Service<http::Uri, Response = TokioIo<TcpStream>, Error = io::Error> + Clone + Send + Sync + 'static,
    C::Future: Send,
{
    let namespace = config.default_namespace.clone();
    let https = config.rustls_https_connector_with_connector(connector).map_err(failed)?;
    let mut https = TimeoutConnector::new(https);
    https.set_connect_timeout(Some(HANDSHAKE));
    https.set_read_timeout(silence);
    // The limit starts with the request, not with the last use of the connection.
    https.set_reset_reader_on_write(true);
    let http: HttpClient<_, Body> = HttpClient::builder(TokioExecutor::new()).build(https);
    let service = ServiceBuilder::new().layer(config.base_uri_layer()).service(http);
    Ok(Client::new(service, namespace))
}

fn direct(config: &Config, silence: Option<Duration>) -> Result<Client, Error> {
    let mut config = config.clone();
    (config.read_timeout, config.reset_reader_on_write) = (silence, true);
    Client::try_from(config).map_err(failed)
}

fn failed(error: kube::Error) -> Error {
    Error::Kubernetes(Box::new(error))
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
                .ok_or_else(|| io::Error::other(format!("the host of {to} is no IP address")))?;
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures::TryStreamExt;
    use k8s_openapi::api::core::v1::Namespace;
    use kube::{
        Api,
        api::{ListParams, WatchEvent, WatchParams},
    };
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
        sync::Notify,
    };

    use super::*;

    const ANSWER_WITHIN: Duration = Duration::from_secs(20);

    /// An API server that answers only a watch, and only after `answer` is notified.
    #[derive(Default)]
    struct Silent {
        watched: Notify,
        answer: Notify,
    }

    impl Silent {
        async fn serve(self: Arc<Self>, server: TcpListener) {
            loop {
                let (stream, _) = server.accept().await.unwrap();
                tokio::spawn(Arc::clone(&self).hold(stream));
            }
        }

        async fn hold(self: Arc<Self>, mut stream: TcpStream) {
            let mut request = [0; 4096];
            let read = stream.read(&mut request).await.unwrap();
            if String::from_utf8_lossy(&request[..read]).contains("watch=true") {
                self.watched.notify_one();
                self.answer.notified().await;
                let event =
                    r#"{"type":"ADDED","object":{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"late"}}}"#;
                let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n";
                stream.write_all(format!("{head}{event}\n").as_bytes()).await.unwrap();
            } else {
                std::future::pending::<()>().await;
            }
        }
    }

    /// The name of the first namespace that a watch reports.
    async fn first_of_a_watch(namespaces: Api<Namespace>) -> Option<String> {
        let events = namespaces.watch(&WatchParams::default(), "0").await.unwrap();
        match std::pin::pin!(events).try_next().await.unwrap() {
            Some(WatchEvent::Added(namespace)) => namespace.metadata.name,
            other => panic!("{other:?}"),
        }
    }

    async fn limits_requests_but_not_watches(make: fn(&Config, Option<Duration>) -> Client) {
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let config = Config::new(format!("http://{}", server.local_addr().unwrap()).parse().unwrap());
        let silent = Arc::new(Silent::default());
        let serving = tokio::spawn(Arc::clone(&silent).serve(server));
        let client = bounded(Duration::from_millis(200), |silence| Ok(make(&config, silence))).unwrap();
        let namespaces: Api<Namespace> = Api::all(client);

        let watch = tokio::spawn(first_of_a_watch(namespaces.clone()));
        tokio::time::timeout(ANSWER_WITHIN, silent.watched.notified()).await.expect("the watch reaches the server");
        // This request starts after the watch. If the watch had the same limit, it would have failed before this request does.
        let listed = tokio::time::timeout(ANSWER_WITHIN, namespaces.list(&ListParams::default())).await;
        assert!(listed.expect("the request ends").is_err());
        silent.answer.notify_one();
        let name = tokio::time::timeout(ANSWER_WITHIN, watch).await.expect("the watch is answered").unwrap();
        assert_eq!(name.as_deref(), Some("late"));
        serving.abort();
    }

    #[tokio::test]
    async fn a_client_inside_the_lab_does_not_hang() {
        limits_requests_but_not_watches(|config, silence| {
            let connector = service_fn(|to: http::Uri| async move {
                TcpStream::connect(to.authority().unwrap().as_str()).await.map(TokioIo::new)
            });
            with_connector(config, connector, silence).unwrap()
        })
        .await;
    }

    #[tokio::test]
    async fn a_client_of_a_given_cluster_does_not_hang() {
        limits_requests_but_not_watches(|config, silence| direct(config, silence).unwrap()).await;
    }
}
