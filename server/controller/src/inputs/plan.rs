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
    /// The variables that `secretVarsRef` refers to; `None` if the Cluster has no such reference.
    pub(crate) secret_vars: Option<BTreeMap<String, String>>,
    pub(crate) known_hosts: Option<String>,
    /// How many requests reading the inputs took.
    pub(crate) reads: usize,
    pub(crate) steps: Vec<Step>,
    /// ConfigMaps with playbooks and scripts. The numbers in the paths start at 1.
    pub(crate) sources: Vec<BTreeMap<String, Vec<u8>>>,
    /// Scripts whose text is in the operation itself, numbered the same way.
    pub(crate) scripts: Vec<String>,
    /// The values that no output of the run may contain.
    pub(crate) secrets: Vec<String>,
    /// The names of hosts and groups that contain one of them and stay readable.
    pub(crate) names: Vec<String>,
}

impl Plan {
    /// Searches everything else for [`Plan::secrets`].
    pub(crate) fn found_secrets(&self) -> Vec<String> {
        let sources: Vec<_> = self.sources.iter().flatten().map(|(k, v)| (k, String::from_utf8_lossy(v))).collect();
        let files = sources.iter().map(|(key, text)| (key.as_str(), text.as_ref()));
        let inputs = [("hosts.yml", self.hosts_yml.as_str()), ("group_vars.yml", self.vars_yml.as_str())];
        masking::secrets_of_run(&masking::Sources {
            files: &files.chain(inputs).collect::<Vec<_>>(),
            scripts: &self.scripts.iter().map(String::as_str).collect::<Vec<_>>(),
            arguments: &self.steps.iter().map(|step| step.args.as_slice()).collect::<Vec<_>>(),
            values: &self.secret_vars.iter().flat_map(BTreeMap::values).map(String::as_str).collect::<Vec<_>>(),
        })
    }
}
