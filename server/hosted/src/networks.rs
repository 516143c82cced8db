//! IPv4 networks.

use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;

/// The addresses that share the first `prefix` bits with `first`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Network {
    first: u32,
    prefix: u32,
}

impl Network {
    /// Whether any address is in both.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        let shorter = self.prefix.min(other.prefix);
        shorter == 0 || (self.first ^ other.first) >> (32 - shorter) == 0
    }

    pub(crate) fn contains(self, address: Ipv4Addr) -> bool {
        self.overlaps(Self { first: address.into(), prefix: 32 })
    }

    pub(crate) fn prefix(self) -> u32 {
        self.prefix
    }

    /// The address of DNS in a network of Services, as kubeadm chooses it.
    pub(crate) fn dns(self) -> Ipv4Addr {
        Ipv4Addr::from(self.first + 10)
    }

    /// The first address that a Service gets.
    pub(crate) fn first_service(self) -> Ipv4Addr {
        Ipv4Addr::from(self.first + 1)
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("“{text}” is not an IPv4 network such as 10.244.0.0/16");
        let (address, prefix) = text.split_once('/').ok_or_else(wrong)?;
        let first: u32 = address.parse::<Ipv4Addr>().map_err(|_| wrong())?.into();
        let prefix: u32 = prefix.parse().ok().filter(|prefix| (1..=32).contains(prefix)).ok_or_else(wrong)?;
        let network = Self { first: first & (u32::MAX << (32 - prefix)), prefix };
        if network.first == first {
            Ok(network)
        } else {
            Err(format!("“{text}” has bits beyond its prefix: write {network}"))
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", Ipv4Addr::from(self.first), self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(text: &str) -> Network {
        text.parse().unwrap()
    }

    #[test]
    fn networks_overlap_if_one_contains_the_other() {
        for (one, other, overlap) in [
            ("10.0.0.0/8", "10.244.0.0/16", true),
            ("10.244.0.0/16", "10.244.0.0/16", true),
            ("10.244.0.0/16", "10.245.0.0/16", false),
            ("10.244.128.0/17", "10.244.0.0/17", false),
            ("10.96.0.0/12", "10.111.255.0/24", true),
            ("10.96.0.0/12", "10.112.0.0/24", false),
        ] {
            assert_eq!(network(one).overlaps(network(other)), overlap, "{one} {other}");
            assert_eq!(network(other).overlaps(network(one)), overlap, "{other} {one}");
        }
        assert!(network("10.96.0.0/16").contains("10.96.3.4".parse().unwrap()));
        assert_eq!(network("10.96.0.0/16").first_service().to_string(), "10.96.0.1");
    }

    #[test]
    fn text_that_is_no_network_is_refused() {
        for text in ["", "10.0.0.0", "10.0.0.0/0", "10.0.0.0/33", "10.0.0/8", "fd00::/8", "10.0.0.0/-1", "a/8"] {
            assert!(text.parse::<Network>().is_err(), "{text}");
        }
        assert!("10.1.2.3/16".parse::<Network>().unwrap_err().contains("10.1.0.0/16"));
    }
}
