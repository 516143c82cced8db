//! What a person types about a machine.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU16;
use std::str::FromStr;

use crate::input::{Value, checked_text, chosen, quoted};
use crate::name::is_subdomain;

checked_text! {
    /// The name of a machine: an RFC 1123 subdomain, as Kubernetes requires for nodes. Kubespray uses it for the node.
    NodeName, check_node_name
}

checked_text! {
    /// What ssh connects to: a DNS name or an IP address.
    Address, check_address
}

checked_text! {
    /// A login name that can't be mistaken for an option or be interpreted by a shell.
    Login, check_login
}

/// A TCP port: 1 to 65535.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port(NonZeroU16);

/// What a machine becomes in Kubernetes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MachineRole {
    #[default]
    Both,
    ControlPlane,
    Worker,
    /// Neither. The machine is in no group of kubespray.
    None,
}

fn check_node_name(text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Err("Give this machine a name.".into());
    }
    if !is_subdomain(text) {
        return Err(format!(
            "{} can't be a machine's name. It becomes the node's name in Kubernetes: use lower-case letters, digits, “-” \
             and “.”, and start and end with a letter or digit.",
            quoted(text)
        ));
    }
    Ok(())
}

fn check_address(text: &str) -> Result<(), String> {
    if !is_address(text) {
        return Err(format!("{} is neither an IP address nor a DNS name.", quoted(text)));
    }
    // `10.0.0.256` has the characters of a DNS name, but isn't meant as one.
    let is_meant_as_ipv4 = text.chars().all(|c| c.is_ascii_digit() || c == '.');
    if is_meant_as_ipv4 && text.parse::<Ipv4Addr>().is_err() {
        return Err(format!("{} is not an IPv4 address: four numbers from 0 to 255.", quoted(text)));
    }
    Ok(())
}

fn check_login(text: &str) -> Result<(), String> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._-@".contains(c);
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    if text.len() > 64 || !starts_well || !text.chars().all(is_allowed) {
        return Err(format!(
            "{} can't be a login name. Use letters, digits, “-”, “_”, “.” and “@”, and start with a letter, a digit or “_”.",
            quoted(text)
        ));
    }
    Ok(())
}

impl Port {
    #[must_use]
    pub fn number(self) -> u16 {
        self.0.get()
    }
}

impl FromStr for Port {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let port = text.parse().map(Self);
        port.map_err(|_| format!("{} is not a port. Ports are numbers from 1 to 65535.", quoted(text)))
    }
}

impl Value for Port {
    fn parse(text: &str) -> Result<Self, String> {
        text.parse()
    }

    fn text(&self) -> String {
        self.0.to_string()
    }
}

impl MachineRole {
    const ALL: [Self; 4] = [Self::Both, Self::ControlPlane, Self::Worker, Self::None];

    /// The value in the form.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Both => "both",
            Self::ControlPlane => "control_plane",
            Self::Worker => "worker",
            Self::None => "none",
        }
    }
}

impl Value for MachineRole {
    fn parse(text: &str) -> Result<Self, String> {
        chosen(text, &Self::ALL, Self::as_str, "Choose control plane, worker, both or none.")
    }

    fn text(&self) -> String {
        self.as_str().into()
    }
}

/// Whether ansible takes `name` for exactly one host, in an inventory, in `--limit` and in a file name: letters, digits, `-`, `_`
/// and `.`, without `-` or `.` at either end, at most 253 characters. An IPv6 address without brackets is allowed too.
#[must_use]
pub fn is_host_name(name: &str) -> bool {
    is_plain(name) || name.parse::<Ipv6Addr>().is_ok()
}

fn is_address(text: &str) -> bool {
    // ssh takes a zone (fe80::1%eth0) after a link-local address.
    match text.split_once('%') {
        None => is_host_name(text),
        Some((address, zone)) => address.parse::<Ipv6Addr>().is_ok() && is_plain(zone),
    }
}

fn is_plain(name: &str) -> bool {
    let edge = |c: u8| c.is_ascii_alphanumeric() || c == b'_';
    let b = name.as_bytes();
    b.len() <= 253
        && matches!((b.first(), b.last()), (Some(&a), Some(&z)) if edge(a) && edge(z))
        && b.iter().all(|&c| edge(c) || c == b'-' || c == b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_shell_characters_or_an_option_is_refused() {
        for bad in [
            "a;rm -rf /",
            "-a",
            "--limit",
            "a b",
            "$(id)",
            "../x",
            "a/b",
            "ä",
            "a\n",
            "",
            ".",
            "a:b",
            "a,b",
            "!a",
            "a&b",
        ] {
            assert!(!is_host_name(bad), "{bad:?}");
            assert!(Login::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn usual_names_are_accepted() {
        for good in ["node1", "Node_1", "n1.example.com", "10.0.0.1", "fd00::1", "1"] {
            assert!(is_host_name(good), "{good:?}");
        }
        assert!(is_address("fe80::1%eth0") && !is_address("10.0.0.1%x") && !is_address("fe80::1%a;b"));
        assert!(Login::parse("root").is_ok() && Login::parse("ada@example.com").is_ok());
    }

    #[test]
    fn a_node_name_is_a_subdomain() {
        assert!(NodeName::parse("node-1.example.com").is_ok());
        for bad in ["Node1", "node_1", "-a", "a-", "a..b", "", "fd00::1"] {
            assert!(NodeName::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn numbers_that_are_no_ipv4_address_are_refused() {
        assert!(Address::parse("10.0.0.255").is_ok() && Address::parse("m1.example.com").is_ok());
        assert!(Address::parse("10.0.0.256").unwrap_err().contains("0 to 255"));
    }
}
