//! Who has which address. All of it exists in the lab's network namespace only.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The bridge that machines and nodes hang on, and their way out: it leads nowhere.
pub const BRIDGE: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
pub(crate) const BRIDGE_NAME: &str = "lab0";
/// Where machines download releases from.
pub const ARTIFACTS: SocketAddr = SocketAddr::new(IpAddr::V4(BRIDGE), 8000);
/// Pods of the lab's own Kubernetes. Not kubeadm's usual ranges: those belong to the clusters made on machines.
pub(crate) const PODS: &str = "10.78.0.0/16";
pub(crate) const SERVICES: &str = "10.79.0.0/16";
pub(crate) const FIRST_SERVICE: Ipv4Addr = Ipv4Addr::new(10, 79, 0, 1);
pub(crate) const DNS: Ipv4Addr = Ipv4Addr::new(10, 79, 0, 10);
pub(crate) const API_PORT: u16 = 6443;

/// So many machines have an address.
pub const MOST_MACHINES: u8 = 80;

/// Machine `m1`, `m2`, …
pub(crate) const fn machine(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 77, 0, 10 + number)
}

/// Node `n1`, `n2` of the lab's own Kubernetes.
pub(crate) const fn node(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 77, 0, 200 + number)
}

/// The hardware address of whoever has this address. A machine that boots again keeps it, as one with a network card
/// does: with another one its neighbours would send to the old for half a minute.
pub(crate) fn hardware(address: Ipv4Addr) -> String {
    let [a, b, c, d] = address.octets();
    format!("02:00:{a:02x}:{b:02x}:{c:02x}:{d:02x}")
}

/// The pods of one node.
pub(crate) fn pods_of_node(number: u8) -> String {
    format!("10.78.{number}.0/24")
}

/// Where the API server of the lab's own Kubernetes listens.
pub(crate) const fn api_server() -> SocketAddr {
    SocketAddr::new(IpAddr::V4(node(1)), API_PORT)
}
