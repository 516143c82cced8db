//! What an operation will run, completely resolved and checked.

use std::collections::BTreeMap;

use operation::Step;

/// Everything the snapshot and the Job are made from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    /// The namespace of Job and snapshot.
    pub(crate) namespace: String,
    pub(crate) hosts_yml: String,
    pub(crate) vars_yml: String,
    pub(crate) known_hosts: Option<String>,
    /// How many requests reading the inputs took.
    pub(crate) reads: usize,
    pub(crate) steps: Vec<Step>,
    /// ConfigMaps with playbooks and scripts. The numbers in the paths start at 1.
    pub(crate) sources: Vec<BTreeMap<String, Vec<u8>>>,
    /// Scripts whose text is in the operation itself, numbered the same way.
    pub(crate) scripts: Vec<String>,
}
