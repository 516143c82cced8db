//! The lab's Kubernetes, as its administrator sees it, and the images that are installed in it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use lab::Lab;
use lab::wait::until;
use serde_json::Value;

/// The images that `cargo xtask` builds for the lab.
pub(crate) const SERVER: &str = "lab.test/kubeonkube";
pub(crate) const TAG: &str = "lab";
pub(crate) const RUNNER: &str = "lab.test/kubeonkube-runner:lab";
/// How long a rollout, a run or a deletion may take on a busy computer.
pub(crate) const DONE_WITHIN: Duration = Duration::from_secs(240);
/// The same as an option of kubectl and helm.
pub(crate) const TIMEOUT: &str = "--timeout=240s";
pub(crate) const SYSTEM: &str = "--namespace=kubeonkube-system";
pub(crate) const CLUSTERS: &str = "--namespace=kubeonkube-clusters";
/// Cluster-scoped kinds of which an installation has objects.
pub(crate) const INSTALLED: &str =
    "validatingadmissionpolicybinding,validatingadmissionpolicy,clusterrolebinding,clusterrole,namespace,crd";
/// What the tests themselves make outside of the two namespaces.
const MADE_BY_TESTS: [&str; 9] = [
    "clusterrolebinding/ann",
    "clusterrolebinding/ann-runs",
    "clusterrolebinding/bob",
    "clusterrole/bob",
    "rolebinding/reader",
    "role/reader",
    "pod/asks",
    "persistentvolume/kubeonkube",
    "crd/httproutes.gateway.networking.k8s.io",
];

pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

pub(crate) struct Cluster(pub(crate) Lab);

impl Cluster {
    /// The lab that all tests share, with the images on every node and nothing installed.
    pub(crate) fn with_images() -> Self {
        let cluster = Self(crate::shared::lab());
        let folder = std::env::var_os("KUBEONKUBE_IMAGES").expect("KUBEONKUBE_IMAGES names the folder of the images");
        let nodes = cluster.0.nodes().unwrap();
        assert!(
            !nodes.is_empty(),
            "these tests delete every object named kubeonkube, so they need the lab's own Kubernetes: unset KUBECONFIG"
        );
        for node in nodes {
            for archive in ["kubeonkube.tar", "kubeonkube-runner.tar"] {
                node.put(&Path::new(&folder).join(archive), "/tmp/image.tar").unwrap();
                node.run("ctr --namespace k8s.io images import /tmp/image.tar && rm /tmp/image.tar").unwrap();
            }
        }
        cluster.remove_remains();
        cluster
    }

    /// Removes what a failed test has left: it is tried again on the same lab.
    fn remove_remains(&self) {
        // A failed test of hosted clusters leaves a finalizer that no server removes any more.
        let clusters = self.try_kubectl(&["get", "clusters.kubeonkube.clay.io", "-o", "name"]).unwrap_or_default();
        for cluster in clusters.lines() {
            self.kubectl(&["patch", cluster, "--type=merge", "--patch", r#"{"metadata":{"finalizers":null}}"#]);
        }
        let installed = self.ours(INSTALLED);
        let remains = installed.iter().map(String::as_str).chain(MADE_BY_TESTS);
        let delete = ["delete", "--ignore-not-found", TIMEOUT];
        self.kubectl(&delete.into_iter().chain(remains).collect::<Vec<_>>());
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = self.0.kubectl().unwrap();
        command.args(words);
        command
    }

    /// What kubectl prints. It must succeed.
    pub(crate) fn kubectl(&self, words: &[&str]) -> String {
        self.try_kubectl(words).unwrap_or_else(|why| panic!("kubectl {words:?}: {why}"))
    }

    pub(crate) fn try_kubectl(&self, words: &[&str]) -> Result<String, String> {
        said(&mut self.command(words))
    }

    /// Gives this text to kubectl, which must succeed.
    pub(crate) fn feed(&self, words: &[&str], text: &str) {
        self.try_feed(words, text).unwrap_or_else(|why| panic!("kubectl {words:?}: {why}"));
    }

    pub(crate) fn try_feed(&self, words: &[&str], text: &str) -> Result<(), String> {
        let mut command = self.command(words);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        child.stdin.take().expect("a pipe").write_all(text.as_bytes()).map_err(|error| error.to_string())?;
        let done = child.wait_with_output().map_err(|error| error.to_string())?;
        if done.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&done.stderr).into_owned()) }
    }

    pub(crate) fn json(&self, words: &[&str]) -> Value {
        serde_json::from_str(&self.kubectl(&[words, &["-o", "json"]].concat())).unwrap()
    }

    /// Waits until the server's pod is ready, the only one and of the current template.
    pub(crate) fn is_rolled_out(&self) {
        if let Err(why) = self.try_kubectl(&["rollout", "status", SYSTEM, "deployment/kubeonkube", TIMEOUT]) {
            let pods = self.try_kubectl(&["describe", "pods", SYSTEM]).unwrap_or_default();
            panic!("{why}\n{pods}\n{}", self.server_log());
        }
    }

    pub(crate) fn server_log(&self) -> String {
        self.try_kubectl(&["logs", SYSTEM, "deployment/kubeonkube", "--tail=-1"]).unwrap_or_default()
    }

    /// Waits until an operation has ended. Returns its status.
    pub(crate) fn ended(&self, operation: &str) -> Value {
        until("the end of the run", DONE_WITHIN, || {
            let status = self.json(&["get", "clusteroperation", operation])["status"].clone();
            match status["status"].as_str() {
                Some("Succeeded" | "Failed") => Ok(status),
                _ => Err(status.to_string()),
            }
        })
        .unwrap()
    }

    /// The names of all objects of these kinds whose names contain `kubeonkube`.
    pub(crate) fn ours(&self, kinds: &str) -> Vec<String> {
        let all = self.kubectl(&["get", kinds, "-o", "name"]);
        all.lines().filter(|line| line.contains("kubeonkube")).map(str::to_owned).collect()
    }
}

/// What a program prints, or its errors.
pub(crate) fn said(command: &mut Command) -> Result<String, String> {
    let done = command.output().map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if done.status.success() { Ok(text(&done.stdout)) } else { Err(text(&done.stdout) + &text(&done.stderr)) }
}
