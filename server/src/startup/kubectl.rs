//! kubectl's access to the embedded API: an HTTPS port, and a kubeconfig for it.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use connections::Limits;
use standalone::Api;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::listen::{ListenError, listen};
use super::tasks::Tasks;

/// The flag that sets the address.
const FLAG: &str = "--kube-listen";

/// Why kubectl can't be given access.
#[derive(Debug, thiserror::Error)]
pub enum KubectlError {
    #[error(transparent)]
    Listen(#[from] ListenError),
    #[error(transparent)]
    Identity(#[from] standalone::IdentityError),
    #[error("can't write {0}: {1}. Check that you own the data directory and that its disk has space.")]
    Write(PathBuf, io::Error),
}

/// Opens the port and writes `<data>/kubeconfig`. Returns the path of that file.
pub(super) async fn open(
    api: &Arc<Api>,
    data: &Path,
    address: SocketAddr,
    limits: Limits,
    tasks: &mut Tasks,
    stop: &CancellationToken,
) -> Result<PathBuf, KubectlError> {
    let listener = port(data, address).await?;
    let bound = listener.local_addr().map_err(|error| ListenError::Failed(FLAG, address, error))?;
    let identity = api.identity(&[address.ip().to_string()])?;
    let kubeconfig = data.join("kubeconfig");
    api.write_kubeconfig(&kubeconfig, &format!("https://{}", reachable(bound)), &identity)?;
    let (api, stop) = (api.clone(), stop.clone());
    tasks.spawn("kubectl's port", async move { api.serve_https(listener, identity, limits, stop).await });
    Ok(kubeconfig)
}

/// A listener for kubectl. Port 0 takes the port of the last start if it is free, so that copies of the kubeconfig stay valid.
async fn port(data: &Path, address: SocketAddr) -> Result<TcpListener, KubectlError> {
    let kept = data.join("kube-port");
    let last = || fs::read_to_string(&kept).ok()?.trim().parse::<u16>().ok();
    if address.port() == 0
        && let Some(port) = last()
        && let Ok(listener) = TcpListener::bind((address.ip(), port)).await
    {
        return Ok(listener);
    }
    let listener = listen(FLAG, address).await?;
    let write = |bound: io::Result<SocketAddr>| disk::save(&kept, bound?.port().to_string().as_bytes());
    write(listener.local_addr()).map_err(|error| KubectlError::Write(kept.clone(), error))?;
    Ok(listener)
}

/// `0.0.0.0` means "listen on all addresses"; a client on this machine connects to loopback instead.
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
    async fn a_restart_keeps_the_port_for_kubectl_if_it_is_free() {
        let data = tempfile::tempdir().expect("a directory");
        let any = "127.0.0.1:0".parse().expect("an address");
        let first = port(data.path(), any).await.expect("a port");
        let number = first.local_addr().expect("bound").port();
        let other = port(data.path(), any).await.expect("another port");
        assert_ne!(other.local_addr().expect("bound").port(), number, "the first port is in use");
        let number = other.local_addr().expect("bound").port();
        drop(other);
        assert_eq!(port(data.path(), any).await.expect("a port").local_addr().expect("bound").port(), number);
    }
}
