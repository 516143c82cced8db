//! Which names are safe to pass to ansible.

pub(crate) use api::machine::is_host_name;

/// The same rule as for hosts, without IPv6 addresses.
pub(crate) fn is_group_name(name: &str) -> bool {
    is_host_name(name) && !name.contains(':')
}

/// Whether ansible accepts `text` as the name of a variable: an identifier.
pub(crate) fn is_variable(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_no_ipv6_address_as_its_name() {
        assert!(is_group_name("kube_node") && is_host_name("fd00::1"));
        for bad in ["fd00::1", "a b", "-a", ""] {
            assert!(!is_group_name(bad), "{bad:?}");
        }
    }
}
