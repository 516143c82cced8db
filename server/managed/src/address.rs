//! Which addresses the server connects to.

use std::net::IpAddr;

/// Why this address is refused; `None` if it is allowed.
///
/// Link-local addresses are refused always: most clouds have their metadata service there, which gives out credentials. Loopback is refused
/// unless this server runs on the machine of its user (standalone): in a cluster it is the server's own pod.
pub(crate) fn refused(address: IpAddr, loopback: bool) -> Option<&'static str> {
    let address = address.to_canonical();
    let link_local = match address {
        IpAddr::V4(v4) => v4.is_link_local(),
        // fd00:ec2::254 is the metadata service of AWS.
        IpAddr::V6(v6) => v6.is_unicast_link_local() || v6.segments()[..2] == [0xfd00, 0xec2],
    };
    if link_local {
        Some("link-local addresses are not contacted, because clouds have their metadata services there")
    } else if address.is_unspecified() || address.is_multicast() {
        Some("that is not the address of a machine")
    } else if address.is_loopback() && !loopback {
        Some("in a cluster, a loopback address is kubeonkube's own pod")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_services_are_refused_and_loopback_on_request() {
        for bad in
            ["169.254.169.254", "fe80::1", "fd00:ec2::254", "0.0.0.0", "::", "224.0.0.1", "::ffff:169.254.169.254"]
        {
            assert!(refused(bad.parse().unwrap(), true).is_some(), "{bad}");
        }
        for own in ["127.0.0.1", "127.8.0.1", "::1", "::ffff:127.0.0.1"] {
            assert!(refused(own.parse().unwrap(), false).is_some(), "{own}");
            assert!(refused(own.parse().unwrap(), true).is_none(), "{own}");
        }
        for good in ["10.0.0.1", "192.168.1.2", "203.0.113.7", "fd12::1"] {
            assert!(refused(good.parse().unwrap(), false).is_none(), "{good}");
        }
    }
}
