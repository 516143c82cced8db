//! Operations whose log can be checked: they print numbered lines, and write files to a folder that survives all kills.

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
    is_held: bool,
}

impl Run {
    /// A script that prints `lines` lines.
    pub(crate) fn shell(name: &str, cluster: &str, lines: u32) -> Self {
        Self { name: name.into(), cluster: cluster.into(), lines, is_playbook: false, is_held: false }
    }

    /// A script that prints its first line, and the others after [`World::release`](crate::world::World::release).
    pub(crate) fn held(name: &str, cluster: &str, lines: u32) -> Self {
        Self { is_held: true, ..Self::shell(name, cluster, lines) }
    }

    /// A playbook that prints `lines` lines.
    pub(crate) fn playbook(name: &str, cluster: &str, lines: u32) -> Self {
        Self { is_playbook: true, ..Self::shell(name, cluster, lines) }
    }

    /// The operation as a person applies it. It writes the files `<name>.started`, `.printed` and `.ended` to the folder `traces`.
    /// A held one waits for `<name>.go` there.
    pub(crate) fn operation(&self, traces: &str) -> ClusterOperation {
        let Self { name, cluster, lines, .. } = self;
        let spec = if self.is_playbook {
            json!({
                "cluster": cluster, "image": "none", "actionType": "playbook", "action": "tick.yml",
                "actionSource": "configmap", "actionSourceRef": {"namespace": "default", "name": PLAYBOOKS},
                "extraArgs": format!("-e run={name} -e lines={lines} -e traces={traces}"),
            })
        } else {
            let until = if self.is_held { format!("[ -e {traces}/{name}.go ]") } else { "true".to_owned() };
            let script = format!(
                "echo started >> {traces}/{name}.started
                 for n in $(seq {lines}); do
                   echo \"{name} tick $n\" | tee -a {traces}/{name}.printed
                   until {until}; do sleep {PAUSE}; done
                   sleep {PAUSE}
                 done
                 touch {traces}/{name}.ended"
            );
            json!({"cluster": cluster, "image": "none", "actionType": "shell", "action": script})
        };
        ClusterOperation::new(name, serde_json::from_value(spec).expect("a specification"))
    }

    /// The numbers of the lines that it prints.
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
    let append = |file: &str| json!({"cmd": format!("echo started >> {{{{ traces }}}}/{{{{ run }}}}.{file}")});
    let mut print = task("Print a line", "ansible.builtin.debug", json!({"msg": "{{ run }} tick {{ item }}"}));
    print["loop"] = json!("{{ range(1, lines | int + 1) | list }}");
    print["loop_control"] = json!({"pause": 0.05, "label": "-"});
    json!([{
        "name": "Tick", "hosts": "all", "gather_facts": false, "become": false,
        "tasks": [
            task("Start", "ansible.builtin.shell", append("started")),
            print,
            task("End", "ansible.builtin.shell", append("ended")),
        ],
    }])
}
