//! Runs the product's playbooks in Jobs of the lab's own Kubernetes.

use std::time::Instant;

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Secret;
use kube::Client;
use lab::addresses::ARTIFACTS;
use lab::{Lab, RUNNER};
use serde_json::{Map, Value, json};

use crate::PLAYBOOK_WITHIN;
use crate::jobs::{create, followed_log};

/// Lines of a recap contain it.
const RECAP: &str = " unreachable=";

/// The playbooks of one cluster.
pub(crate) struct Playbooks {
    client: Client,
    lab: Lab,
    variables: String,
    runs: u32,
    /// Whether each line of the outputs begins with its time.
    pub(crate) timestamps: bool,
}

impl Playbooks {
    pub(crate) async fn at(lab: &Lab, version: &str) -> Self {
        let variables = include_str!("variables.yaml").replace("ARTIFACTS", &ARTIFACTS.to_string());
        let client = lab.client().await.unwrap();
        Self { client, lab: lab.clone(), variables: variables.replace("VERSION", version), runs: 0, timestamps: false }
    }

    /// Writes the inventory: the control plane m1 and these workers.
    pub(crate) async fn workers(&self, names: &[&str]) {
        self.machines(&["m1"], names).await;
    }

    /// Writes the inventory.
    pub(crate) async fn machines(&self, control_planes: &[&str], workers: &[&str]) {
        self.inventory(self.hosts(control_planes), self.hosts(workers)).await;
    }

    /// Writes the inventory: the control plane m1, these workers, and so many that don't exist.
    pub(crate) async fn workers_beside(&self, names: &[&str], missing: usize) {
        let gone = |n: usize| {
            let address = format!("198.18.{}.{}", n / 250, n % 250 + 1);
            (format!("gone-{n}"), json!({"ansible_host": address, "ansible_user": "root"}))
        };
        let workers = self.hosts(names).into_iter().chain((0..missing).map(gone)).collect();
        self.inventory(self.hosts(&["m1"]), workers).await;
    }

    fn hosts(&self, names: &[&str]) -> Map<String, Value> {
        let host =
            |name: &str| json!({"ansible_host": self.lab.machine(name).unwrap().address(), "ansible_user": "root"});
        names.iter().map(|name| ((*name).to_owned(), host(name))).collect()
    }

    async fn inventory(&self, control_planes: Map<String, Value>, workers: Map<String, Value>) {
        let inventory = json!({"all": {"children": {
            "kube_control_plane": {"hosts": control_planes},
            "kube_node": {"hosts": workers},
            "etcd": {"children": {"kube_control_plane": {}}}}}});
        let conf = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "engine"}, "stringData": {
            "id": std::fs::read_to_string(self.lab.key()).unwrap(),
            "known_hosts": std::fs::read_to_string(self.lab.known_hosts()).unwrap(),
            "variables.yml": self.variables,
            "hosts.yml": inventory.to_string()}});
        create::<Secret>(&self.client, conf).await;
    }

    /// Runs a playbook that must succeed. Returns the lines of its recap.
    pub(crate) async fn succeeds(&mut self, playbook: &str, arguments: &[&str]) -> Vec<String> {
        let mut log = self.successful(playbook, arguments).await;
        log.retain(|line| line.contains(RECAP));
        log
    }

    /// Runs a playbook that must succeed. Returns its output.
    pub(crate) async fn output(&mut self, playbook: &str, arguments: &[&str]) -> String {
        self.successful(playbook, arguments).await.join("\n")
    }

    /// Runs a playbook that must succeed on all hosts. Returns the lines of its output.
    async fn successful(&mut self, playbook: &str, arguments: &[&str]) -> Vec<String> {
        let log = self.run(playbook, arguments).await;
        let mut recap = log.iter().filter(|line| line.contains(RECAP)).peekable();
        let good = |line: &String| line.contains(" unreachable=0 ") && line.contains(" failed=0 ");
        assert!(recap.peek().is_some() && recap.all(good), "{playbook}: {log:#?}");
        log
    }

    /// Runs a playbook that must fail. Returns its output.
    pub(crate) async fn fails(&mut self, playbook: &str, arguments: &[&str]) -> String {
        let log = self.run(playbook, arguments).await.join("\n");
        assert!(log.contains("fatal: ") || log.contains("failed: "), "{playbook} should have failed: {log}");
        log
    }

    /// Runs a playbook that delivers this file as a secret result. Returns the names of the fields in it.
    pub(crate) async fn secret_result(&mut self, playbook: &str, file: &str) -> Vec<String> {
        // Only names are printed. The pod's own /tmp ends with it.
        let script = format!(
            "export KUBEONKUBE_SECRET_RESULT=/tmp; \"$@\" -vvv && stat -c 'mode %a' /tmp/{file} && sed -n 's/^ *\\([a-z-]*\\):.*/field \\1/p' /tmp/{file}"
        );
        self.run_by(&["sh", "-c", &script, "sh"], playbook, &[]).await
    }

    /// The output of a playbook. Prints how long it took.
    async fn run(&mut self, playbook: &str, arguments: &[&str]) -> Vec<String> {
        self.run_by(&[], playbook, arguments).await
    }

    /// The output of a playbook that is started by the command `before`.
    pub(crate) async fn run_by(&mut self, before: &[&str], playbook: &str, arguments: &[&str]) -> Vec<String> {
        self.runs += 1;
        let name = format!("engine-{}", self.runs);
        let mut words = before.to_vec();
        words.extend([
            "ansible-playbook",
            "-i",
            "/conf/hosts.yml",
            "-e",
            "@/conf/variables.yml",
            "--private-key",
            "/conf/id",
        ]);
        words.extend(["--become", playbook]);
        words.extend(arguments);
        let started = Instant::now();
        create::<Job>(&self.client, job(&name, &words)).await;
        let log = followed_log(&self.client, &name, PLAYBOOK_WITHIN, self.timestamps).await;
        eprintln!("{:>5.1} s  {playbook} {}", started.elapsed().as_secs_f64(), arguments.join(" "));
        log
    }
}

fn job(name: &str, words: &[&str]) -> Value {
    let ssh = "-oUserKnownHostsFile=/conf/known_hosts -oStrictHostKeyChecking=yes";
    let container = json!({"name": "main", "image": RUNNER, "imagePullPolicy": "Never", "args": words,
        "volumeMounts": [{"name": "conf", "mountPath": "/conf"}],
        "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}},
        "env": [{"name": "ANSIBLE_SSH_COMMON_ARGS", "value": ssh}, {"name": "ANSIBLE_CONFIG", "value": "/kubespray/ansible.cfg"},
            {"name": "HOME", "value": "/tmp"}]});
    // As in the Jobs of the controller (server/controller/src/job/build.rs).
    let nobody = json!({"runAsNonRoot": true, "runAsUser": 65534, "runAsGroup": 65534, "fsGroup": 65534,
        "seccompProfile": {"type": "RuntimeDefault"}});
    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"backoffLimit": 0,
        "activeDeadlineSeconds": PLAYBOOK_WITHIN.as_secs(),
        "template": {"spec": {"restartPolicy": "Never", "securityContext": nobody, "containers": [container],
            "volumes": [{"name": "conf", "secret": {"secretName": "engine", "defaultMode": 0o400}}]}}}})
}
