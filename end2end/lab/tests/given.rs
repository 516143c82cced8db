//! Labs that use a given cluster or given binaries, and options that are refused. Each test boots a lab, so no other lab may be
//! running: `cargo test -p kubeonkube-lab --test given -- --ignored --test-threads=1`. The `lab` stage of `cargo xtask test`
//! runs them.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::Command;

use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::Api;
use kube::api::PostParams;
use lab::{Lab, Layout};

/// A lab that ends with its test.
struct Booted(Lab);

impl Booted {
    fn up(words: &[&str], (name, value): (&str, &OsStr)) -> Self {
        let done = command(&[&["up"], words].concat()).env(name, value).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        Self(Lab::attach().unwrap())
    }
}

impl Drop for Booted {
    fn drop(&mut self) {
        // A failure isn't reported here: the next test finds what is left.
        let _status = command(&["down", "--force"]).status();
    }
}

fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubeonkube-lab"));
    command.args(words).env_remove("KUBECONFIG").env_remove("KUBEBUILDER_ASSETS");
    command
}

/// A program of a built part.
fn built(part: &str, program: &str) -> PathBuf {
    let parts = Layout::of_this_checkout().parts();
    fs::read_dir(&parts)
        .unwrap()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(part))
        .map(|entry| entry.path().join(program))
        .find(|file| file.is_file())
        .unwrap_or_else(|| panic!("{part} is not built in {}", parts.display()))
}

#[tokio::test]
#[ignore = "it needs the computer for itself"]
async fn given_binaries_make_an_api_without_pods() {
    let folder = tempfile::tempdir_in(Layout::of_this_checkout().folder).unwrap();
    for (part, program, name) in [
        ("etcd-3.6-", "etcd", "etcd"),
        ("kubernetes-1.36-", "kubernetes", "kube-apiserver"),
        ("kubernetes-1.36-", "kubernetes", "kubectl"),
    ] {
        // The parts may be on another disk.
        let (from, to) = (built(part, program), folder.path().join(name));
        fs::hard_link(&from, &to).or_else(|_| fs::copy(&from, &to).map(drop)).unwrap();
    }
    let lab = Booted::up(&["--machines", "1"], ("KUBEBUILDER_ASSETS", folder.path().as_os_str()));
    let maps: Api<ConfigMap> = Api::default_namespaced(lab.0.client().await.unwrap());
    let map = serde_json::from_value(serde_json::json!({"metadata": {"name": "kept"}, "data": {"a": "b"}})).unwrap();
    maps.create(&PostParams::default(), &map).await.unwrap();
    assert_eq!(maps.get("kept").await.unwrap().data.unwrap()["a"], "b");
    assert_eq!(lab.0.machines().unwrap().len(), 1);
}

#[tokio::test]
#[ignore = "it needs the computer for itself"]
async fn a_given_cluster_is_used_and_none_is_booted() {
    // The given cluster is a server that only answers requests for namespaces.
    let outside = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = outside.local_addr().unwrap();
    std::thread::spawn(move || answer_once(&outside));
    let folder = tempfile::tempdir().unwrap();
    // Two files and a missing one, which kubectl accepts too.
    let list = ["context", "missing", "cluster"].map(|name| folder.path().join(name).to_string_lossy().into_owned());
    let context = serde_json::json!({"apiVersion": "v1", "kind": "Config", "current-context": "given",
        "contexts": [{"name": "given", "context": {"cluster": "given", "user": "given"}}]});
    let cluster = serde_json::json!({"apiVersion": "v1", "kind": "Config",
        "clusters": [{"name": "given", "cluster": {"server": format!("http://{address}")}}], "users": [{"name": "given", "user": {}}]});
    fs::write(&list[0], context.to_string()).unwrap();
    fs::write(&list[2], cluster.to_string()).unwrap();

    let lab = Booted::up(&["--machines", "1"], ("KUBECONFIG", list.join(":").as_ref()));
    let mut kubectl = lab.0.kubectl().unwrap();
    let ours = built("kubernetes-1.36-", "kubectl");
    let seen = kubectl.args(["config", "view", "--minify"]).env("PATH", ours.parent().unwrap()).output().unwrap();
    assert!(String::from_utf8_lossy(&seen.stdout).contains(&format!("server: http://{address}")), "{seen:?}");
    assert!(lab.0.nodes().unwrap().is_empty());
    lab.0.machine("m1").unwrap().run("true").unwrap();
    let namespaces: Api<Namespace> = Api::all(lab.0.client().await.unwrap());
    let found = namespaces.get("of-the-given-cluster").await.unwrap();
    assert_eq!(found.metadata.name.as_deref(), Some("of-the-given-cluster"));
}

fn answer_once(outside: &std::net::TcpListener) {
    let (mut stream, _) = outside.accept().unwrap();
    let path = BufReader::new(&stream).lines().next().unwrap().unwrap().split(' ').nth(1).unwrap().to_owned();
    let name = path.rsplit('/').next().unwrap();
    let body = serde_json::json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}).to_string();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length:";
    write!(stream, "{head} {}\r\n\r\n{body}", body.len()).unwrap();
}

#[test]
#[ignore = "it needs the computer for itself"]
fn a_missing_kernel_feature_is_reported_before_anything_starts() {
    for (capability, refused) in [
        ("sys_admin", &["new namespaces"] as &[_]),
        ("net_admin", &["a bridge", "a veth pair", "iptables rules in nf_tables"]),
    ] {
        let without = format!("-{capability}");
        let done = Command::new("setpriv")
            .args(["--bounding-set", &without, "--inh-caps", &without, env!("CARGO_BIN_EXE_kubeonkube-lab")])
            .args(["up", "--machines-only"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        let lacks: Vec<_> = said.lines().skip(1).collect();
        assert_eq!(lacks.len(), refused.len(), "{said}");
        assert!(lacks.iter().zip(refused).all(|(lack, what)| lack.contains(what)), "{said}");
        assert!(matches!(Lab::attach(), Err(lab::Error::NoLab)));
    }
}

#[test]
#[ignore = "it needs the computer for itself"]
fn an_unusable_option_is_refused_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    let nothing = folder.path().to_string_lossy();
    for (words, why) in [
        (["--assets", &nothing], "there is no kube-apiserver in it"),
        (["--kubeconfig", "/nothing/here"], "the kubeconfig /nothing/here can't be used"),
        (["--until-exit-of", "999999999"], "there is no process 999999999"),
    ] {
        let done = command(&["up", words[0], words[1]]).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(!done.status.success() && said.contains(why), "{said}");
        assert!(matches!(Lab::attach(), Err(lab::Error::NoLab)));
    }
}
