//! Opens a port.

use std::io;
use std::net::SocketAddr;

use tokio::net::TcpListener;

/// Why a port can't be opened. The first field is the flag that sets the address.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    #[error("another program already listens on {1}. Choose another address with {0}, or port 0 for any free port.")]
    Taken(&'static str, SocketAddr),
    #[error("can't listen on {0} {1}: {2}.")]
    Failed(&'static str, SocketAddr, io::Error),
}

/// Listens on `address`, which was set by `flag`.
pub(super) async fn listen(flag: &'static str, address: SocketAddr) -> Result<TcpListener, ListenError> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => ListenError::Taken(flag, address),
        _ => ListenError::Failed(flag, address, error),
    })
}
