//! Sessions with a real kubectl: `$KUBEONKUBE_TEST_KUBECTL`, or the one on PATH.

use std::path::PathBuf;
use std::process::{Output, Stdio};

use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

use crate::patience::PATIENCE;
use crate::skipped::skip;
use crate::tool::tool;
use crate::world::{MERGE, World};

/// The kubectl to test with. Without one, the test is skipped.
fn kubectl(test: &str) -> Option<PathBuf> {
    let found = tool("kubectl", "KUBEONKUBE_TEST_KUBECTL");
    if found.is_none() {
        skip(test, "no kubectl on PATH or in KUBEONKUBE_TEST_KUBECTL");
    }
    found
}

struct Session {
    world: World,
    binary: PathBuf,
    shutdown: CancellationToken,
}

impl Session {
    async fn start(binary: PathBuf) -> Self {
        Self::over(World::new(), binary).await
    }

    async fn over(world: World, binary: PathBuf) -> Self {
        let shutdown = world.on_a_port().await;
        Self { world, binary, shutdown }
    }

    fn command(&self, line: &[&str]) -> Command {
        let dir = self.world.dir.path();
        let mut command = Command::new(&self.binary);
        // A separate home directory, so that kubectl neither reads nor writes the developer's cache and configuration.
        command
            .args(line)
            .current_dir(dir)
            .env("HOME", dir)
            .env("KUBECONFIG", dir.join("kubeconfig"))
            .kill_on_drop(true);
        for proxy in ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
            command.env_remove(proxy);
        }
        command
    }

    async fn output(&self, mut command: Command) -> Output {
        let output = tokio::time::timeout(PATIENCE, command.output()).await;
        output.expect("kubectl ends in time").unwrap()
    }

    /// Runs a command that must succeed and returns its output.
    async fn run(&self, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        let output = self.output(self.command(&words)).await;
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "kubectl {line}: {out}{err}");
        format!("{out}{err}")
    }

    /// Runs a command that must fail and returns its error output.
    async fn fails(&self, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        let output = self.output(self.command(&words)).await;
        assert!(!output.status.success(), "kubectl {line} should fail: {}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    async fn with_input(&self, line: &str, input: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut child =
            self.command(&words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).await.unwrap();
        drop(stdin);
        let output =
            tokio::time::timeout(PATIENCE, child.wait_with_output()).await.expect("kubectl ends in time").unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "kubectl {line}: {text}");
        text
    }

    fn background(&self, line: &str) -> Child {
        let words: Vec<&str> = line.split_whitespace().collect();
        self.command(&words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
    }
}

const WIDGET: &str = "apiVersion: example.clay.io/v1\nkind: Widget\nmetadata:\n  name: prod\n  labels: {team: a}\nspec:\n  size: 1\n  parts: [{name: p}]\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubectl_reads_writes_edits_and_deletes_custom_resources() {
    let Some(binary) = kubectl("kubectl_reads_writes_edits_and_deletes_custom_resources") else { return };
    let session = Session::start(binary).await;
    assert!(session.run("api-resources").await.contains("widgets"));
    let versions = session.run("version").await;
    assert!(versions.contains("Client Version: v1.36."), "the API is measured against kubectl 1.36: {versions}");
    assert!(versions.contains("Server Version: v1.36.4"), "{versions}");

    assert!(session.with_input("apply -f -", WIDGET).await.contains("widget.example.clay.io/prod created"));
    assert!(session.with_input("apply -f -", WIDGET).await.contains("unchanged"));
    assert!(session.with_input("apply -f -", &WIDGET.replace("size: 1", "size: 2")).await.contains("configured"));
    assert!(
        session
            .with_input("apply --server-side -f -", &WIDGET.replace("size: 1", "size: 2"))
            .await
            .contains("serverside-applied")
    );
    assert!(session.with_input("replace -f -", &WIDGET.replace("size: 1", "size: 3")).await.contains("replaced"));

    let table = session.run("get wd").await;
    assert!(table.starts_with("NAME   SIZE   DONE   AGE\nprod   3"), "{table}");
    assert!(session.run("get widgets -o wide -l team=a").await.contains("COLOR"));
    assert!(session.run("get widgets -l team=b").await.contains("No resources found"));
    assert!(session.run("get widget prod -o yaml").await.contains("  size: 3\n"));
    assert_eq!(session.run("get widget prod -o jsonpath={.spec.size}").await, "3");
    assert!(session.run("get widgets --sort-by=.spec.size --show-labels").await.contains("team=a"));
    assert!(session.run("explain widget.spec.size").await.contains("How big it is."));
    let described = session.run("describe widget prod").await;
    assert!(described.contains("Size:") && described.contains("Events:"), "{described}");

    let mut edit = session.command(&["edit", "widget", "prod"]);
    edit.env("KUBE_EDITOR", "sed -i s/size:.3/size:\\ 4/");
    let edited = session.output(edit).await;
    assert!(edited.status.success(), "{}", String::from_utf8_lossy(&edited.stderr));
    assert_eq!(session.run("get widget prod -o jsonpath={.spec.size}").await, "4");

    session.run("label widget prod team=b --overwrite").await;
    session.run("annotate widget prod note=x").await;
    session.run("patch widget prod --type=merge -p {\"spec\":{\"size\":5}}").await;
    session.run("patch widget prod --type=json -p [{\"op\":\"remove\",\"path\":\"/spec/parts\"}]").await;
    assert!(
        session
            .fails("patch widget prod --type=merge -p {\"spec\":{\"size\":50}}")
            .await
            .contains("less than or equal to 10")
    );
    assert!(session.fails("get widget none").await.contains("NotFound"));

    let mut waits = session.background("wait --for=condition=Complete widget/prod --timeout=120s");
    let status = json!({"status": {"conditions": [{"type": "Complete", "status": "True"}]}});
    let patched =
        session.world.patch(&format!("{}/prod/status", crate::world::WIDGETS), crate::world::MERGE, status).await;
    assert_eq!(patched.code, 200);
    let waited = tokio::time::timeout(PATIENCE, waits.wait()).await.expect("wait ends").unwrap();
    assert!(waited.success());

    let mut watches = session.background("get widgets -w --no-headers");
    let mut lines = BufReader::new(watches.stdout.take().unwrap()).lines();
    let mut next = async || tokio::time::timeout(PATIENCE, lines.next_line()).await.expect("a line").unwrap().unwrap();
    assert!(next().await.starts_with("prod   5"));
    session.run("patch widget prod --type=merge -p {\"spec\":{\"size\":6}}").await;
    assert!(next().await.starts_with("prod   6"));
    watches.kill().await.unwrap();

    assert!(session.run("delete widget prod").await.contains("deleted"));
    assert!(session.run("get widgets").await.contains("No resources found"));
    session.shutdown.cancel();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubectl_works_with_the_built_in_kinds() {
    let Some(binary) = kubectl("kubectl_works_with_the_built_in_kinds") else { return };
    let session = Session::start(binary).await;
    session.run("create namespace team").await;
    session.run("create configmap hosts --from-literal=hosts.yml=all -n team").await;
    session.run("create secret generic key --from-literal=ssh-privatekey=x").await;
    assert!(session.run("get cm,secret -A").await.contains("configmap/hosts"));
    assert_eq!(session.run("get secret key -o jsonpath={.data.ssh-privatekey}").await, "eA==");
    session.run("create configmap hosts --from-literal=a=b --dry-run=server -o name").await;
    assert!(session.run("auth can-i create jobs").await.contains("yes"));
    session.fails("auth can-i impersonate users").await;
    assert!(session.run("auth whoami").await.contains("kubeonkube:admin"));

    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {a: one, b: two}\n";
    session.with_input("apply -f -", map).await;
    assert!(session.with_input("apply -f -", &map.replace(", b: two", "")).await.contains("configured"));
    assert_eq!(session.run("get cm m -o jsonpath={.data}").await, "{\"a\":\"one\"}");
    assert!(session.with_input("apply -f -", &map.replace(", b: two", "")).await.contains("unchanged"));
    std::fs::write(session.world.dir.path().join("m.yaml"), map.replace("\ndata:", "\ndta: {odd: [1, true]}\ndata:"))
        .unwrap();
    let refused = session.fails("apply -f m.yaml").await;
    assert!(
        refused.starts_with(
            "The request is invalid: patch: Invalid value: \"map[data:map[b:two] dta:map[odd:[1 true]] metadata:map["
        ),
        "{refused}"
    );
    assert!(refused.trim_end().ends_with("\": strict decoding error: unknown field \"dta\""), "{refused}");

    let item =
        |name: &str| format!("- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: {name}}}\n  data: {{a: one}}\n");
    let list = format!("apiVersion: v1\nkind: List\nitems:\n{}{}", item("first"), item("second"));
    let created = session.with_input("create --validate=true -f -", &list).await;
    assert!(created.contains("configmap/first created") && created.contains("configmap/second created"), "{created}");
    assert!(session.with_input("apply -f -", &list).await.contains("configmap/second configured"));
    session.with_input("delete -f -", &list).await;
    std::fs::write(session.world.dir.path().join("list.yaml"), list.replace("  data:", "  dta:")).unwrap();
    assert!(session.fails("apply -f list.yaml").await.contains("unknown field"), "an item is validated, too");

    let job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: applied}\nspec:\n  template:\n    spec:\n      restartPolicy: Never\n      containers: [{name: main, image: \"x:1\"}]\n";
    session.with_input("apply -f -", job).await;
    assert!(session.with_input("apply -f -", job).await.contains("unchanged"));
    assert!(session.with_input("diff -f -", job).await.is_empty());
    assert!(session.with_input("replace --force -f -", job).await.contains("replaced"));
    assert!(session.with_input("delete -f - --cascade=foreground", job).await.contains("deleted"));
    session.run("create job run --image=x:1 -- echo hello").await;
    assert!(session.run("get jobs").await.contains("Running"));
    let described = session.run("describe job run").await;
    assert!(described.contains("Image:") && described.contains("echo"), "{described}");
    let uid = session.run("get job run -o jsonpath={.metadata.uid}").await;
    session.world.post("/api/v1/namespaces/default/events", json!({"metadata": {"name": "run.1"}, "type": "Normal", "reason": "Started",
        "message": "it began", "involvedObject": {"kind": "Job", "name": "run", "namespace": "default", "apiVersion": "batch/v1", "uid": uid},
        "lastTimestamp": "2026-01-01T00:00:00Z", "firstTimestamp": "2026-01-01T00:00:00Z", "count": 1})).await.ok();
    assert!(session.run("events").await.contains("it began"));
    assert!(session.run("events --for job/run").await.contains("Started"));
    assert!(session.run("get events").await.contains("job/run"));
    assert!(session.run("describe job run").await.contains("it began"));
    let status = json!({"status": {"succeeded": 1, "startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T00:00:07Z",
        "conditions": [{"type": "Complete", "status": "True", "lastTransitionTime": "2026-01-01T00:00:07Z"}]}});
    session.world.patch("/apis/batch/v1/namespaces/default/jobs/run/status", crate::world::MERGE, status).await.ok();
    session.run("wait --for=condition=complete job/run --timeout=20s").await;
    let table = session.run("get job run").await;
    assert!(table.contains("Complete") && table.contains("1/1") && table.contains("7s"), "{table}");
    session.run("delete job run").await;

    assert!(session.run("get crd").await.contains("widgets.example.clay.io"));
    session.run("delete namespace team").await;
    assert!(session.fails("get cm hosts -n team").await.contains("NotFound"));
    session.shutdown.cancel();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubectl_reads_logs_of_pods_and_jobs() {
    let Some(binary) = kubectl("kubectl_reads_logs_of_pods_and_jobs") else { return };
    let (world, _) = crate::logs::world().await;
    let session = Session::over(world, binary).await;
    assert_eq!(session.run("logs p").await, "one\ntwo\n");
    assert_eq!(session.run("logs -f p --tail=2").await, "one\ntwo\n");
    assert!(session.fails("logs waiting").await.contains("is waiting to start"));
    let job = session.world.post("/apis/batch/v1/namespaces/default/jobs", crate::world::job("j")).await.ok();
    let pod = json!({"metadata": {"name": "j-x", "labels": job["spec"]["template"]["metadata"]["labels"]},
        "spec": {"nodeName": "here", "containers": [{"name": "main", "image": "x"}]}});
    session.world.post("/api/v1/namespaces/default/pods", pod).await.ok();
    assert!(session.run("logs -f job/j").await.contains("one\ntwo\n"));
    session.shutdown.cancel();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubectl_prunes_with_its_default_list_of_kinds() {
    let Some(binary) = kubectl("kubectl_prunes_with_its_default_list_of_kinds") else { return };
    let session = Session::start(binary).await;
    let map = |name: &str| {
        let text =
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, labels: {{set: a}}}}\ndata: {{}}\n");
        std::fs::write(session.world.dir.path().join(format!("{name}.yaml")), text).unwrap();
    };
    map("kept");
    map("gone");
    session.run("apply -f kept.yaml -f gone.yaml").await;
    session.run("create configmap by-hand").await;
    session.run("label configmap by-hand set=a").await;
    let difference = session.fails("diff --prune -l set=a -f kept.yaml").await;
    assert!(!difference.contains("pruning failed"), "{difference}");
    let dry = session.run("apply --prune -l set=a -f kept.yaml --dry-run=server").await;
    assert!(dry.contains("configmap/gone pruned (server dry run)"), "{dry}");
    let pruned = session.run("apply --prune -l set=a -f kept.yaml").await;
    assert!(pruned.contains("configmap/gone pruned") && !pruned.contains("by-hand"), "{pruned}");
    let left = session.run("get configmaps -l set=a -o name").await;
    assert_eq!(left, "configmap/by-hand\nconfigmap/kept\n");
    session.shutdown.cancel();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubectl_is_answered_about_kinds_that_are_not_stored() {
    let Some(binary) = kubectl("kubectl_is_answered_about_kinds_that_are_not_stored") else { return };
    let session = Session::start(binary).await;
    assert!(session.run("cluster-info").await.contains("control plane is running at"));
    assert!(session.run("cluster-info dump").await.contains("\"kind\": \"DeploymentList\""));
    assert!(session.run("get deployments,services,nodes").await.contains("No resources found"));
    session.run("delete deployments --all").await;
    session.run("delete service none --ignore-not-found").await;
    assert!(session.fails("drain none").await.contains("nodes \"none\" not found"));
    assert!(session.fails("rollout restart deployment/none").await.contains("deployments.apps \"none\" not found"));
    let refused = session.fails("create deployment web --image=x").await;
    assert!(refused.contains("standalone mode runs only Jobs. Use a real Kubernetes cluster."), "{refused}");
    let text = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n";
    std::fs::write(session.world.dir.path().join("service.yaml"), text).unwrap();
    for line in ["apply -f service.yaml", "apply --server-side -f service.yaml", "create -f service.yaml"] {
        let refused = session.fails(line).await;
        assert!(refused.contains("this API can't store services"), "{line}: {refused}");
    }
    session.shutdown.cancel();
}

/// As `docs/kubectl.md` says. The states are those that `deploy/health/tests` gives to other tools.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubectl_wait_agrees_with_the_health_checks() {
    let Some(binary) = kubectl("kubectl_wait_agrees_with_the_health_checks") else { return };
    let dir = std::sync::Arc::new(tempfile::tempdir().unwrap());
    let session = Session::over(World::with(dir, crd::all()), binary).await;
    let operations = "/apis/kubeonkube.clay.io/v1alpha1/clusteroperations";
    let clusters = "/apis/kubeonkube.clay.io/v1alpha1/clusters";
    let hosts = json!({"namespace": "default", "name": "hosts"});
    let states = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/health/tests/states.json");
    let states: Vec<serde_json::Value> = serde_json::from_str(&std::fs::read_to_string(states).unwrap()).unwrap();
    for (number, state) in states.iter().enumerate() {
        let (name, object) = (format!("s{number}"), &state["object"]);
        let is_edited = object["metadata"]["generation"] == 2;
        let (path, spec, edit, wait) = if object["kind"] == "ClusterOperation" {
            let spec = json!({"cluster": "prod", "actionType": "playbook", "action": "ping.yml", "image": "ok"});
            (operations, spec, json!({"cancel": true}), format!("wait --for=condition=Ready clusteroperation/{name}"))
        } else {
            let path = r#"{.status.clusterConditions[?(@.type=="Ready")].status}"#;
            let spec = json!({"hostsConfRef": hosts, "varsConfRef": hosts});
            (clusters, spec, json!({"adoptInputs": true}), format!("wait --for=jsonpath={path}=True cluster/{name}"))
        };
        let created = json!({"apiVersion": object["apiVersion"], "kind": object["kind"], "metadata": {"name": name}, "spec": spec});
        session.world.post(path, created).await.ok();
        let (of_object, of_status) = (format!("{path}/{name}"), format!("{path}/{name}/status"));
        if is_edited {
            let edited = session.world.patch(&of_object, MERGE, json!({"spec": edit})).await.ok();
            assert_eq!(edited["metadata"]["generation"], 2);
        }
        if !object["status"].is_null() {
            session.world.patch(&of_status, MERGE, json!({"status": object["status"]})).await.ok();
        }
        // It looks once and doesn't wait.
        let wait = format!("{wait} --timeout=0");
        // kubectl compares the generation only if it waits for a condition.
        if state["checks"] == "Current" || is_edited && path == clusters {
            assert!(session.run(&wait).await.contains("condition met"), "{}", state["name"]);
        } else {
            session.fails(&wait).await;
        }
    }
    session.shutdown.cancel();
}
