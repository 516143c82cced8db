//! A hosted cluster in the lab's own Kubernetes: it becomes ready, its kubeconfigs work, and deleting it leaves nothing behind.
//!
//! The server runs outside of Kubernetes, with the rights of deploy/kubernetes/rbac.yaml only. `cargo xtask test --stage lab` builds it
//! (`KUBEONKUBE_SERVER`).

mod machines;
#[path = "../shared/mod.rs"]
mod shared;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use lab::Lab;
use lab::addresses::ARTIFACTS;
use lab::wait::until;
use serde_json::{Value, json};

/// The namespace of the control plane, and the name of its Cluster.
const SHOP: &str = "hosted-shop";
/// The namespace of a cluster that is refused.
const OTHER: &str = "hosted-other";
const SYSTEM: &str = "kubeonkube-system";
const CLUSTERS: &str = "kubeonkube-clusters";
/// All kinds that a control plane consists of. Events stay for an hour, and aren't compared.
const KINDS: &str = "deployments,replicasets,statefulsets,controllerrevisions,pods,services,endpointslices,configmaps,secrets,\
                     persistentvolumeclaims,poddisruptionbudgets,serviceaccounts,roles,rolebindings,leases";
/// The files of deploy/ that give rights, and those that limit who can use them.
const OBJECTS: [&str; 2] = ["kubernetes/rbac.yaml", "kubernetes/admission.yaml"];
/// How long something may take on a busy computer.
const WITHIN: Duration = Duration::from_secs(180);

struct World {
    lab: Lab,
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { lab: shared::lab(), folder: tempfile::tempdir().unwrap() };
        let version =
            world.lab.releases().first().expect("this lab serves no release: boot it with --releases=1.36").clone();
        for node in world.lab.nodes().unwrap() {
            for images in ["kubernetes", "etcd"] {
                let url = format!("http://{ARTIFACTS}/release/{version}/images/{images}.tar");
                node.run(&format!(
                    "curl -sfo /tmp/images.tar {url} && ctr -n k8s.io images import /tmp/images.tar; rm /tmp/images.tar"
                ))
                .unwrap();
            }
        }
        world
    }

    fn version(&self) -> &str {
        &self.lab.releases()[0]
    }

    /// Runs kubectl, with the text as its input. Returns what it prints; an error is what it says.
    fn try_kubectl(&self, words: &[&str], input: &str) -> Result<String, String> {
        let mut command = self.lab.kubectl().unwrap();
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let done = child.wait_with_output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if done.status.success() { Ok(text(&done.stdout)) } else { Err(text(&done.stderr)) }
    }

    fn kubectl(&self, words: &[&str]) -> String {
        self.try_kubectl(words, "").unwrap_or_else(|why| panic!("kubectl {words:?}: {why}"))
    }

    fn apply(&self, object: &Value) {
        self.try_kubectl(&["apply", "-f", "-"], &object.to_string()).unwrap_or_else(|why| panic!("{object}: {why}"));
    }

    fn json(&self, words: &[&str]) -> Value {
        serde_json::from_str(&self.kubectl(&[words, &["-o", "json"]].concat())).unwrap()
    }

    /// The names of all objects in a namespace.
    fn objects(&self, namespace: &str) -> String {
        self.kubectl(&["get", KINDS, "--namespace", namespace, "-o", "name"])
    }

    /// The server's rights, and the namespaces that they are for, as docs/hosted-clusters.md says.
    fn install(&self) {
        let deploy = workspace().join("deploy");
        for file in ["crd/clusters.yaml", "crd/clusteroperations.yaml"] {
            self.kubectl(&["apply", "-f", deploy.join(file).to_str().unwrap()]);
        }
        self.kubectl(&["wait", "--for=condition=Established", "--timeout=180s", "crd/clusters.kubeonkube.clay.io"]);
        for namespace in [SYSTEM, CLUSTERS, SHOP, OTHER] {
            let labels = json!({"pod-security.kubernetes.io/enforce": "restricted"});
            self.apply(
                &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace, "labels": labels}}),
            );
        }
        for file in OBJECTS {
            self.kubectl(&["apply", "-f", deploy.join(file).to_str().unwrap()]);
        }
        let account = format!("{SYSTEM}:kubeonkube");
        self.kubectl(&[
            "create",
            "rolebinding",
            "kubeonkube-hosted",
            "--namespace",
            SHOP,
            "--clusterrole",
            "kubeonkube-hosted",
            "--serviceaccount",
            &account,
        ]);
        // Kubernetes puts it there a moment later.
        until("the namespace's own ConfigMap", WITHIN, || {
            self.try_kubectl(&["get", "configmap", "kube-root-ca.crt", "--namespace", SHOP], "")
        })
        .unwrap();
    }

    fn uninstall(&self) {
        for file in OBJECTS {
            let file = workspace().join("deploy").join(file);
            self.kubectl(&["delete", "--ignore-not-found", "-f", file.to_str().unwrap()]);
        }
        self.kubectl(&["delete", "clusterrole,clusterrolebinding", "--ignore-not-found", "hosted-ann"]);
        self.kubectl(&["delete", "namespace", "--ignore-not-found", SYSTEM, CLUSTERS, SHOP, OTHER]);
    }

    /// A kubeconfig with the server's own token.
    fn servers_kubeconfig(&self) -> PathBuf {
        let token = self.kubectl(&["create", "token", "kubeonkube", "--namespace", SYSTEM, "--duration=2h"]);
        let mut config = self.json(&["config", "view", "--raw", "--minify"]);
        config["users"][0]["user"] = json!({"token": token.trim()});
        config["contexts"][0]["context"]["namespace"] = json!(SYSTEM);
        let file = self.folder.path().join("server.kubeconfig");
        fs::write(&file, config.to_string()).unwrap();
        file
    }

    fn start(&self, kubeconfig: &Path) -> Server {
        let program = std::env::var("KUBEONKUBE_SERVER").expect("KUBEONKUBE_SERVER names the server's program");
        let log = self.folder.path().join("server.log");
        let open = || fs::File::options().create(true).append(true).open(&log).unwrap();
        let mut command = self.lab.command(&program);
        command.args(["serve", "--listen", "127.0.0.1:0", "--kubeconfig"]).arg(kubeconfig);
        command
            .arg("--data-dir")
            .arg(self.folder.path().join("data"))
            .stdin(Stdio::null())
            .stdout(open())
            .stderr(open());
        Server { child: command.spawn().unwrap(), log }
    }

    /// A condition of a hosted cluster: status, reason and message.
    fn condition(&self, cluster: &str, kind: &str) -> (String, String, String) {
        let found = self.json(&["get", "cluster", cluster]);
        let conditions = found["status"]["hosted"]["conditions"].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let found = conditions.iter().find(|condition| condition["type"] == kind);
        found.map(|c| (text(&c["status"]), text(&c["reason"]), text(&c["message"]))).unwrap_or_default()
    }

    fn wait(&self, cluster: &str, kind: &str, status: &str) {
        let what = format!("{cluster}: {kind} {status}");
        until(&what, WITHIN, || {
            let found = self.condition(cluster, kind);
            if found.0 == status { Ok(()) } else { Err(format!("{:?} {:?}", found, self.condition(cluster, "Ready"))) }
        })
        .unwrap();
    }

    /// A kubeconfig of the hosted cluster, as a file.
    fn kubeconfig(&self, secret: &str, key: &str) -> PathBuf {
        let template = format!("go-template={{{{index .data \"{key}\" | base64decode}}}}");
        let text = self.kubectl(&["get", "secret", secret, "--namespace", SHOP, "-o", &template]);
        let file = self.folder.path().join(key);
        fs::write(&file, text).unwrap();
        file
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = fs::read_to_string(self.folder.path().join("server.log")).unwrap_or_default();
            eprintln!("{log}\n{:?}", self.try_kubectl(&["describe", "pods", "--namespace", SHOP], ""));
        }
    }
}

/// A running server. It is killed at the end.
struct Server {
    child: Child,
    log: PathBuf,
}

impl Server {
    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _killed = self.child.kill();
        let _ended = self.child.wait();
    }
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn cluster(world: &World, name: &str, pods: &str) -> Value {
    let address = world.lab.nodes().unwrap()[0].address().to_string();
    json!({
        "apiVersion": "kubeonkube.clay.io/v1alpha1", "kind": "Cluster", "metadata": {"name": name},
        "spec": {"hosted": {
            "namespace": name, "version": world.version(), "imageRepository": "lab.test",
            // The lab has no StorageClass.
            "etcd": {"ephemeral": true},
            // Machines are containers, which can't change the computer's limit.
            "addons": {"kubeProxy": {"conntrackMaxPerCore": 0}},
            "networking": {"podCidr": pods},
            "endpoint": {"type": "NodePort", "host": address},
        }},
    })
}

/// `kubectl --kubeconfig … get componentstatuses` through `kubectl port-forward svc/apiserver`.
fn walk_through(world: &World) {
    let file = world.kubeconfig("super-admin-config", "super-admin.conf");
    let mut forward = world.lab.kubectl().unwrap();
    forward.args(["port-forward", "--namespace", SHOP, "svc/apiserver", "6443:6443"]);
    let mut forward = forward.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let ask = |words: &[&str]| world.try_kubectl(&[&["--kubeconfig", file.to_str().unwrap()], words].concat(), "");
    let asked = until("the port-forward", WITHIN, || ask(&["get", "componentstatuses"]));
    let (who, etcd) = (
        ask(&["auth", "whoami"]),
        asked.map(|rows| rows.lines().find(|row| row.starts_with("etcd-0")).map(str::to_owned)),
    );
    let _killed = forward.kill();
    let _ended = forward.wait();
    assert!(who.unwrap().contains("system:masters"));
    let etcd = etcd.unwrap().expect("a row for etcd");
    assert!(etcd.contains("Healthy"), "{etcd}");
}

/// A user who may create Clusters, but nothing in the namespace, can't use the server's rights there.
fn others_can_not_host(world: &World) {
    world.kubectl(&[
        "create",
        "clusterrole",
        "hosted-ann",
        "--verb=create,get",
        "--resource=clusters.kubeonkube.clay.io",
    ]);
    world.kubectl(&["create", "clusterrolebinding", "hosted-ann", "--clusterrole=hosted-ann", "--user=ann"]);
    let spec = cluster(world, SHOP, "10.244.0.0/16").to_string();
    let tried = || world.try_kubectl(&["create", "--dry-run=server", "--as=ann", "-f", "-"], &spec);
    // A new policy takes effect a little later.
    until("the refusal", WITHIN, || match tried() {
        Err(why) if why.contains("may not create Deployments and Secrets") => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .unwrap();
}

/// The kubeconfig of administrators leads to the NodePort.
fn administrators_work(world: &World) {
    let file = world.kubeconfig("admin-config", "admin.conf");
    let ask =
        |words: &[&str]| world.try_kubectl(&[&["--kubeconfig", file.to_str().unwrap()], words].concat(), "").unwrap();
    ask(&["delete", "configmap", "proof", "--ignore-not-found"]);
    ask(&["create", "configmap", "proof", "--from-literal=text=written"]);
    assert_eq!(ask(&["get", "configmap", "proof", "-o", "jsonpath={.data.text}"]), "written");
    let slice: Value = serde_json::from_str(&ask(&["get", "endpointslice", "kubernetes", "-o", "json"])).unwrap();
    let url = world.json(&["get", "cluster", SHOP])["status"]["hosted"]["endpoint"].as_str().unwrap().to_owned();
    let (address, port) = (&slice["endpoints"][0]["addresses"][0], &slice["ports"][0]["port"]);
    assert_eq!(url, format!("https://{}:{port}", address.as_str().unwrap()));
}

#[test]
#[ignore = "needs the server's program: cargo xtask test --stage lab"]
fn a_hosted_cluster_is_made_used_and_deleted() {
    let world = World::new();
    world.uninstall();
    world.install();
    let kubeconfig = world.servers_kubeconfig();
    others_can_not_host(&world);
    let before = world.objects(SHOP);
    let server = world.start(&kubeconfig);

    let started = Instant::now();
    let mut shop = cluster(&world, SHOP, "10.244.0.0/16");
    machines::register(&world, &mut shop, &["m2", "m3"]);
    world.apply(&shop);
    // It waits until machines can join.
    machines::submit(&world, "join", "join.yml", None);
    world.wait(SHOP, "EtcdReady", "True");
    // Killed in the middle. Another one continues with the same keys.
    drop(server);
    let keys =
        |world: &World| world.json(&["get", "secret", "cluster-pki", "--namespace", SHOP])["metadata"]["uid"].clone();
    let stored = keys(&world);
    let server = world.start(&kubeconfig);
    world.wait(SHOP, "Ready", "True");
    eprintln!("{:>5.1} s  ready, with a restart of the server", started.elapsed().as_secs_f64());
    assert_eq!(keys(&world), stored);

    walk_through(&world);
    administrators_work(&world);
    machines::joins_with_kubeadm(&world);
    machines::join_by_operation(&world);
    machines::leave_by_operation(&world);

    // Certificates that expire soon are renewed, at the latest five minutes later, or with the next change of a workload.
    let secret =
        |world: &World| world.json(&["get", "secret", "apiserver-pki", "--namespace", SHOP])["metadata"].clone();
    let old = secret(&world);
    let soon = "kubeonkube.clay.io/expires=2026-01-01T00:00:00Z";
    world.kubectl(&["annotate", "secret", "apiserver-pki", "--namespace", SHOP, "--overwrite", soon]);

    // A user's edit of a child is taken back, and a deleted one comes back.
    world.kubectl(&["scale", "deployment", "scheduler", "--replicas=0", "--namespace", SHOP]);
    let one =
        ["wait", "deployment/scheduler", "--for=jsonpath={.spec.replicas}=1", "--timeout=180s", "--namespace", SHOP];
    world.kubectl(&one);
    world.kubectl(&["delete", "deployment", "controller-manager", "--namespace", SHOP]);
    until("the controller manager", WITHIN, || {
        world.try_kubectl(&["get", "deployment", "controller-manager", "--namespace", SHOP], "")
    })
    .unwrap();
    until("the API server's new certificates", WITHIN, || match secret(&world) {
        new if new["uid"] != old["uid"] => Ok(()),
        same => Err(same.to_string()),
    })
    .unwrap();
    world.wait(SHOP, "Ready", "True");
    administrators_work(&world);

    // Refused with a reason, and nothing is made.
    world.apply(&cluster(&world, OTHER, "10.244.128.0/17"));
    world.wait(OTHER, "Accepted", "False");
    let (_, reason, message) = world.condition(OTHER, "Accepted");
    assert!(reason == "NetworksOverlap" && message.contains(SHOP), "{reason}: {message}");
    world.kubectl(&["delete", "cluster", OTHER, "--timeout=180s"]);
    // No rights in that namespace.
    world.apply(&cluster(&world, OTHER, "10.245.0.0/16"));
    world.wait(OTHER, "AddressReady", "False");
    let (_, reason, message) = world.condition(OTHER, "AddressReady");
    assert!(reason == "NoRights" && message.contains("kubectl create rolebinding"), "{reason}: {message}");
    world.kubectl(&["delete", "cluster", OTHER, "--timeout=180s"]);

    let started = Instant::now();
    world.kubectl(&["delete", "cluster", SHOP, "--timeout=120s"]);
    eprintln!("{:>5.1} s  deleted", started.elapsed().as_secs_f64());
    // Kubernetes deletes the objects that belong to others a little later, such as EndpointSlices.
    until("what was there before", WITHIN, || {
        let now = world.objects(SHOP);
        if now == before { Ok(()) } else { Err(format!("{now:?} instead of {before:?}")) }
    })
    .unwrap();

    let log = server.log();
    assert!(!log.contains("panicked"), "{log}");
    drop(server);
    world.uninstall();
}
