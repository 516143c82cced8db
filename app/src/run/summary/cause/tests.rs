use std::collections::BTreeSet;
use std::{env, fs};

use super::*;

fn key(message: &str) -> Option<&'static str> {
    Cause::of(message).map(|cause| cause.key)
}

/// Messages of other versions than those in `produced.json`: from the sources of the programs, which [`table`] names, and from reports.
#[rustfmt::skip]
const MESSAGES: &[(&str, &str)] = &[
    ("host-key-changed", "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @"),
    ("host-key-unknown", "No ED25519 host key is known for 10.0.0.5 and you have requested strict checking.\r\nHost key verification failed."),
    ("sudo-password-wrong", "Incorrect sudo password"),
    ("sudo-password-wrong", "Sorry, try again.\nsudo: 1 incorrect password attempt"),
    ("sudo-password-missing", "Missing sudo password"),
    ("sudo-password-missing", "sudo: a password is required"),
    ("sudo-password-missing", "Timeout (12s) waiting for privilege escalation prompt: "),
    ("sudo-refused", "ada is not in the sudoers file.  This incident will be reported."),
    ("sudo-refused", "Sorry, user ada is not allowed to execute '/bin/sh -c id' as root on w1."),
    ("sudo-not-installed", "/bin/sh: 1: sudo: not found"),
    ("permission-denied", "Failed to connect to the host via ssh: root@10.0.0.5: Permission denied (publickey)."),
    ("permission-denied", "root@10.0.0.5: Permission denied (password,keyboard-interactive)."),
    ("permission-denied", "root@10.0.0.5: Permission denied (keyboard-interactive)."),
    ("permission-denied", "root@10.0.0.5: Permission denied (gssapi-keyex,gssapi-with-mic,publickey)."),
    ("permission-denied", "Invalid/incorrect password: Permission denied, please try again."),
    ("permission-denied", "Failed to connect to the host via ssh: Received disconnect from 10.0.0.5 port 22:2: Too many authentication failures"),
    ("ssh-refused", "Failed to connect to the host via ssh: ssh: connect to host 10.0.0.5 port 22: Connection refused"),
    ("ssh-timed-out", "ssh: connect to host 10.0.0.5 port 22: Connection timed out"),
    ("ssh-timed-out", "ssh: connect to host 10.0.0.5 port 22: No route to host"),
    ("ssh-timed-out", "Failed to connect to the host via ssh: Connection timed out during banner exchange"),
    ("ssh-name-unknown", "ssh: Could not resolve hostname cp1: Name or service not known"),
    ("ssh-name-unknown", "ssh: Could not resolve hostname cp1: Temporary failure in name resolution"),
    ("ssh-closed", "Failed to connect to the host via ssh: kex_exchange_identification: Connection closed by remote host"),
    ("ssh-closed", "Failed to connect to the host via ssh: Connection reset by 10.0.0.5 port 22"),
    ("python-missing", "The module interpreter '/usr/bin/python3' was not found."),
    ("python-missing", "/bin/sh: 1: /usr/bin/python3: not found"),
    ("python-too-old", "ansible-core requires a minimum of Python version 3.8. Current version: 3.7.3 (default, Mar 23 2024, 16:12:05) [GCC 8.3.0]"),
    ("python-library-missing", "Failed to import the required Python library (kubernetes) on cp1's Python /usr/bin/python3.11."),
    ("disk-full", "OSError: [Errno 28] No space left on device"),
    ("disk-full", "E: You don't have enough free space in /var/cache/apt/archives/."),
    ("read-only-file-system", "mkdir: cannot create directory '/etc/kubernetes': Read-only file system"),
    ("no-memory", "OSError: [Errno 12] Cannot allocate memory"),
    ("too-few-processors", "[ERROR NumCPU]: the number of available CPUs 1 is less than the required 2"),
    ("too-little-memory", "[ERROR Mem]: the system RAM (985 MB) is less than the minimum 1700 MB"),
    ("packages-locked", "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 1234 (unattended-upgr)"),
    ("packages-locked", "E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?"),
    ("packages-locked", "Failed to lock apt for exclusive operation: Failed to lock /var/lib/apt/lists/lock"),
    ("packages-locked", "yum lockfile is held by another process"),
    ("dpkg-interrupted", "E: dpkg was interrupted, you must manually run 'dpkg --configure -a' to correct the problem. "),
    ("packages-held", "E: Held packages were changed and -y was used without --allow-change-held-packages."),
    ("packages-broken", "E: Unable to correct problems, you have held broken packages."),
    ("packages-broken", "E: Unmet dependencies. Try 'apt --fix-broken install' with no packages (or specify a solution)."),
    ("package-not-found", "E: Unable to locate package kubeadm"),
    ("package-not-found", "No package matching 'containerd.io' is available"),
    ("package-not-found", "no available installation candidate for kubelet=1.36.2-1.1"),
    ("package-not-found", "E: Version '1.36.1-1.1' for 'kubeadm' was not found"),
    ("package-not-found", "E: Package 'docker-ce' has no installation candidate"),
    ("gpg-key-missing", "W: GPG error: https://pkgs.k8s.io InRelease: The following signatures couldn't be verified because the public key is not available: NO_PUBKEY 234654DA9A296436"),
    ("package-sources", "E:The repository 'https://pkgs.k8s.io/core:/stable:/v1.30/deb  InRelease' is not signed."),
    ("gpg-key-missing", "Public key for kubelet-1.30.0-150500.1.1.x86_64.rpm is not installed"),
    ("clock-wrong", "E: Release file for http://archive.ubuntu.com/ubuntu/dists/focal/InRelease is not valid yet (invalid for another 2h 15min 30s). Updates for this repository will not be applied."),
    ("clock-wrong", "tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time 2021-01-01T00:00:07Z is before 2026-02-01T00:00:00Z"),
    ("certificate-expired", "Unable to connect to the server: tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time 2026-11-23T10:00:00Z is after 2026-11-01T09:00:00Z"),
    ("certificate-expired", "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: certificate has expired (_ssl.c:1006)"),
    ("certificate-unknown", "Unable to connect to the server: tls: failed to verify certificate: x509: certificate signed by unknown authority"),
    ("certificate-unknown", "Request failed: <urlopen error [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: unable to get local issuer certificate (_ssl.c:1006)>"),
    ("certificate-unknown", "Request failed: <urlopen error [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate in certificate chain (_ssl.c:1006)>"),
    ("certificate-unknown", "curl: (60) SSL certificate problem: unable to get local issuer certificate"),
    ("certificate-unknown", "curl: (60) SSL certificate problem: self-signed certificate in certificate chain"),
    ("proxy", "failed to do request: Head \"https://registry.k8s.io/v2/pause/manifests/3.9\": proxyconnect tcp: dial tcp 192.168.65.7:3128: connect: connection refused"),
    ("proxy", "Request failed: <urlopen error Tunnel connection failed: 407 Proxy Authentication Required>"),
    ("proxy", "curl: (56) Received HTTP code 403 from proxy after CONNECT"),
    ("dns", "Temporary failure resolving 'deb.debian.org'"),
    ("dns", "Request failed: <urlopen error [Errno -3] Temporary failure in name resolution>"),
    ("dns", "curl: (6) Could not resolve host: dl.k8s.io"),
    ("dns", "dial tcp: lookup registry.k8s.io on 127.0.0.53:53: no such host"),
    ("image-rate-limit", "unexpected status code https://registry-1.docker.io/v2/library/nginx/manifests/1.27: 429 Too Many Requests - Server message: toomanyrequests: You have reached your unauthenticated pull rate limit."),
    ("image-unauthorised", "failed to resolve reference \"docker.io/acme/api:1\": pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed"),
    ("image-unauthorised", "failed to resolve reference \"ghcr.io/acme/api:1\": failed to authorize: failed to fetch anonymous token: unexpected status from GET request to https://ghcr.io/token?scope=repository%3Aacme%2Fapi%3Apull&service=ghcr.io: 403 Forbidden"),
    ("image-unauthorised", "failed to resolve reference \"ghcr.io/acme/api:1\": failed to authorize: failed to fetch oauth token: unexpected status from GET request to https://ghcr.io/token?service=ghcr.io: 401 Unauthorized"),
    ("image-not-found", "[ERROR ImagePull]: failed to pull image registry.k8s.io/kube-apiserver:v1.99.0: failed to pull and unpack image \"registry.k8s.io/kube-apiserver:v1.99.0\": failed to resolve reference \"registry.k8s.io/kube-apiserver:v1.99.0\": registry.k8s.io/kube-apiserver:v1.99.0: not found"),
    ("image-not-pulled", "failed to resolve reference \"ghcr.io/acme/api:1\": failed to authorize: failed to fetch anonymous token: Get \"https://ghcr.io/token\": dial tcp 140.82.121.34:443: i/o timeout"),
    ("image-not-pulled", "The pod can't start: ImagePullBackOff: Back-off pulling image \"registry.example/runner:1\""),
    ("wrong-checksum", "The checksum for /tmp/releases/runc did not match ab12; it was cd34."),
    ("wrong-checksum", "E: Failed to fetch http://archive.ubuntu.com/ubuntu/dists/jammy/main/binary-amd64/Packages.gz  Hash Sum mismatch"),
    ("wrong-checksum", "http://files.example/kubelet has another checksum than expected: it is damaged, or not the right file."),
    ("download-not-found", "Request failed: HTTP Error 404: Not Found"),
    ("download-not-found", "E: Failed to fetch http://deb.debian.org/debian/pool/main/c/curl/curl_7.88.1-10_amd64.deb  404  Not Found [IP: 151.101.2.132 80]"),
    ("download-not-found", "curl: (22) The requested URL returned error: 404"),
    ("download-refused", "curl: (7) Failed to connect to dl.k8s.io port 443 after 3 ms: Couldn't connect to server"),
    ("download-refused", "Request failed: <urlopen error [Errno 111] Connection refused>"),
    ("download-refused", "Could not connect to deb.debian.org:80 (151.101.2.132), connection timed out"),
    ("swap", "[ERROR Swap]: running with swap on is not supported. Please disable swap"),
    ("swap", "failed to run Kubelet: running with swap on is not supported, please disable swap or set --fail-swap-on flag to false"),
    ("cgroup-v1", "failed to validate kubelet configuration, error: kubelet is configured to not run on a host using cgroup v1. cgroup v1 support is unsupported and will be removed in a future release"),
    ("cgroup-v1", "m1: The machine uses cgroups of version 1, which Kubernetes 1.35 and newer refuse. Boot it with systemd.unified_cgroup_hierarchy=1"),
    ("memory-cgroup-off", "[ERROR SystemVerification]: missing required cgroups: memory"),
    ("br-netfilter", "[ERROR FileContent--proc-sys-net-bridge-bridge-nf-call-iptables]: /proc/sys/net/bridge/bridge-nf-call-iptables does not exist"),
    ("bridge-not-filtered", "[ERROR FileContent--proc-sys-net-bridge-bridge-nf-call-iptables]: /proc/sys/net/bridge/bridge-nf-call-iptables contents are not set to 1"),
    ("br-netfilter", "modprobe: FATAL: Module br_netfilter not found in directory /lib/modules/5.15.0-91-generic"),
    ("ip-forward", "[ERROR FileContent--proc-sys-net-ipv4-ip_forward]: /proc/sys/net/ipv4/ip_forward contents are not set to 1"),
    ("ipv6-forward", "[ERROR FileContent--proc-sys-net-ipv6-conf-default-forwarding]: /proc/sys/net/ipv6/conf/default/forwarding contents are not set to 1"),
    ("kernel-module", "modprobe: FATAL: Module overlay not found in directory /lib/modules/5.15.0-91-generic"),
    ("port-in-use", "[ERROR Port-6443]: Port 6443 is in use"),
    ("port-in-use", "listen tcp 0.0.0.0:2379: bind: address already in use"),
    ("earlier-cluster", "[ERROR Port-10250]: Port 10250 is in use\n\t[ERROR DirAvailable--var-lib-etcd]: /var/lib/etcd is not empty"),
    ("earlier-cluster", "[ERROR FileAvailable--etc-kubernetes-kubelet.conf]: /etc/kubernetes/kubelet.conf already exists"),
    ("system-unsupported", "[ERROR SystemVerification]: unsupported kernel release: 3.10.0-1160.el7.x86_64"),
    ("cri-disabled", "[ERROR CRI]: container runtime is not running: output: time=\"2023-04-18T16:54:14+09:00\" level=fatal msg=\"validate service connection: CRI v1 runtime API is not implemented for endpoint\""),
    ("containerd-not-running", "dial unix /run/containerd/containerd.sock: connect: no such file or directory"),
    ("cni-not-ready", "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"),
    ("kubelet-not-healthy", "[kubelet-check] The kubelet is not healthy after 4m0.000580205s"),
    ("kubelet-not-healthy", "[kubelet-check] The HTTP call equal to 'curl -sSL http://localhost:10248/healthz' failed with error: Get \"http://localhost:10248/healthz\": dial tcp 127.0.0.1:10248: connect: connection refused."),
    ("token-expired", "error execution phase preflight: couldn't validate the identity of the API Server: could not find a JWS signature in the cluster-info ConfigMap for token ID \"5xf60f\""),
    ("uploaded-certificates-expired", "error downloading certs: error downloading the secret: Secret \"kubeadm-certs\" was not found in the \"kube-system\" Namespace. This Secret might have expired."),
    ("node-name-taken", "error execution phase kubelet-start: a Node with name \"w1\" and status \"Ready\" already exists in the cluster. You must delete the existing Node or change the name of this new joining Node"),
    ("disruption-budget", "error when evicting pods/\"shop-774b84ff8c-cqttc\" -n \"default\" (will retry after 5s): Cannot evict pod as it would violate the pod's disruption budget."),
    ("drain-refused", "error: unable to drain node \"w1\" due to error: cannot delete Pods that declare no controller (use --force to override): default/httpd"),
    ("drain-refused", "cannot delete Pods with local storage (use --delete-emptydir-data to override): kube-system/metrics-server"),
    ("drain-timed-out", "error: unable to drain node \"w1\" due to error: error when evicting pods/\"web-1\" -n \"shop\": global timeout reached: 1m0s, continuing command..."),
    ("minor-version-skipped", "- Specified version to upgrade to \"v1.22.0\" is too high; kubeadm can upgrade only 1 minor version at a time"),
    ("version-skew", "Specified version to upgrade to \"v1.31.6\" is higher than the kubeadm version \"v1.31.0\". Upgrade kubeadm first using the tool you used to install kubeadm"),
    ("version-skew", "[ERROR KubeletVersion]: the kubelet version is higher than the control plane version. This is not a supported version skew and may lead to a malfunctional cluster."),
    ("version-skew", "this version of kubeadm only supports deploying clusters with the control plane version >= 1.32.0. Current version: v1.31.1"),
    ("etcd-full", "etcdserver: mvcc: database space exceeded"),
    ("etcd-quorum", "etcdserver: re-configuration failed due to not enough started members"),
    ("etcd-quorum", "rpc error: code = Unavailable desc = etcdserver: no leader"),
    ("etcd-unhealthy", "https://172.20.0.2:2379 is unhealthy: failed to commit proposal: context deadline exceeded"),
    ("etcd-unhealthy", "etcdserver: request timed out"),
    ("api-server-silent", "The connection to the server 10.0.0.1:6443 was refused - did you specify the right host or port?"),
    ("api-server-silent", "Unable to connect to the server: dial tcp 10.0.0.1:6443: i/o timeout"),
    ("control-plane-not-started", "error execution phase wait-control-plane: couldn't initialize a Kubernetes cluster"),
    ("control-plane-not-started", "error execution phase wait-control-plane: cannot obtain client without bootstrap: could not bootstrap the admin user in file admin.conf: unable to create ClusterRoleBinding"),
    ("taint", "0/3 nodes are available: 3 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }."),
    ("not-permitted", "cp: cannot open '/etc/shadow': Permission denied"),
    ("not-permitted", "rsync: [receiver] mkstemp \"/etc/.hosts.x1\" failed: Permission denied (13)"),
    ("not-permitted", "PermissionError: [Errno 13] Permission denied: '/etc/x'"),
    ("package-sources", "Failed to update apt cache after 5 retries: "),
    ("api-unauthorised", "error: You must be logged in to the server (Unauthorized)"),
    ("api-forbidden", "Error from server (Forbidden): nodes is forbidden: User \"ada\" cannot list resource \"nodes\""),
    ("control-planes-even", "etcd runs on them, and an even number survives no more failures than 1 would. Use 1, 3 or 5."),
    ("vault-password", "ERROR! Attempting to decrypt but no vault secrets found"),
    ("vault-password", "Decryption failed (no vault secrets were found that could decrypt)."),
    ("module-missing", "ERROR! couldn't resolve module/action 'ansible.posix.firewalld'. This often indicates a misspelling, missing collection, or incorrect module path."),
    ("role-missing", "ERROR! the role 'kubespray-defaults' was not found in /opt/playbooks/roles:/opt/playbooks"),
    ("yaml", "ERROR! Syntax Error while loading YAML."),
    ("undefined-variable", "The task includes an option with an undefined variable.. The error was: 'kube_vip' is undefined"),
    ("disk-full", "write /var/lib/containerd/tmp/x: no space left on device"),
    ("read-only-file-system", "mkdir /etc/kubernetes/manifests: read-only file system"),
    ("no-memory", "fork/exec /usr/bin/runc: cannot allocate memory"),
    ("undefined-variable", "object of type 'HostVarsVars' has no attribute 'cluster_id'"),
    ("api-server-silent", "Unable to connect to the server: EOF"),
    ("api-server-silent", "Unable to connect to the server: context deadline exceeded"),
    ("api-server-silent", "Get \"https://10.0.0.1:6443/api/v1/nodes\": EOF"),
    ("python-missing", "/bin/sh: /usr/bin/python3: No such file or directory"),
    ("api-server-silent", "couldn't validate the identity of the API Server: failed to request the cluster-info ConfigMap: client rate limiter Wait returned an error: context deadline exceeded"),
    ("no-host-matched", "ERROR! Specified hosts and/or --limit does not match any hosts"),
];

#[test]
fn real_messages_of_programs_tell_their_cause() {
    for (cause, message) in MESSAGES {
        assert_eq!(key(message), Some(*cause), "{message}");
    }
}

/// A message in `produced.json`. `CAUSES_RECORD=FILE` with the lab's test `causes` writes such a file.
#[derive(serde::Deserialize)]
struct Produced {
    cause: String,
    /// Playbook or program.
    how: String,
    message: String,
}

fn produced() -> Vec<Produced> {
    serde_json::from_str(include_str!("produced.json")).expect("a list of messages")
}

#[test]
fn messages_that_the_lab_produced_tell_their_cause() {
    for Produced { cause, how, message } in produced() {
        assert_eq!(key(&message), Some(cause.as_str()), "{how}: {message}");
    }
    let seen: BTreeSet<_> = produced().into_iter().map(|produced| produced.cause).collect();
    let marked = table::CAUSES.iter().filter(|cause| cause.proof == Proof::Produced);
    assert_eq!(seen, marked.map(|cause| cause.key.to_owned()).collect());
    assert!(seen.len() >= 40, "{}", seen.len());
}

/// The lab's test judges messages by the same signs. It fails if a cause that is marked as produced is not, or the other way round.
#[test]
fn the_labs_test_knows_the_same_causes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../end2end/lab/tests/causes/causes.json");
    let lines = table::CAUSES.iter().map(|cause| {
        let signs: Vec<_> = cause.signs.iter().map(|sign| serde_json::json!(sign).to_string()).collect();
        let produced = cause.proof == Proof::Produced;
        format!(r#"{{"key": "{}", "produced": {produced}, "signs": [{}]}}"#, cause.key, signs.join(", "))
    });
    let wanted = format!("[\n{}\n]\n", lines.collect::<Vec<_>>().join(",\n"));
    if env::var_os("UPDATE_CAUSES").is_some() {
        fs::write(path, &wanted).expect("written");
    }
    assert_eq!(fs::read_to_string(path).unwrap_or_default(), wanted, "UPDATE_CAUSES=1 writes it again");
}

#[test]
fn the_docs_name_the_numbers_of_causes() {
    let produced = table::CAUSES.iter().filter(|cause| cause.proof == Proof::Produced).count();
    let numbers = format!("{} causes, {produced} of which", table::CAUSES.len());
    for (file, text) in [
        ("CHANGELOG.md", include_str!("../../../../../CHANGELOG.md")),
        ("README.md", include_str!("../../../../../README.md")),
    ] {
        assert!(text.contains(&numbers), "{file} doesn't say “{numbers}”");
    }
}

#[test]
fn each_cause_has_a_message_and_a_text_of_its_own() {
    let shown: BTreeSet<_> = MESSAGES.iter().map(|(cause, _)| *cause).collect();
    let known: Vec<_> = table::CAUSES.iter().map(|cause| cause.key).collect();
    assert_eq!(shown, known.iter().copied().collect(), "a cause without a message, or twice");
    assert_eq!(known.len(), shown.len(), "two causes have the same key");
    assert!(known.len() >= 40, "{}", known.len());
    let texts: BTreeSet<_> = table::CAUSES.iter().map(|cause| cause.sentence).collect();
    assert_eq!(texts.len(), known.len());
    assert!(texts.iter().all(|text| text.ends_with('.')));
}

#[test]
fn ordinary_output_tells_no_cause() {
    for message in [
        "Error: a password is required to open the key store",
        "Request failed: <urlopen error [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: Hostname mismatch, certificate is not valid for 'mirror.example'. (_ssl.c:1006)>",
        "[ERROR SystemVerification]: missing required cgroups: pids",
        "[ERROR FileContent--proc-sys-net-ipv6-conf-default-forwarding]: /proc/sys/net/ipv6/conf/default/forwarding does not exist",
        "Not everything was ready after 180s: error: timed out waiting for the condition.",
        "Failed to connect to the host via ssh: banner exchange: Connection to 10.0.0.5 port 22: Broken pipe",
        "Failed to fetch openssh-server: Connection timed out",
        "non-zero return code: exit status 1",
        // A part of a variable that the playbook itself makes, kubectl without a kubeconfig, and a certificate for another name.
        "The task includes an option with an undefined variable.. 'dict object' has no attribute 'absent'",
        "The connection to the server localhost:8080 was refused - did you specify the right host or port?",
        "Unable to connect to the server: tls: failed to verify certificate: x509: certificate is valid for 10.96.0.1, not 10.0.0.1",
        "Assertion failed",
        // What kubeadm and apt print when all is well.
        "[preflight] Running pre-flight checks",
        "[WARNING Swap]: swap is supported for cgroup v2 only. The kubelet must be properly configured to use swap.",
        "[WARNING SystemVerification]: cgroups v1 support is in maintenance mode, please migrate to cgroups v2",
        "[preflight] If you know what you are doing, you can make a check non-fatal with `--ignore-preflight-errors=...`",
        "[kubelet-check] Waiting for a healthy kubelet at http://127.0.0.1:10248/healthz. This can take up to 4m0s",
        "[kubelet-check] The kubelet is healthy after 1.001037846s",
        "[control-plane-check] kube-apiserver is healthy after 5.001s",
        "https://172.20.0.2:2379 is healthy: successfully committed proposal: took = 11.523396ms",
        "[certs] Generating \"etcd/ca\" certificate and key",
        "[mark-control-plane] Marking the node cp1 as control-plane by adding the taints [node-role.kubernetes.io/control-plane:NoSchedule]",
        "[upgrade/versions] Target version: v1.34.4",
        "evicting pod shop/web-1",
        "pod/web-1 evicted",
        "WARNING: ignoring DaemonSet-managed Pods: kube-system/kube-proxy-9wq4t",
        "0 upgraded, 0 newly installed, 0 to remove and 3 not upgraded.",
        "kubelet set on hold.",
        "Setting up python3 (3.11.2-1+b1) ...",
        "W: Target Packages (main/binary-amd64/Packages) is configured multiple times in /etc/apt/sources.list:1",
        "/dev/sda1 20G 9.1G 9.8G 49% /",
        "tmpfs on /run type tmpfs (rw,nosuid,nodev,size=1622036k,mode=755)",
        "Swap:          2097148           0     2097148",
    ] {
        assert_eq!(key(message), None, "{message}");
    }
}

#[test]
fn the_parts_of_a_sign_are_in_one_line_and_in_order() {
    assert!(contains("E: Version '1.2' for 'x' was not found", "Version '…' was not found"));
    assert!(!contains("x was not found: Version '1'", "Version '…' was not found"));
    assert_eq!(key("Failed to connect to the host via ssh: x\ncurl: Connection refused"), None);
}

#[test]
fn the_callback_plugins_texts_about_host_keys_are_known() {
    let plugin = include_str!("../../../../../deploy/runner/callback/kubeonkube_events.py");
    let texts = plugin.split("def host_key_refusal").nth(1).expect("the function").split("\ndef ").next();
    let texts = texts.expect("its end").split("return \"").skip(1);
    let causes: Vec<_> = texts.map(|text| key(text.split('"').next().unwrap_or_default())).collect();
    assert_eq!(causes, [Some(HOST_KEY_CHANGED), Some("host-key-unknown")]);
}
