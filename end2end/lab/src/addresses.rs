//! The addresses of the lab. They exist only in the lab's network namespace.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The bridge that connects machines and nodes, and their default gateway. It forwards nothing to the computer's network.
pub const BRIDGE: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
pub(crate) const BRIDGE_NAME: &str = "lab0";
/// The server from which machines download releases.
pub const ARTIFACTS: SocketAddr = SocketAddr::new(IpAddr::V4(BRIDGE), 8000);
/// An address that no machine has, for control planes that share one.
pub const COMMON: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 150);
/// Pods of the lab's own Kubernetes. kubeadm's usual ranges are left to clusters that are made on machines.
pub(crate) const PODS: &str = "10.78.0.0/16";
pub(crate) const SERVICES: &str = "10.79.0.0/16";
pub(crate) const FIRST_SERVICE: Ipv4Addr = Ipv4Addr::new(10, 79, 0, 1);
pub(crate) const DNS: Ipv4Addr = Ipv4Addr::new(10, 79, 0, 10);
pub(crate) const API_PORT: u16 = 6443;

/// The largest number of machines: there are no more addresses.
pub const MOST_MACHINES: u8 = 80;

/// The address of machine `m1`, `m2`, …
pub(crate) const fn machine(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 77, 0, 10 + number)
}

/// The address of node `n1` or `n2` of the lab's own Kubernetes.
pub(crate) const fn node(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 77, 0, 200 + number)
}

/// The MAC address of the machine with this IP address. A machine must keep it over reboots, like a real network card:
/// otherwise its neighbours would send to the old MAC address for half a minute.
pub(crate) fn hardware(address: Ipv4Addr) -> String {
    let [a, b, c, d] = address.octets();
    format!("02:00:{a:02x}:{b:02x}:{c:02x}:{d:02x}")
}

/// The addresses of the pods on one node.
pub(crate) fn pods_of_node(number: u8) -> String {
    format!("10.78.{number}.0/24")
}

/// Where the API server of the lab's own Kubernetes listens.
pub(crate) const fn api_server() -> SocketAddr {
    SocketAddr::new(IpAddr::V4(node(1)), API_PORT)
}
