//! Inventories and variables as pages read them. The reason why one can't be read hides the secrets that the parser quotes, as the status
//! of the cluster does.

use inventory::{Inventory, Vars};
use masking::Masker;

pub(crate) fn read_inventory(text: &str) -> Result<Inventory, String> {
    inventory::parse(text).map_err(|why| hide_secrets(text, why.to_string()))
}

pub(crate) fn read_variables(text: &str) -> Result<Vars, String> {
    inventory::parse_vars(text).map_err(|why| hide_secrets(text, why.to_string()))
}

fn hide_secrets(text: &str, why: String) -> String {
    Masker::new(text, None).value(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_hides_secrets_of_the_text() {
        let hosts = "all:\n  hosts:\n    n1 ansible_password=hunter22:\n";
        let why = read_inventory(hosts).unwrap_err();
        assert!(why.contains("can't be a host name") && !why.contains("hunter22"), "{why}");
        assert!(inventory::parse(hosts).unwrap_err().to_string().contains("hunter22"));
        let why = read_variables("db_password: 2024-02-31\n").unwrap_err();
        assert!(why.contains("no such date exists") && !why.contains("2024"), "{why}");
    }
}
