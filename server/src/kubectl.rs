//! kubectl's way into the embedded API: an HTTPS port, and the kubeconfig that leads there.

use std::{
    fs, io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::Arc,
};

use standalone::Api;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{
    serve::{self, ServeError},
    shutdown::Tasks,
};

/// Opens the port and writes `<data>/kubeconfig`; returns its path.
pub(crate) async fn open(
    api: &Arc<Api>,
    data: &Path,
    listen: SocketAddr,
    tasks: &mut Tasks,
    stop: &CancellationToken,
) -> Result<PathBuf, ServeError> {
    let listener = port(data, listen).await?;
    let address = listener.local_addr().map_err(|error| ServeError::Listen("--kube-listen", listen, error))?;
    let identity = api.identity(&[listen.ip().to_string()])?;
    let kubeconfig = data.join("kubeconfig");
    api.write_kubeconfig(&kubeconfig, &format!("https://{}", reachable(address)), &identity)?;
    let (api, stop) = (api.clone(), stop.clone());
    tasks.spawn("kubectl's port", async move { api.serve_https(listener, identity, stop).await });
    Ok(kubeconfig)
}

/// A listener for kubectl. Any port means: the same as last time if it is free, so that copies of the kubeconfig stay good.
async fn port(data: &Path, listen: SocketAddr) -> Result<TcpListener, ServeError> {
    let kept = data.join("kube-port");
    let last = || fs::read_to_string(&kept).ok()?.trim().parse::<u16>().ok();
    if listen.port() == 0
        && let Some(port) = last()
        && let Ok(listener) = TcpListener::bind((listen.ip(), port)).await
    {
        return Ok(listener);
    }
    let listener = serve::listen("--kube-listen", listen).await?;
    let write = |address: io::Result<SocketAddr>| fs::write(&kept, address?.port().to_string());
    write(listener.local_addr()).map_err(|error| ServeError::Write(kept.clone(), error))?;
    Ok(listener)
}

/// `0.0.0.0` is where one listens, not where one is reached.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V4(v4) if v4.ip().is_unspecified() => (Ipv4Addr::LOCALHOST, v4.port()).into(),
        SocketAddr::V6(v6) if v6.ip().is_unspecified() => (Ipv6Addr::LOCALHOST, v6.port()).into(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn kubectls_port_stays_the_same_over_restarts_while_it_is_free() {
        let data = tempfile::tempdir().expect("a directory");
        let any = "127.0.0.1:0".parse().expect("an address");
        let first = port(data.path(), any).await.expect("a port");
        let number = first.local_addr().expect("bound").port();
        let other = port(data.path(), any).await.expect("another port");
        assert_ne!(other.local_addr().expect("bound").port(), number, "it was taken");
        let number = other.local_addr().expect("bound").port();
        drop(other);
        assert_eq!(port(data.path(), any).await.expect("a port").local_addr().expect("bound").port(), number);
    }
}
