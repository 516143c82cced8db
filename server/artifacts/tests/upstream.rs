//! The folder is written from a server on this machine that plays dl.k8s.io and the registries.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{OriginalUri, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use kubeonkube_artifacts::{Error, Request, Sources, write};
use operation::versions::Program;
use serde_json::json;
use sha2::{Digest, Sha256};

const VERSION: &str = "1.30.1";
const CONTAINERD: &str = "/containerd/containerd/releases/download/v2.0.0/containerd-static-2.0.0-linux-amd64.tar.gz";
const RUNC: &str = "/opencontainers/runc/releases/download/v1.3.0/runc.amd64";

/// Its files by path, and what it was asked for.
#[derive(Default)]
struct Upstream {
    files: BTreeMap<String, Vec<u8>>,
    asked: Mutex<Vec<String>>,
}

fn sha256(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Upstream {
    fn file(&mut self, path: &str, content: impl Into<Vec<u8>>) {
        self.files.insert(path.to_owned(), content.into());
    }

    fn program(&mut self, name: &str, content: &str) {
        let path = format!("/release/v{VERSION}/bin/linux/amd64/{name}");
        self.file(&path, content);
        self.file(&format!("{path}.sha256"), sha256(content.as_bytes()));
    }

    fn blob(&mut self, repository: &str, content: &str) -> serde_json::Value {
        let digest = format!("sha256:{}", sha256(content.as_bytes()));
        // Registries keep blobs elsewhere and redirect to them.
        self.file(&format!("/store/{digest}"), content);
        self.file(&format!("/v2/{repository}/blobs/{digest}"), format!("redirect /store/{digest}"));
        json!({"mediaType": "application/octet-stream", "digest": digest, "size": content.len()})
    }

    /// An image for two kinds of processors.
    fn image(&mut self, repository: &str, tag: &str) {
        let kind = "application/vnd.oci.image.manifest.v1+json";
        let manifests = ["arm64", "amd64"].map(|processor| {
            let manifest = json!({"schemaVersion": 2, "mediaType": kind,
                "config": self.blob(repository, &format!("{{\"architecture\": \"{processor}\"}}")),
                "layers": [self.blob(repository, &format!("layer of {repository} for {processor}"))]});
            let text = manifest.to_string();
            let digest = format!("sha256:{}", sha256(text.as_bytes()));
            self.file(&format!("/v2/{repository}/manifests/{digest}"), text.as_str());
            json!({"mediaType": kind, "digest": digest, "size": text.len(), "platform": {"os": "linux", "architecture": processor}})
        });
        let list =
            json!({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": manifests});
        self.file(&format!("/v2/{repository}/manifests/{tag}"), list.to_string());
    }
}

/// A registry gives images only to those that have its token.
async fn answer(State(upstream): State<Arc<Upstream>>, uri: OriginalUri, headers: HeaderMap) -> Response {
    let path = uri.path().to_owned();
    upstream.asked.lock().unwrap().push(path.clone());
    if path == "/token" {
        assert_eq!(uri.query(), Some("service=here&scope=repository:any:pull"));
        return r#"{"token": "anonymous"}"#.into_response();
    }
    let has_token = headers.get(header::AUTHORIZATION).is_some_and(|value| value == "Bearer anonymous");
    if path.starts_with("/v2/") && !has_token {
        let host = headers[header::HOST].to_str().unwrap();
        let challenge = format!(r#"Bearer realm="http://{host}/token",service="here",scope="repository:any:pull""#);
        return (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, challenge)]).into_response();
    }
    match upstream.files.get(&path).map(Vec::as_slice) {
        None => StatusCode::NOT_FOUND.into_response(),
        Some(content) => match content.strip_prefix(b"redirect ") {
            Some(to) => Redirect::temporary(std::str::from_utf8(to).unwrap()).into_response(),
            None if content.starts_with(b"chunked ") => {
                let parts = content.chunks(64).map(|part| Ok::<_, Infallible>(Bytes::copy_from_slice(part)));
                Body::from_stream(futures::stream::iter(parts.collect::<Vec<_>>())).into_response()
            }
            None => Bytes::copy_from_slice(content).into_response(),
        },
    }
}

struct World {
    folder: tempfile::TempDir,
    upstream: Arc<Upstream>,
    request: Request,
}

impl World {
    fn new(prepare: impl FnOnce(&mut Upstream)) -> Self {
        let listener = TcpListener::bind("0.0.0.0:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], listener.local_addr().unwrap().port()));
        let mut upstream = Upstream::default();
        upstream.program("kubelet", "kubelet");
        upstream.program("kubectl", "kubectl");
        // It prints the names of the images: "$7" is the argument of --image-repository.
        upstream.program("kubeadm", "#!/bin/sh\nprintf '%s\\n' \"$7/etcd:3.6.5-0\" \"$7/kube-proxy:$5\"\n");
        upstream.image("etcd", "3.6.5-0");
        upstream.image("kube-proxy", &format!("v{VERSION}"));
        upstream.file(CONTAINERD, "containerd");
        upstream.file(RUNC, "runc");
        prepare(&mut upstream);
        let upstream = Arc::new(upstream);
        let router = Router::new().fallback(answer).with_state(upstream.clone());
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                axum::serve(tokio::net::TcpListener::from_std(listener).unwrap(), router).await.unwrap();
            });
        });
        let url = format!("http://{address}");
        let sources = Sources {
            dl_k8s_io_url: url.clone(),
            kube_image_repo: address.to_string(),
            quay_image_repo: format!("{address}/quay"),
            github_url: url.clone(),
            cilium_chart_url: url.clone(),
            get_helm_url: url,
        };
        let program = |version: &str, content: &str| Program {
            version: version.into(),
            sha256: ["amd64", "arm64"].map(|processor| (processor.to_owned(), sha256(content.as_bytes()))).into(),
        };
        let request = Request {
            version: VERSION.parse().unwrap(),
            processor: "amd64".into(),
            containerd: program("2.0.0", "containerd"),
            runc: program("1.3.0", "runc"),
            plugins: Vec::new(),
            sources,
        };
        Self { folder: tempfile::tempdir().unwrap(), upstream, request }
    }

    fn write(&self) -> Result<(), Error> {
        self.upstream.asked.lock().unwrap().clear();
        write(&self.request, self.folder.path(), &|_| {})
    }

    fn check_sums(&self) {
        output(Command::new("sha256sum").args(["--check", "--strict", "SHA256SUMS"]).current_dir(self.release()));
    }

    fn release(&self) -> std::path::PathBuf {
        self.folder.path().join(format!("release/v{VERSION}"))
    }
}

fn output(command: &mut Command) -> String {
    let done = command.output().unwrap();
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<String> {
    let said = output(Command::new("find").arg(folder).args(["-type", "f", "-printf", "%P\n"]));
    let mut names: Vec<String> = said.lines().map(str::to_owned).collect();
    names.sort();
    names
}

#[test]
fn the_folder_is_what_the_engine_reads() {
    let world = World::new(|_| {});
    world.write().unwrap();
    let programs = ["kubeadm", "kubeadm.sha256", "kubectl", "kubectl.sha256", "kubelet", "kubelet.sha256"];
    let mut expected: Vec<String> = programs.iter().map(|name| format!("bin/linux/amd64/{name}")).collect();
    expected.extend(["SHA256SUMS", "images/etcd.tar", "images/kube-proxy.tar"].map(str::to_owned));
    expected.sort();
    assert_eq!(files(&world.release()), expected);
    world.check_sums();
    assert_eq!(fs::read_to_string(world.release().join("bin/linux/amd64/kubectl.sha256")).unwrap(), sha256(b"kubectl"));
}

#[test]
fn containerd_and_runc_are_beside_the_releases() {
    let world = World::new(|_| {});
    world.write().unwrap();
    let read = |name: &str| fs::read_to_string(world.folder.path().join(name)).unwrap();
    for (name, content) in [
        ("containerd/v2.0.0/containerd-static-2.0.0-linux-amd64.tar.gz", "containerd"),
        ("runc/v1.3.0/runc.amd64", "runc"),
    ] {
        assert_eq!(read(name), content);
        assert_eq!(read(&format!("{name}.sha256")), sha256(content.as_bytes()));
    }
}

#[test]
fn a_runc_with_another_checksum_is_not_kept() {
    let world = World::new(|upstream| upstream.file(RUNC, "changed"));
    let error = world.write().unwrap_err();
    assert!(matches!(&error, Error::Checksum { url, .. } if url.as_str().ends_with(RUNC)), "{error}");
    assert!(!world.folder.path().join("runc/v1.3.0/runc.amd64").exists());
}

#[test]
fn an_archive_contains_the_image_for_the_processor() {
    let world = World::new(|_| {});
    world.write().unwrap();
    let archive = world.release().join("images/etcd.tar");
    let member = |name: &str| {
        output(Command::new("tar").arg("--extract").arg("--to-stdout").arg("--file").arg(&archive).arg(name))
    };
    let index: serde_json::Value = serde_json::from_str(&member("index.json")).unwrap();
    let manifest = &index["manifests"][0];
    let repository = &world.request.sources.kube_image_repo;
    assert_eq!(manifest["annotations"]["io.containerd.image.name"], format!("{repository}/etcd:3.6.5-0"));
    let blob = |digest: &str| member(&format!("blobs/{}", digest.replace(':', "/")));
    let manifest: serde_json::Value = serde_json::from_str(&blob(manifest["digest"].as_str().unwrap())).unwrap();
    assert_eq!(blob(manifest["layers"][0]["digest"].as_str().unwrap()), "layer of etcd for amd64");
    assert!(member("oci-layout").contains("1.0.0"));
}

#[test]
fn a_second_call_downloads_only_what_is_missing() {
    let world = World::new(|_| {});
    world.write().unwrap();
    fs::remove_file(world.release().join("images/etcd.tar")).unwrap();
    fs::write(world.release().join("bin/linux/amd64/kubelet"), "damaged").unwrap();
    world.write().unwrap();
    let asked = world.upstream.asked.lock().unwrap().clone();
    let content: Vec<&String> = asked.iter().filter(|path| !path.ends_with(".sha256")).collect();
    assert!(content.iter().any(|path| path.ends_with("/kubelet")), "{content:?}");
    assert!(content.iter().any(|path| path.starts_with("/v2/etcd/")), "{content:?}");
    assert!(!content.iter().any(|path| path.ends_with("/kubectl") || path.contains("kube-proxy")), "{content:?}");
    world.check_sums();
}

#[test]
fn an_archive_that_changed_is_pulled_again() {
    let world = World::new(|_| {});
    world.write().unwrap();
    let sums = fs::read_to_string(world.release().join("SHA256SUMS")).unwrap();
    fs::write(world.release().join("images/etcd.tar"), "damaged").unwrap();
    fs::write(world.release().join("images/unknown.tar"), "from elsewhere").unwrap();
    world.write().unwrap();
    assert_eq!(fs::read_to_string(world.release().join("SHA256SUMS")).unwrap(), sums);
    world.check_sums();
    let asked = world.upstream.asked.lock().unwrap().clone();
    assert!(asked.iter().any(|path| path.starts_with("/v2/etcd/")), "{asked:?}");
    assert!(!asked.iter().any(|path| path.starts_with("/v2/kube-proxy/")), "{asked:?}");
}

#[test]
fn an_interrupted_call_keeps_its_archives() {
    let world = World::new(|upstream| upstream.files.retain(|path, _| !path.starts_with("/v2/kube-proxy/")));
    world.write().unwrap_err();
    world.write().unwrap_err();
    let asked = world.upstream.asked.lock().unwrap().clone();
    assert!(!asked.iter().any(|path| path.starts_with("/v2/etcd/")), "{asked:?}");
    assert!(asked.iter().any(|path| path.starts_with("/v2/kube-proxy/")), "{asked:?}");
}

#[test]
fn a_program_with_another_checksum_is_not_kept() {
    let world =
        World::new(|upstream| upstream.file(&format!("/release/v{VERSION}/bin/linux/amd64/kubelet"), "changed"));
    let error = world.write().unwrap_err();
    assert!(matches!(&error, Error::Checksum { found, .. } if *found == sha256(b"changed")), "{error}");
    assert!(!files(&world.release()).iter().any(|name| name.ends_with("/kubelet")));
}

#[test]
fn a_version_of_the_catalogue_needs_its_checksum() {
    let world = World::new(|upstream| {
        upstream.file("/release/v1.34.4/bin/linux/amd64/kubeadm", "changed");
        upstream.file("/release/v1.34.4/bin/linux/amd64/kubeadm.sha256", sha256(b"changed"));
    });
    let request = Request { version: "1.34.4".parse().unwrap(), ..world.request.clone() };
    let error = write(&request, world.folder.path(), &|_| {}).unwrap_err();
    assert!(matches!(error, Error::Checksum { .. }), "{error}");
}

#[test]
fn a_layer_with_another_digest_is_not_kept() {
    let layer = sha256(b"layer of etcd for amd64");
    let world = World::new(|upstream| upstream.file(&format!("/store/sha256:{layer}"), "changed"));
    let error = world.write().unwrap_err();
    assert!(matches!(&error, Error::Checksum { expected, .. } if *expected == layer), "{error}");
    assert!(!files(&world.release()).iter().any(|name| name.starts_with("images/")), "{:?}", files(&world.release()));
}

#[test]
fn the_file_of_a_plugin_needs_the_checksum_of_the_catalogue() {
    let world = World::new(|upstream| {
        upstream.file("/projectcalico/calico/raw/v3.31.7/manifests/calico-vxlan.yaml", "changed");
    });
    let request = Request { plugins: vec!["calico".into()], ..world.request.clone() };
    let error = write(&request, world.folder.path(), &|_| {}).unwrap_err();
    assert!(matches!(&error, Error::Checksum { url, .. } if url.as_str().ends_with("/calico-vxlan.yaml")), "{error}");
    let request = Request { plugins: vec!["weave".into()], ..world.request };
    let error = write(&request, world.folder.path(), &|_| {}).unwrap_err();
    assert_eq!(error.to_string(), "there is no network plugin “weave” in the catalogue. It has: calico, cilium");
}

#[test]
fn a_folder_is_for_one_kind_of_processor() {
    let world = World::new(|_| {});
    world.write().unwrap();
    let request = Request { processor: "arm64".into(), ..world.request };
    let error = write(&request, world.folder.path(), &|_| {}).unwrap_err();
    assert!(matches!(error, Error::AnotherProcessor { .. }), "{error}");
    // Plugins' folders have no version of Kubernetes in their names, so another version doesn't help.
    let request = Request { version: "1.34.4".parse().unwrap(), ..request };
    let error = write(&request, world.folder.path(), &|_| {}).unwrap_err();
    assert!(matches!(error, Error::AnotherProcessor { .. }), "{error}");
}

#[test]
fn an_empty_folder_does_not_decide_the_processor() {
    let world = World::new(|_| {});
    // The server has no programs for arm64.
    let wrong = Request { processor: "arm64".into(), ..world.request.clone() };
    let error = write(&wrong, world.folder.path(), &|_| {}).unwrap_err();
    assert!(matches!(error, Error::Download { .. }), "{error}");
    let interrupted = world.release().join("bin/linux/arm64");
    fs::create_dir_all(&interrupted).unwrap();
    fs::write(interrupted.join(".download-a1B2c3"), "half").unwrap();
    world.write().unwrap();
}

#[test]
fn nothing_is_written_for_wrong_arguments() {
    let world = World::new(|_| {});
    let folder = world.folder.path().join("new");
    let without_runc = {
        let mut request = world.request.clone();
        request.runc.sha256.remove("amd64");
        request
    };
    let mut without_scheme = world.request.clone();
    without_scheme.sources.get_helm_url = "get.helm.sh".into();
    let mut with_scheme = world.request.clone();
    with_scheme.sources.quay_image_repo = "https://quay.io".into();
    let of_no_processor = Request { processor: "s390x".into(), ..world.request.clone() };
    let with_no_plugin = Request { plugins: vec!["weave".into()], ..world.request.clone() };
    for request in [without_runc, without_scheme, with_scheme, of_no_processor, with_no_plugin] {
        write(&request, &folder, &|_| {}).unwrap_err();
        assert!(!folder.exists(), "{}", request.processor);
    }
    assert!(world.upstream.asked.lock().unwrap().is_empty());
}

#[test]
fn a_folder_is_for_one_registry() {
    let world = World::new(|_| {});
    world.write().unwrap();
    let mut request = world.request.clone();
    request.sources.kube_image_repo += "/other";
    let error = write(&request, world.folder.path(), &|_| {}).unwrap_err().to_string();
    let repository = &world.request.sources.kube_image_repo;
    let expected =
        format!("{repository}/etcd:3.6.5-0 for amd64, and {repository}/other/etcd:3.6.5-0 for amd64 is needed");
    assert!(error.contains(&expected), "{error}");
}

#[test]
fn a_kubeadm_without_a_trusted_checksum_is_not_started() {
    let started = tempfile::tempdir().unwrap();
    let mark = started.path().join("mark");
    let world = World::new(|upstream| upstream.program("kubeadm", &format!("#!/bin/sh\ntouch {}\n", mark.display())));
    let mut request = world.request.clone();
    // Also this machine, but the command can't know that.
    let url = &mut request.sources.dl_k8s_io_url;
    *url = url.replace("127.0.0.1", "127.0.0.2");
    let error = write(&request, world.folder.path(), &|_| {}).unwrap_err().to_string();
    assert!(error.contains("has no TLS, so it isn't started"), "{error}");
    assert!(!mark.exists());
}

#[test]
fn a_download_that_is_too_large_is_refused() {
    let sum = format!("/release/v{VERSION}/bin/linux/amd64/kubeadm.sha256");
    let layer = format!("/store/sha256:{}", sha256(b"layer of etcd for amd64"));
    let manifest = "/v2/etcd/manifests/3.6.5-0".to_owned();
    // A text, a manifest, and a layer that is larger than its manifest says; also if the server doesn't announce the size.
    for (path, size) in [(sum, 5 << 20), (manifest, 5 << 20), (layer, 100 << 10)] {
        for start in ["", "chunked "] {
            let world = World::new(|upstream| upstream.file(&path, format!("{start}{}", "x".repeat(size))));
            let error = world.write().unwrap_err().to_string();
            assert!(
                error.contains("Maximum file size exceeded") || error.contains("it is larger than"),
                "{path}: {error}"
            );
            assert!(!files(world.folder.path()).iter().any(|name| name.contains("/images/")));
        }
    }
}

#[test]
fn a_file_that_the_server_lacks_is_named() {
    let world = World::new(|upstream| upstream.files.retain(|path, _| !path.contains("manifests/3.6.5-0")));
    let error = world.write().unwrap_err().to_string();
    assert!(
        error.contains("/v2/etcd/manifests/3.6.5-0 can't be downloaded: the registry answered with status 404"),
        "{error}"
    );
}

#[test]
fn the_error_of_a_download_is_said_once() {
    let world = World::new(|_| {});
    let mut request = world.request.clone();
    // RFC 6761: no server has such a name. curl tries again, and prints an error for each attempt.
    request.sources.dl_k8s_io_url = "http://mirror.invalid".into();
    let error = write(&request, world.folder.path(), &|_| {}).unwrap_err();
    let said = error.to_string();
    assert_eq!(said.matches("resolve").count(), 1, "{said}");
    assert!(said.starts_with("http://mirror.invalid/release/"), "{said}");
    assert!(said.ends_with("then run the command again."), "{said}");
}

#[test]
fn the_error_of_a_file_has_no_source_that_repeats_it() {
    let world = World::new(|_| {});
    let file = world.folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = write(&world.request, &file, &|_| {}).unwrap_err();
    assert!(matches!(&error, Error::File { .. }) && std::error::Error::source(&error).is_none(), "{error:?}");
}

#[test]
fn the_password_of_a_mirror_is_never_shown() {
    let lines = Mutex::new(Vec::new());
    let report = |line: &str| lines.lock().unwrap().push(line.to_owned());
    let with_login = |world: &World| {
        let mut request = world.request.clone();
        let Sources { dl_k8s_io_url, github_url, .. } = &mut request.sources;
        for url in [dl_k8s_io_url, github_url] {
            *url = url.replace("http://", "http://user:hunter22@");
        }
        request
    };
    // The kubeadm of such a server isn't started, and the catalogue doesn't know the version.
    let world = World::new(|_| {});
    let mut elsewhere = with_login(&world);
    let url = &mut elsewhere.sources.dl_k8s_io_url;
    *url = url.replace("127.0.0.1", "127.0.0.2");
    let untrusted = write(&elsewhere, world.folder.path(), &report).unwrap_err();
    write(&elsewhere, world.folder.path(), &report).unwrap_err();
    let world = World::new(|upstream| upstream.file(RUNC, "changed"));
    let changed = write(&with_login(&world), world.folder.path(), &report).unwrap_err();
    let world = World::new(|upstream| drop(upstream.files.remove(RUNC)));
    let missing = write(&with_login(&world), world.folder.path(), &report).unwrap_err();
    let mut request = world.request.clone();
    request.sources.dl_k8s_io_url = "https://user:hunter22/@mirror.example".into();
    let no_url = write(&request, world.folder.path(), &report).unwrap_err();
    request = world.request.clone();
    request.sources.kube_image_repo = "user:hunter22@registry.example".into();
    let no_registry = write(&request, world.folder.path(), &report).unwrap_err();
    assert!(
        matches!(
            (&untrusted, &changed, &missing, &no_url, &no_registry),
            (
                Error::UnknownImages { .. },
                Error::Checksum { .. },
                Error::Download { .. },
                Error::NoUrl { .. },
                Error::NoRegistry { .. }
            )
        ),
        "{untrusted} {changed} {missing} {no_url} {no_registry}"
    );
    let mut said = lines.into_inner().unwrap();
    assert!(said.iter().any(|line| line.ends_with("/kubelet: already there")), "{said:?}");
    for error in [untrusted, changed, missing, no_url, no_registry] {
        said.push(format!("{error} {error:?}"));
    }
    assert!(!said.iter().any(|line| line.contains("hunter22")), "{said:?}");
}

#[test]
fn what_an_interrupted_call_left_is_removed() {
    let world = World::new(|_| {});
    let folder = world.folder.path();
    let release = format!("release/v{VERSION}");
    // As kill -9 leaves them.
    let left = [
        format!("{release}/.download-a1B2c3"),
        format!("{release}/bin/linux/amd64/.download-a1B2c3"),
        format!("{release}/images/.download-a1B2c3/blobs/sha256/layer"),
        "release/v1.29.0/bin/linux/amd64/.download-a1B2c3".to_owned(),
        "runc/v1.3.0/.download-a1B2c3".to_owned(),
        "calico/v3.31.7/images/.download-a1B2c3".to_owned(),
    ];
    // Not of this program.
    let others = [
        format!("{release}/images/.download-my-list"),
        "photos/.download-a1B2c3".to_owned(),
        "containerd/data/.download-a1B2c3".to_owned(),
    ];
    for name in left.iter().chain(&others) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "half").unwrap();
    }
    world.write().unwrap();
    let mut found = files(folder);
    found.retain(|name| name.contains(".download-"));
    let mut expected = others.to_vec();
    expected.sort();
    assert_eq!(found, expected);
    for gone in ["release/v1.29.0", "calico"] {
        assert!(!folder.join(gone).exists(), "{gone}");
    }
}

#[test]
fn a_failed_call_leaves_no_empty_folders() {
    let world = World::new(|_| {});
    let wrong = Request { processor: "arm64".into(), ..world.request.clone() };
    write(&wrong, world.folder.path(), &|_| {}).unwrap_err();
    assert_eq!(fs::read_dir(world.folder.path()).unwrap().count(), 0);
}

#[test]
fn one_call_at_a_time_writes_a_folder() {
    let world = World::new(|_| {});
    let temporary = world.release().join(".download-a1B2c3");
    fs::create_dir_all(world.release()).unwrap();
    fs::write(&temporary, "half").unwrap();
    let other = fs::File::open(world.folder.path()).unwrap();
    other.lock().unwrap();
    let error = world.write().unwrap_err();
    assert!(matches!(error, Error::InUse { .. }) && temporary.exists(), "{error}");
    other.unlock().unwrap();
    let is_locked = |_: &str| assert!(fs::File::open(world.folder.path()).unwrap().try_lock().is_err());
    write(&world.request, world.folder.path(), &is_locked).unwrap();
    assert!(!temporary.exists());
}
