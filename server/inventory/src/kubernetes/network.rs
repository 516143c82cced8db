//! A network in CIDR notation, with the rules of Python's `ipaddress`, which the playbooks use.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// A network such as `10.233.64.0/18`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

/// An address as a number, and the number of its bits.
fn number(address: IpAddr) -> (u128, u8) {
    match address {
        IpAddr::V4(v4) => (u128::from(v4.to_bits()), 32),
        IpAddr::V6(v6) => (v6.to_bits(), 128),
    }
}

impl Network {
    #[must_use]
    pub fn contains(self, address: IpAddr) -> bool {
        let ((own, bits), (other, same)) = (number(self.address), number(address));
        bits == same && own ^ other < 1_u128.checked_shl(u32::from(bits - self.prefix)).unwrap_or(u128::MAX)
    }

    /// The number of leading bits that all its addresses share.
    #[must_use]
    pub fn prefix(self) -> u8 {
        self.prefix
    }

    /// The bits of an address: 32 or 128.
    #[must_use]
    pub fn bits(self) -> u8 {
        number(self.address).1
    }

    /// Whether the two have an address in common.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        self.contains(other.address) || other.contains(self.address)
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (address, prefix) = text.split_once('/').ok_or("it has no prefix length, such as /18")?;
        let address: IpAddr = address.parse().map_err(|_| "it has no valid address before the “/”")?;
        let (own, bits) = number(address);
        let prefix = prefix.parse().ok().filter(|prefix| *prefix <= bits);
        let prefix: u8 = prefix.ok_or_else(|| format!("its prefix length must be a number from 0 to {bits}"))?;
        let hosts = 1_u128.checked_shl(u32::from(bits - prefix)).map_or(u128::MAX, |size| size - 1);
        if own & hosts != 0 {
            return Err("its address has bits after the prefix; use the first address of the network".into());
        }
        Ok(Self { address, prefix })
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(text: &str) -> Network {
        text.parse().unwrap()
    }

    #[test]
    fn a_network_contains_its_addresses_only() {
        let pods = network("10.233.64.0/18");
        for (address, is_in) in
            [("10.233.64.0", true), ("10.233.127.255", true), ("10.233.128.0", false), ("10.233.63.255", false)]
        {
            assert_eq!(pods.contains(address.parse().unwrap()), is_in, "{address}");
        }
        assert!(network("0.0.0.0/0").contains("192.0.2.1".parse().unwrap()));
        assert!(network("::/0").contains("fd00::1".parse().unwrap()));
        assert!(!network("::/0").contains("192.0.2.1".parse().unwrap()));
    }

    #[test]
    fn networks_overlap_if_one_contains_the_other() {
        assert!(network("10.0.0.0/8").overlaps(network("10.233.0.0/18")));
        assert!(network("10.233.0.0/18").overlaps(network("10.0.0.0/8")));
        assert!(!network("10.233.0.0/18").overlaps(network("10.233.64.0/18")));
    }

    #[test]
    fn a_text_that_is_no_network_is_refused_with_the_reason() {
        for (bad, why) in [
            ("10.0.0.0", "no prefix"),
            ("10.0.0/8", "no valid address"),
            ("10.0.0.0/33", "0 to 32"),
            ("10.0.0.1/8", "first address"),
            ("fd00::/129", "0 to 128"),
            ("", "no prefix"),
        ] {
            assert!(bad.parse::<Network>().unwrap_err().contains(why), "{bad}");
        }
    }
}
