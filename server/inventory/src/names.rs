//! Which names are safe to pass to ansible, and which can be the name of a Kubernetes node.

use std::net::Ipv6Addr;

/// Whether ansible takes `name` for exactly one host, in an inventory, in `--limit` and in a file name: letters, digits,
/// `-`, `_` and `.`, without `-` or `.` at either end, at most 253 characters. An IPv6 address without brackets is allowed
/// too.
pub(crate) fn is_host_name(name: &str) -> bool {
    is_plain(name) || name.parse::<Ipv6Addr>().is_ok()
}

/// Whether `name` is an RFC 1123 subdomain, as Kubernetes requires for nodes. Kubespray uses the host's name for the node.
pub(crate) fn is_node_name(name: &str) -> bool {
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

/// Whether ssh can connect to `text`, a DNS name or an IP address.
pub(crate) fn is_address(text: &str) -> bool {
    // ssh takes a zone (fe80::1%eth0) after a link-local address.
    let (address, zone) = text.split_once('%').map_or((text, None), |(a, z)| (a, Some(z)));
    match zone {
        None => is_host_name(address),
        Some(zone) => address.parse::<Ipv6Addr>().is_ok() && is_plain(zone),
    }
}

/// Whether `text` is a login name that can't be mistaken for an option or be interpreted by a shell.
pub(crate) fn is_user(text: &str) -> bool {
    let ok = |c: char| c.is_ascii_alphanumeric() || "._-@".contains(c);
    text.len() <= 64 && text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') && text.chars().all(ok)
}

/// Whether ansible accepts `text` as the name of a variable: an identifier.
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
            assert!(!is_user(bad), "{bad:?}");
        }
    }

    #[test]
    fn usual_names_are_accepted() {
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
