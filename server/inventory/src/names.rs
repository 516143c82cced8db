//! Which names are safe to hand to ansible, and which make a Kubernetes node.

use std::net::Ipv6Addr;

/// A name that ansible takes as one host in an inventory, in `--limit` and in a file name: letters, digits, `-`, `_` and
/// `.`, no `-` or `.` at either end, at most 253 characters. A bare IPv6 address is one too.
#[must_use]
pub fn is_host_name(name: &str) -> bool {
    is_plain(name) || name.parse::<Ipv6Addr>().is_ok()
}

/// An RFC 1123 subdomain, as Kubernetes wants for a node; kubespray makes the host's name the node's name.
#[must_use]
pub fn is_node_name(name: &str) -> bool {
    let edge = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit();
    let label = |l: &str| {
        let b = l.as_bytes();
        matches!((b.first(), b.last()), (Some(&a), Some(&z)) if edge(a) && edge(z))
            && b.iter().all(|&c| edge(c) || c == b'-')
    };
    name.len() <= 253 && name.split('.').all(label)
}

/// The same rule as for hosts, without IPv6.
pub(crate) fn is_group_name(name: &str) -> bool {
    is_plain(name)
}

/// A name or IP address that ssh can connect to.
pub(crate) fn is_address(text: &str) -> bool {
    // ssh takes a zone (fe80::1%eth0) after a link-local address.
    let (address, zone) = text.split_once('%').map_or((text, None), |(a, z)| (a, Some(z)));
    match zone {
        None => is_host_name(address),
        Some(zone) => address.parse::<Ipv6Addr>().is_ok() && is_plain(zone),
    }
}

/// A login name that can't be taken for an option or reach a shell.
pub(crate) fn is_user(text: &str) -> bool {
    let ok = |c: char| c.is_ascii_alphanumeric() || "._-@".contains(c);
    text.len() <= 64 && text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') && text.chars().all(ok)
}

/// A variable's name as ansible wants it: an identifier.
pub(crate) fn is_variable(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
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
    fn a_name_that_could_reach_a_shell_or_be_an_option_is_refused() {
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
            assert!(!is_user(bad), "{bad:?}");
        }
    }

    #[test]
    fn names_people_use_are_accepted() {
        for good in ["node1", "Node_1", "n1.example.com", "10.0.0.1", "fd00::1", "1"] {
            assert!(is_host_name(good), "{good:?}");
        }
        assert!(is_address("fe80::1%eth0") && !is_address("10.0.0.1%x") && !is_address("fe80::1%a;b"));
        assert!(is_user("root") && is_user("ada@example.com"));
    }

    #[test]
    fn a_node_name_is_a_subdomain() {
        assert!(is_node_name("node-1.example.com"));
        for bad in ["Node1", "node_1", "-a", "a-", "a..b", "", "fd00::1"] {
            assert!(!is_node_name(bad), "{bad:?}");
        }
    }
}
