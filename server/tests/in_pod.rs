//! The program in surroundings like those of a pod: a service account's files, a root file system that can't be written, a user
//! without a name or privileges, and an empty volume for its data.

#[path = "panics/mod.rs"]
mod panics;
#[path = "patience/mod.rs"]
mod patience;
#[path = "plain_http/mod.rs"]
mod plain_http;
#[path = "skipped/mod.rs"]
mod skipped;
#[path = "start/mod.rs"]
mod start;

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use clap::CommandFactory;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::api::PostParams;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use kubeonkube::cli::Cli;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::{interval, timeout};

use crate::patience::PATIENCE;

/// The pod's namespace.
const NAMESPACE: &str = "kubeonkube-system";

/// Makes the surroundings in a new mount namespace and starts the program as deploy/kubernetes/deployment.yaml does. Arguments: the
/// program, its data directory, the folder with the service account's files, and the program's arguments.
const POD: &str = r#"
set -e
program=$1 data=$2 account=$3; shift 3
mount -t tmpfs -o mode=755 pod /var/run
files=/var/run/secrets/kubernetes.io/serviceaccount
mkdir -p "$files" && cp "$account"/* "$files" && chmod 444 "$files"/*
touch /var/run/kubeonkube && mount --bind "$program" /var/run/kubeonkube
for place in / /var/run /tmp /var/tmp /dev/shm; do
  if mountpoint -q "$place"; then mount -o remount,bind,ro "$place"; fi
done
mount -t tmpfs -o mode=2777 data "$data"
if touch /tmp/written 2>/dev/null; then echo "/tmp can be written" >&2; exit 1; fi
exec setpriv --reuid=65532 --regid=65532 --groups=65532 --no-new-privs --bounding-set=-all --inh-caps=-all /var/run/kubeonkube "$@"
"#;

/// A running program. It is killed when dropped.
struct Server {
    child: Child,
    folder: TempDir,
    banner: String,
    address: SocketAddr,
}

impl Server {
    /// Starts `command` and waits for the banner.
    async fn start(mut command: Command, folder: TempDir) -> Self {
        let (output, log) = (folder.path().join("banner"), folder.path().join("log"));
        command.stdout(File::create(&output).expect("a banner")).stderr(File::create(&log).expect("a log"));
        let mut child = command.kill_on_drop(true).spawn().expect("started");
        let mut banner = String::new();
        wait_for("the banner", async || {
            banner = fs::read_to_string(&output).unwrap_or_default();
            let ended = child.try_wait().expect("our child").is_some();
            assert!(!ended, "it ended: {}", fs::read_to_string(&log).unwrap_or_default());
            banner.contains("Kubernetes token") || start::token(&banner).is_some()
        })
        .await;
        let address = start::address(&banner).expect("an address");
        Self { child, folder, banner, address }
    }

    /// The status of a GET.
    async fn get(&self, at: SocketAddr, path: &str, cookie: &str) -> u16 {
        let (head, _) = plain_http::send(at, &format!("GET {path}"), cookie, "").await;
        head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status")
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        panics::check_none(&self.log());
    }
}

async fn wait_for(what: &str, mut done: impl AsyncFnMut() -> bool) {
    let mut tick = interval(Duration::from_millis(20));
    let waiting = async {
        while !done().await {
            tick.tick().await;
        }
    };
    timeout(PATIENCE, waiting).await.unwrap_or_else(|_| panic!("waited too long for {what}"));
}

/// A standalone server, whose embedded API is the pod's cluster.
async fn cluster() -> Server {
    let folder = tempfile::tempdir().expect("a directory");
    let tools = start::no_ansible(&folder.path().join("tools"));
    let command = start::server(&folder.path().join("data"), &tools);
    Server::start(Command::from(command), folder).await
}

/// The files of a service account, as a kubelet mounts them. Returns the host and port of the API, too.
fn service_account(kubeconfig: &Kubeconfig, folder: &Path) -> (String, String) {
    let cluster = kubeconfig.clusters[0].cluster.as_ref().expect("a cluster");
    let authority = cluster.certificate_authority_data.as_ref().expect("an authority");
    let authority = BASE64_STANDARD.decode(authority).expect("base64");
    fs::create_dir(folder).expect("a folder");
    fs::write(folder.join("ca.crt"), authority).expect("written");
    fs::write(folder.join("token"), token(kubeconfig)).expect("written");
    fs::write(folder.join("namespace"), NAMESPACE).expect("written");
    let server = cluster.server.as_deref().and_then(|url| url.strip_prefix("https://")).expect("https");
    let (host, port) = server.trim_end_matches('/').rsplit_once(':').expect("a port");
    (host.to_owned(), port.to_owned())
}

fn token(kubeconfig: &Kubeconfig) -> String {
    let user = kubeconfig.auth_infos[0].auth_info.as_ref().expect("a user");
    serde_json::to_value(user).expect("JSON")["token"].as_str().expect("a token").to_owned()
}

/// Whether this machine allows a process to have its own mounts. Otherwise the test is recorded as skipped.
fn can_mount(test: &str) -> bool {
    let tried = std::process::Command::new("unshare")
        .args(["--mount", "--propagation", "private", "mount", "-t", "tmpfs", "none", "/var/run"])
        .output();
    match tried {
        Ok(output) if output.status.success() => return true,
        Ok(output) => {
            skipped::skip(test, &format!("mounts need root ({})", String::from_utf8_lossy(&output.stderr).trim()));
        }
        Err(error) => skipped::skip(test, &format!("the program `unshare` can't be started ({error})")),
    }
    false
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_pod_the_server_uses_the_service_account() {
    if !can_mount("in_a_pod_the_server_uses_the_service_account") {
        return;
    }
    let cluster = cluster().await;
    let kubeconfig = Kubeconfig::read_from(cluster.folder.path().join("data/kubeconfig")).expect("a kubeconfig");
    let config = Config::from_custom_kubeconfig(kubeconfig.clone(), &KubeConfigOptions::default()).await;
    let client = Client::try_from(config.expect("a config")).expect("a client");
    let namespace = serde_json::from_value(json!({"metadata": {"name": NAMESPACE}})).expect("a namespace");
    Api::<Namespace>::all(client.clone()).create(&PostParams::default(), &namespace).await.expect("created");

    let folder = tempfile::tempdir().expect("a directory");
    let (data, account) = (folder.path().join("data"), folder.path().join("account"));
    fs::create_dir(&data).expect("a directory");
    let (host, port) = service_account(&kubeconfig, &account);
    let program = start::program(&data);
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-c", POD, "pod"]);
    command.arg(program.get_program()).args([&data, &account]);
    command.args(["--listen", "127.0.0.1:0", "--health-listen", "127.0.0.1:0"]);
    command.env_clear().envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    command.env("KUBERNETES_SERVICE_HOST", host).env("KUBERNETES_SERVICE_PORT", port);
    let mut server = Server::start(command, folder).await;

    assert!(server.banner.contains("in the cluster"), "{}", server.banner);
    let probes = start::probes(&server.banner).expect("a port for probes");
    wait_for("readiness", async || server.get(probes, "/readyz", "").await == 200).await;
    let form = format!("token={}", token(&kubeconfig));
    let (head, _) = plain_http::send(server.address, "POST /login", "", &form).await;
    let cookie = head.lines().find_map(|line| line.to_lowercase().starts_with("set-cookie: ").then(|| &line[12..]));
    let cookie = cookie.and_then(|cookie| cookie.split(';').next()).expect("signed in");
    // There is no such operation: 404 with a session, a redirect to the sign-in page without one.
    assert_eq!(server.get(server.address, "/operations/none/log.txt", cookie).await, 404);
    let secrets: Api<Secret> = Api::namespaced(client, NAMESPACE);
    wait_for("the signing key in the pod's namespace", async || {
        secrets.get_opt(crd::SIGNING_KEY_NAME).await.expect("an answer").is_some()
    })
    .await;
    kill_process(Pid::from_raw(server.child.id().expect("it runs").cast_signed()).expect("a PID"), Signal::TERM)
        .expect("a signal");
    let status = timeout(PATIENCE, server.child.wait()).await.expect("its end").expect("our child");
    let log = server.log();
    assert!(status.success(), "{log}");
    assert!(!log.contains("Read-only") && !log.contains("Permission denied"), "{log}");
}

#[test]
fn the_deployment_fits_the_program() {
    let text = include_str!("../../deploy/kubernetes/deployment.yaml");
    let deployment: Deployment = serde_saphyr::from_str(text).expect("a Deployment");
    let pod = deployment.spec.expect("a spec").template.spec.expect("a pod");
    let container = &pod.containers[0];
    let image = container.image.as_deref().expect("an image");
    assert!(image.ends_with(concat!(":v", env!("CARGO_PKG_VERSION"))), "{image}");
    let command = Cli::command();
    let known: Vec<_> = command.get_arguments().filter_map(|argument| argument.get_env()?.to_str()).collect();
    let env: Vec<_> = container.env.iter().flatten().collect();
    let unknown: Vec<_> = env.iter().map(|one| one.name.as_str()).filter(|name| !known.contains(name)).collect();
    assert!(unknown.is_empty(), "the program has no {unknown:?}");
    let value = |name: &str| env.iter().find(|one| one.name == name).and_then(|one| one.value.clone()).expect(name);
    let folder = value("KUBEONKUBE_DATA_DIR");
    assert!(container.volume_mounts.iter().flatten().any(|mount| mount.mount_path == folder), "{folder} is no volume");
    let port = |name: &str| container.ports.iter().flatten().find(|port| port.name.as_deref() == Some(name));
    for (variable, name) in [("KUBEONKUBE_LISTEN", "console"), ("KUBEONKUBE_HEALTH_LISTEN", "probes")] {
        let address: SocketAddr = value(variable).parse().expect("an address");
        assert_eq!(port(name).map(|port| port.container_port), Some(i32::from(address.port())), "{name}");
    }
    // The test above runs the program as this user.
    let user = pod.security_context.and_then(|security| security.run_as_user).expect("a user");
    assert!(POD.contains(&format!("--reuid={user} ")), "{user}");
    assert_eq!(container.security_context.clone().and_then(|own| own.read_only_root_filesystem), Some(true));
}

#[tokio::test]
async fn a_pod_without_a_service_account_runs_standalone() {
    if Path::new("/var/run/secrets/kubernetes.io/serviceaccount/token").exists() {
        return skipped::skip(
            "a_pod_without_a_service_account_runs_standalone",
            "this is a pod with a service account",
        );
    }
    let folder = tempfile::tempdir().expect("a directory");
    let tools = start::no_ansible(&folder.path().join("tools"));
    let mut command = start::server(&folder.path().join("data"), &tools);
    command.env("KUBERNETES_SERVICE_HOST", "192.0.2.1").env("KUBERNETES_SERVICE_PORT", "443");
    let server = Server::start(Command::from(command), folder).await;
    assert!(server.banner.contains("standalone"), "{}", server.banner);
}
