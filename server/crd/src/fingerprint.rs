//! The fingerprint of inputs, in `spec.expectedInputs` and `status.inputs.sha256`, and of private keys, in `spec.nextSshKey`.

use sha2::{Digest, Sha256};

/// SHA-256 (hex) of an inventory and its variables: the bytes of `hosts.yml`, one zero byte, and the bytes of
/// `group_vars.yml`. YAML can't contain a zero byte, so different pairs always have different bytes.
pub fn inputs_sha256(hosts: &str, vars: &str) -> String {
    let digest = Sha256::new().chain_update(hosts).chain_update([0]).chain_update(vars).finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Names a private key without revealing it: the first 16 hex digits of its SHA-256.
pub fn ssh_key_id(private: &[u8]) -> String {
    Sha256::digest(private).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moving_a_line_to_the_other_file_changes_the_fingerprint() {
        assert_ne!(inputs_sha256("a\n", "b\n"), inputs_sha256("a\nb\n", ""));
        assert_eq!(inputs_sha256("", ""), "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d");
    }
}
