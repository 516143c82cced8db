//! Opens a port.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use rustix::io::Errno;
use socket2::{Domain, Protocol, Socket, Type};
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
///
/// `[::]` also accepts IPv4, whatever the kernel's default is. On a machine without IPv6, it is `0.0.0.0`. So one setting works in pods of
/// every Kubernetes cluster.
pub(super) async fn listen(flag: &'static str, address: SocketAddr) -> Result<TcpListener, ListenError> {
    let opened = match address {
        SocketAddr::V6(any) if any.ip().is_unspecified() => match both_families(address) {
            Err(error) if has_no_ipv6(&error) => TcpListener::bind((Ipv4Addr::UNSPECIFIED, address.port())).await,
            opened => opened,
        },
        _ => TcpListener::bind(address).await,
    };
    opened.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => ListenError::Taken(flag, address),
        _ => ListenError::Failed(flag, address, error),
    })
}

/// How many connections may wait to be accepted, as tokio sets it.
const BACKLOG: i32 = 1024;

fn both_families(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::IPV6, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_only_v6(false)?;
    // As tokio does: a port can be used again while old connections on it time out.
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

/// A kernel that was started with `ipv6.disable=1` knows no such sockets. With the setting `disable_ipv6`, it has no such addresses.
fn has_no_ipv6(error: &io::Error) -> bool {
    [Errno::AFNOSUPPORT, Errno::ADDRNOTAVAIL].iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;

    use tokio::net::TcpStream;

    use super::*;

    #[tokio::test]
    async fn all_addresses_of_both_families_are_listened_on() {
        let listener = listen("--health-listen", "[::]:0".parse().unwrap()).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
        // Where IPv6 is turned off, `[::]` may exist without `::1`.
        if TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).await.is_ok() {
            TcpStream::connect((Ipv6Addr::LOCALHOST, port)).await.unwrap();
        }
        let taken = listen("--health-listen", ([0; 16], port).into()).await.unwrap_err();
        assert!(matches!(taken, ListenError::Taken("--health-listen", _)), "{taken}");
    }

    #[test]
    fn only_a_missing_ipv6_falls_back_to_ipv4() {
        for (errno, missing) in [(Errno::AFNOSUPPORT, true), (Errno::ADDRNOTAVAIL, true), (Errno::ACCESS, false)] {
            assert_eq!(has_no_ipv6(&io::Error::from_raw_os_error(errno.raw_os_error())), missing, "{errno}");
        }
    }
}
