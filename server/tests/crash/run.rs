//! Operations whose log can be checked: they say numbered lines, and leave traces outside of everything that is killed.

use crd::ClusterOperation;
use serde_json::{Value, json};

/// Time between two lines, in seconds.
const PAUSE: &str = "0.05";

/// The ConfigMap with the playbook.
pub(crate) const PLAYBOOKS: &str = "ticking-playbooks";

/// One operation.
pub(crate) struct Run {
    pub(crate) name: String,
    pub(crate) cluster: String,
    lines: u32,
    is_playbook: bool,
}

impl Run {
    /// A script that says `lines` lines.
    pub(crate) fn shell(name: &str, cluster: &str, lines: u32) -> Self {
        Self { name: name.into(), cluster: cluster.into(), lines, is_playbook: false }
    }

    /// A playbook that does.
    pub(crate) fn playbook(name: &str, cluster: &str, lines: u32) -> Self {
        Self { is_playbook: true, ..Self::shell(name, cluster, lines) }
    }

    /// As a person applies it. `traces`: where the files `<name>.begun`, `.said` and `.over` appear.
    pub(crate) fn operation(&self, traces: &str) -> ClusterOperation {
        let Self { name, cluster, lines, .. } = self;
        let spec = if self.is_playbook {
            json!({
                "cluster": cluster, "image": "none", "actionType": "playbook", "action": "tick.yml",
                "actionSource": "configmap", "actionSourceRef": {"namespace": "default", "name": PLAYBOOKS},
                "extraArgs": format!("-e run={name} -e lines={lines} -e traces={traces}"),
            })
        } else {
            let script = format!(
                "echo begun >> {traces}/{name}.begun
                 for n in $(seq {lines}); do
                   echo \"{name} tick $n\" | tee -a {traces}/{name}.said
                   sleep {PAUSE}
                 done
                 touch {traces}/{name}.over"
            );
            json!({"cluster": cluster, "image": "none", "actionType": "shell", "action": script})
        };
        ClusterOperation::new(name, serde_json::from_value(spec).expect("a specification"))
    }

    /// The numbers of the lines that it says.
    pub(crate) fn ticks(&self) -> Vec<u32> {
        (1..=self.lines).collect()
    }

    /// The numbers of its lines in a log, in the log's order.
    pub(crate) fn ticks_in(&self, log: &str) -> Vec<u32> {
        let mark = format!("{} tick ", self.name);
        let after = log.split(&mark).skip(1);
        after
            .map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next().and_then(|n| n.parse().ok()).unwrap_or(0))
            .collect()
    }
}

/// The playbook of [`Run::playbook`].
pub(crate) fn playbook() -> Value {
    let task = |name: &str, module: &str, arguments: Value| json!({"name": name, module: arguments});
    let append = |file: &str| json!({"cmd": format!("echo begun >> {{{{ traces }}}}/{{{{ run }}}}.{file}")});
    let mut say = task("Say a line", "ansible.builtin.debug", json!({"msg": "{{ run }} tick {{ item }}"}));
    say["loop"] = json!("{{ range(1, lines | int + 1) | list }}");
    say["loop_control"] = json!({"pause": 0.05, "label": "-"});
    json!([{
        "name": "Tick", "hosts": "all", "gather_facts": false, "become": false,
        "tasks": [
            task("Begin", "ansible.builtin.shell", append("begun")),
            say,
            task("End", "ansible.builtin.shell", append("over")),
        ],
    }])
}
