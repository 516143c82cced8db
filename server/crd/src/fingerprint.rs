//! What `spec.expectedInputs` and `status.inputs.sha256` hold.

use sha2::{Digest, Sha256};

/// SHA-256 (hex) of an inventory and its variables: the bytes of `hosts.yml`, one zero byte, the bytes of `group_vars.yml`.
/// No YAML text holds a zero byte, so two different pairs never make the same input.
pub fn inputs_sha256(hosts: &str, vars: &str) -> String {
    let digest = Sha256::new().chain_update(hosts).chain_update([0]).chain_update(vars).finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_moved_from_one_file_to_the_other_changes_it() {
        assert_ne!(inputs_sha256("a\n", "b\n"), inputs_sha256("a\nb\n", ""));
        assert_eq!(inputs_sha256("", ""), "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d");
    }
}
