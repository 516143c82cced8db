//! What an operation will run, with nothing left to look up or to doubt.

use std::collections::BTreeMap;

use operation::Step;

/// Everything the snapshot and the Job are made from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    /// Where Job and snapshot live.
    pub(crate) namespace: String,
    pub(crate) hosts_yml: String,
    pub(crate) vars_yml: String,
    pub(crate) known_hosts: Option<String>,
    /// How many requests it took to read all this.
    pub(crate) reads: usize,
    pub(crate) steps: Vec<Step>,
    /// ConfigMaps with playbooks and scripts; number i of the paths is position i - 1.
    pub(crate) sources: Vec<BTreeMap<String, Vec<u8>>>,
    /// Texts of scripts that stand in the operation itself, numbered the same way.
    pub(crate) scripts: Vec<String>,
}
