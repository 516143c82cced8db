//! The known causes, most specific first: a message that has signs of several causes tells the first of them.

use api::configuration::Document;

use super::super::reason::Next;
use super::{Cause, HOST_KEY_CHANGED, Proof};

/// Each comment names the program that prints the signs below it.
pub(super) const CAUSES: &[Cause] = &[
    // ## The connection
    Cause {
        key: HOST_KEY_CHANGED,
        proof: Proof::Produced,
        // OpenSSH, sshconnect.c; our callback plugin.
        signs: &["HOST IDENTIFICATION HAS CHANGED", "is not the confirmed one"],
        sentence: "The host key differs from the confirmed one. If the machine was not reinstalled, the connection may be intercepted.",
        next: Next::Edit(Document::HostKeys),
    },
    Cause {
        key: "host-key-unknown",
        proof: Proof::Produced,
        // OpenSSH, sshconnect.c; our callback plugin.
        signs: &["Host key verification failed", "has not been confirmed"],
        sentence: "The host key isn't confirmed yet.",
        next: Next::Edit(Document::HostKeys),
    },
    Cause {
        key: "sudo-password-wrong",
        proof: Proof::Produced,
        // ansible, plugins/connection/ssh.py; sudo.
        signs: &["Incorrect sudo password", "incorrect password attempt"],
        sentence: "sudo refuses the password. Correct ansible_become_password.",
        next: Next::Edit(Document::Variables),
    },
    Cause {
        key: "sudo-password-missing",
        proof: Proof::Produced,
        // ansible, plugins/connection/ssh.py; sudo. If a password is missing and the prompt is unusual, ansible waits until its timeout.
        signs: &["Missing sudo password", "sudo: a password is required", "waiting for privilege escalation prompt"],
        sentence: "sudo asks for a password on the machine. Set ansible_become_password, or allow the user sudo without a password.",
        next: Next::Edit(Document::Variables),
    },
    Cause {
        key: "sudo-refused",
        proof: Proof::Produced,
        // sudo.
        signs: &["is not in the sudoers file", "is not allowed to execute"],
        sentence: "The user may not become root with sudo. Allow it in /etc/sudoers, or use another user.",
        next: Next::Edit(Document::Inventory),
    },
    Cause {
        key: "sudo-not-installed",
        proof: Proof::Produced,
        // dash and bash.
        signs: &["sudo: not found", "sudo: command not found"],
        sentence: "sudo is not installed on the machine. Install it, or log in as root.",
        next: Next::Edit(Document::Inventory),
    },
    Cause {
        key: "permission-denied",
        proof: Proof::Produced,
        // OpenSSH, sshconnect2.c, which lists the methods; ansible's connection plugins.
        signs: &[
            "Permission denied (publickey",
            "Permission denied (password",
            "Permission denied (keyboard-interactive",
            "Permission denied (gssapi",
            "Permission denied (hostbased",
            "Invalid/incorrect password",
            "Too many authentication failures",
        ],
        sentence: "The login was refused. Check the user and the private key.",
        next: Next::Edit(Document::HostKeys),
    },
    Cause {
        key: "ssh-refused",
        proof: Proof::Produced,
        // OpenSSH, sshconnect.c. A task's own command may be refused, too, so `ssh:` is part of the sign.
        signs: &["ssh: …Connection refused"],
        sentence: "No SSH server listens at this address and port.",
        next: Next::Edit(Document::Inventory),
    },
    Cause {
        key: "ssh-timed-out",
        proof: Proof::Produced,
        // OpenSSH, sshconnect.c.
        signs: &["ssh: …timed out", "ssh: …No route to host", "ssh: …Network is unreachable"],
        sentence: "The machine doesn't answer. Check its address, and whether it is running.",
        next: Next::Edit(Document::Inventory),
    },
    Cause {
        key: "ssh-name-unknown",
        proof: Proof::Produced,
        // OpenSSH, sshconnect.c.
        signs: &["ssh: Could not resolve hostname"],
        sentence: "The machine's name can't be resolved.",
        next: Next::Edit(Document::Inventory),
    },
    Cause {
        key: "ssh-closed",
        proof: Proof::Produced,
        // OpenSSH, kex.c and packet.c.
        signs: &[
            "kex_exchange_identification: ",
            "ssh: …Connection reset by",
            "via ssh: Shared connection to",
            "via ssh: Connection closed",
        ],
        sentence: "The machine closed the SSH connection. It may be restarting, or its SSH server refuses more connections.",
        next: Next::Again,
    },
    // ## Python
    Cause {
        key: "python-missing",
        proof: Proof::Produced,
        // ansible, module_common.py and interpreter_discovery.py; dash.
        signs: &[
            "module interpreter",
            "you probably need to set the interpreter",
            "No python interpreters found",
            "python: not found",
            "python3: not found",
            "python: No such file or directory",
            "python3: No such file or directory",
        ],
        sentence: "Python is missing on the machine. Install python3.",
        next: Next::Again,
    },
    Cause {
        key: "python-too-old",
        proof: Proof::Quoted,
        // ansible, module_utils/basic.py.
        signs: &["requires a minimum of Python"],
        sentence: "The machine's Python is too old for ansible. Install a newer one, and name it in ansible_python_interpreter.",
        next: Next::Edit(Document::Inventory),
    },
    Cause {
        key: "python-library-missing",
        proof: Proof::Produced,
        // ansible, module_utils/basic.py and filters.
        signs: &[
            "Failed to import the required Python library",
            "filter requires python",
            "prior to running json_query filter",
            "python bindings…aren't installed",
        ],
        sentence: "A Python library is missing where the task runs. Install the library that the message names.",
        next: Next::Again,
    },
    // ## Resources of the machine
    Cause {
        key: "disk-full",
        proof: Proof::Produced,
        // Linux (ENOSPC), and as Go prints it; apt.
        signs: &["No space left on device", "You don't have enough free space in", "no space left on device"],
        sentence: "A disk of the machine is full. Free some space; “df -h” and “df -i” show where.",
        next: Next::Again,
    },
    Cause {
        key: "read-only-file-system",
        proof: Proof::Produced,
        // Linux (EROFS), and as Go prints it.
        signs: &["Read-only file system", "read-only file system"],
        sentence: "A file system of the machine is read-only, often after an error of its disk. “dmesg” shows the error.",
        next: Next::Again,
    },
    Cause {
        key: "no-memory",
        proof: Proof::Produced,
        // Linux (ENOMEM), and as Go prints it; Python; coreutils.
        signs: &["Cannot allocate memory", "MemoryError", "memory exhausted", "cannot allocate memory"],
        sentence: "The machine has no memory left. Stop other programs, or give it more.",
        next: Next::Again,
    },
    Cause {
        key: "too-few-processors",
        proof: Proof::Produced,
        // kubeadm, preflight/checks.go.
        signs: &["[ERROR NumCPU]", "processor, and a control plane needs"],
        sentence: "The machine has too few processors for a control plane, which needs 2.",
        next: Next::Edit(Document::Inventory),
    },
    Cause {
        key: "too-little-memory",
        proof: Proof::Produced,
        // kubeadm, preflight/checks_linux.go.
        signs: &["[ERROR Mem]", "MB of memory, and a…needs"],
        sentence: "The machine has too little memory: a control plane needs 1,700 MB, another node 1,024.",
        next: Next::Edit(Document::Inventory),
    },
    // ## Packages
    Cause {
        key: "packages-locked",
        proof: Proof::Produced,
        // apt, apt-pkg/init.cc and debsystem.cc; ansible, modules/apt.py and module_utils/yumdnf.py.
        signs: &[
            "Could not get lock /var/lib/",
            "dpkg frontend lock…is another process using it",
            "Failed to lock apt for exclusive operation",
            "yum lockfile is held by another process",
            "Could not get lock /var/cache/apt",
            "Unable to lock directory /var/",
            "frontend lock was locked by another process",
            "frontend is locked by another process",
        ],
        sentence: "Another program is installing packages on the machine, often its automatic updates. Wait until it has ended.",
        next: Next::Again,
    },
    Cause {
        key: "dpkg-interrupted",
        proof: Proof::Produced,
        // apt, apt-pkg/deb/debsystem.cc.
        signs: &["dpkg was interrupted, you must manually run"],
        sentence: "An earlier installation of packages was interrupted. Run “dpkg --configure -a” on the machine.",
        next: Next::Again,
    },
    Cause {
        key: "packages-held",
        proof: Proof::Produced,
        // apt, apt-private/private-install.cc.
        signs: &["Held packages were changed and -y was used"],
        sentence: "A package is held at its version. “apt-mark showhold” lists such packages; “apt-mark unhold” releases them.",
        next: Next::Again,
    },
    Cause {
        key: "packages-broken",
        proof: Proof::Produced,
        // apt, apt-pkg/algorithms.cc and apt-private/private-install.cc; ansible, modules/dnf.py; yum.
        signs: &[
            "you have held broken packages",
            "Unmet dependencies. Try 'apt",
            "unmet dependencies:",
            "pkgProblemResolver::Resolve generated breaks",
            "Depsolve Error occur",
            "Error: Package: ",
        ],
        sentence: "The packages on the machine don't fit together. The message names them; “apt --fix-broken install” tries to repair those of apt.",
        next: Next::Again,
    },
    Cause {
        key: "package-not-found",
        proof: Proof::Produced,
        // apt, apt-private/private-cacheset.cc; ansible, modules/apt.py; dnf.
        signs: &[
            "E: Unable to locate package",
            "No package matching '",
            "no available installation candidate for",
            "E: Version '…' was not found",
            "has no installation candidate",
            "No match for argument: ",
        ],
        sentence: "No package source of the machine has this package or version. Check the version, and the machine's package sources.",
        next: Next::Edit(Document::Variables),
    },
    Cause {
        key: "gpg-key-missing",
        proof: Proof::Produced,
        // apt, methods/gpgv.cc and apt-pkg/acquire-item.cc; rpm and dnf.
        signs: &["NO_PUBKEY", "EXPKEYSIG", "GPG check FAILED", "Public key for…is not installed"],
        sentence: "The key that signs a package source is missing or has expired on the machine. Install its current key.",
        next: Next::Again,
    },
    // ## Network and downloads. The clock first, because a wrong one makes valid certificates look invalid.
    Cause {
        key: "clock-wrong",
        proof: Proof::Produced,
        // Go, crypto/x509/verify.go; apt, apt-pkg/acquire-item.cc; curl with OpenSSL.
        signs: &[
            "x509: certificate has expired or is not yet valid…is before",
            "is not valid yet (invalid for another",
            "certificate is not yet valid",
            "Certificates would not be valid: synchronise it",
        ],
        sentence: "The machine's clock is wrong. Synchronise it, for example with chrony.",
        next: Next::Again,
    },
    Cause {
        key: "certificate-expired",
        proof: Proof::Produced,
        // Go, crypto/x509/verify.go; OpenSSL.
        signs: &["x509: certificate has expired or is not yet valid", "certificate has expired"],
        sentence: "A certificate has expired. If it is one of the cluster's, run the operation that renews the certificates.",
        next: Next::Operation,
    },
    Cause {
        key: "api-unauthorised",
        proof: Proof::Produced,
        // kubectl, cmd/util/helpers.go; the API server; Go, crypto/x509/verify.go, with the name that kubeadm gives its authority. It is
        // before the next cause because no authority is missing.
        signs: &[
            "You must be logged in to the server",
            "error: the server has asked for the client to provide credentials",
            "Error from server (Unauthorized)",
            "candidate authority certificate \"kubernetes\"",
        ],
        sentence: "The Kubernetes API doesn't accept this login. Its certificate or token may have expired, or be that of another cluster.",
        next: Next::Nodes,
    },
    Cause {
        key: "certificate-unknown",
        proof: Proof::Produced,
        // Go, crypto/x509/verify.go; curl and Python with OpenSSL. Python prints the same word for a wrong name.
        signs: &[
            "x509: certificate signed by unknown authority",
            "SSL certificate problem: unable to get local issuer certificate",
            "SSL certificate problem: self",
            "The certificate issuer is unknown",
            "CERTIFICATE_VERIFY_FAILED…certificate verify failed: unable to",
            "CERTIFICATE_VERIFY_FAILED…certificate verify failed: self",
        ],
        sentence: "The machine doesn't trust a server's certificate. Install the authority that signed it, for example that of your proxy.",
        next: Next::Again,
    },
    Cause {
        key: "proxy",
        proof: Proof::Produced,
        // Go, net/http/transport.go; Python, http/client.py; curl; apt; kubectl, which quotes the proxy.
        signs: &[
            "proxyconnect tcp:",
            "Tunnel connection failed:",
            "from proxy after CONNECT",
            "Could not resolve proxy:",
            "Proxy Authentication Required",
            "CONNECT tunnel failed, response",
            "The requested URL returned error: 407",
            "Unable to connect to the server:…Forbidden",
        ],
        sentence: "The proxy refuses the download or doesn't answer. Check its address and password in the variables.",
        next: Next::Edit(Document::Variables),
    },
    Cause {
        key: "dns",
        proof: Proof::Produced,
        // apt, methods/connect.cc; glibc; curl; Go, net/dnsclient.go.
        signs: &[
            "Temporary failure resolving",
            "Temporary failure in name resolution",
            "Could not resolve host:",
            "Could not resolve '",
            "<urlopen error [Errno -2]",
            "dial tcp: lookup…no such host",
            "dial tcp: lookup…server misbehaving",
            "dial tcp: lookup…i/o timeout",
            "dial tcp: lookup…connection refused",
        ],
        sentence: "The machine can't resolve a name. Check its DNS servers in /etc/resolv.conf.",
        next: Next::Again,
    },
    Cause {
        key: "image-rate-limit",
        proof: Proof::Produced,
        // Docker Hub, as containerd quotes it.
        signs: &["toomanyrequests: You have reached", "failed to resolve reference…429 Too Many Requests"],
        sentence: "The registry limits downloads of images from this address. Wait some hours, log in to it, or use a mirror.",
        next: Next::Edit(Document::Variables),
    },
    Cause {
        key: "image-unauthorised",
        proof: Proof::Produced,
        // containerd, core/remotes/docker; registries.
        signs: &[
            "pull access denied",
            "failed to authorize: failed to fetch…401 Unauthorized",
            "failed to authorize: failed to fetch…403 Forbidden",
            "failed to resolve reference…401 Unauthorized",
            "failed to resolve reference…403 Forbidden",
            "unauthorized: authentication required",
        ],
        sentence: "The registry refuses to hand out the image. Check its name and the registry's login.",
        next: Next::Edit(Document::Variables),
    },
    Cause {
        key: "image-not-found",
        proof: Proof::Produced,
        // containerd, core/remotes/docker.
        signs: &[
            "failed to resolve reference…: not found",
            "failed to pull and unpack image…: not found",
            "manifest unknown",
        ],
        sentence: "The registry has no such image. Check the image's name and version.",
        next: Next::Edit(Document::Variables),
    },
    Cause {
        key: "image-not-pulled",
        proof: Proof::Produced,
        // kubeadm, preflight/checks.go; the kubelet, images/types.go; containerd. What it says about the reason is in the causes above.
        signs: &[
            "[ERROR ImagePull]",
            "ErrImagePull",
            "ImagePullBackOff",
            "failed to resolve reference",
            "failed to pull and unpack image",
            "failed pulling image",
            "httpReadSeeker: failed open",
            "Failed to pull image \"",
            "Failed to pull the specified image",
            "failed to do request: Head",
        ],
        sentence: "An image can't be downloaded. Check that its registry can be reached from the machine.",
        next: Next::Again,
    },
    Cause {
        key: "wrong-checksum",
        proof: Proof::Produced,
        // ansible, modules/get_url.py; apt, apt-pkg/acquire-item.cc; coreutils; yum; our playbooks.
        signs: &[
            "The checksum for…did not match",
            "Hash Sum mismatch",
            "computed checksum did NOT match",
            "File has unexpected size (",
            "Package does not match intended download",
            "has another checksum than",
        ],
        sentence: "A downloaded file isn't the expected one. Check the version and its checksum, or whether a proxy or mirror changes downloads.",
        next: Next::Edit(Document::Variables),
    },
    Cause {
        key: "download-not-found",
        proof: Proof::Produced,
        // Python, urllib; apt, methods/http.cc; curl; kubeadm, util/version.go.
        signs: &[
            "HTTP Error 404",
            "Failed to fetch…404  Not Found",
            "The requested URL returned error: 404",
            "unable to fetch file…404 Not Found",
        ],
        sentence: "The server has no such file. Check the version and the address of the download.",
        next: Next::Edit(Document::Variables),
    },
    Cause {
        key: "download-refused",
        proof: Proof::Produced,
        // curl, lib/connect.c; Python, urllib; apt, methods/connect.cc.
        signs: &[
            "curl: (7) Failed to connect",
            "curl: (28) ",
            "<urlopen error [Errno 111]",
            "<urlopen error timed out",
            "Connection failure: timed out",
            "Could not connect to…). - connect (",
            "Could not connect to…, connection timed out",
        ],
        sentence: "A server from which the machine downloads doesn't answer. Check the machine's routes, firewall and proxy.",
        next: Next::Edit(Document::Variables),
    },
    Cause {
        key: "package-sources",
        proof: Proof::Produced,
        // apt; ansible, modules/apt.py, which doesn't say why; dnf. A source that doesn't answer looks unsigned to apt.
        signs: &[
            "Failed to update apt cache",
            "E: Some index files failed to download",
            "E: Unable to fetch some archives",
            "The repository…is not signed",
            "The repository…does not have a Release file",
            "Failed to download metadata for repo",
        ],
        sentence: "A package source of the machine doesn't answer, or isn't trusted. “apt-get update” or “dnf makecache” on the machine shows which one and why.",
        next: Next::Again,
    },
    // ## Preparation of the machine
    Cause {
        key: "swap",
        proof: Proof::Produced,
        // kubeadm, preflight/checks.go; the kubelet, cm/container_manager_linux.go.
        signs: &["[ERROR Swap]", "running with swap on is not supported, please disable swap", "Swap is on ("],
        sentence: "Swap is on, and the kubelet doesn't start with swap. Turn it off with “swapoff -a” and in /etc/fstab.",
        next: Next::Again,
    },
    Cause {
        key: "memory-cgroup-off",
        proof: Proof::Produced,
        // system-validators, cgroup_validator_linux.go; k3s.
        signs: &["missing required cgroups:…memory", "failed to find memory cgroup"],
        sentence: "The kernel's memory controller for cgroups is off. Add cgroup_enable=memory to the kernel's command line, and restart the machine.",
        next: Next::Again,
    },
    Cause {
        key: "cgroup-v1",
        proof: Proof::Produced,
        // The kubelet, kubelet.go; system-validators, cgroup_validator_linux.go; the engine's precheck.
        signs: &[
            "kubelet is configured to not run on a host using cgroup v1",
            "[ERROR SystemVerification]: cgroups v1",
            "uses cgroups of version 1, which Kubernetes",
        ],
        sentence: "The machine's cgroups don't fit this version of Kubernetes, which needs cgroup v2. Boot with systemd.unified_cgroup_hierarchy=1, or upgrade the system.",
        next: Next::Again,
    },
    Cause {
        key: "br-netfilter",
        proof: Proof::Produced,
        // kubeadm, preflight/checks.go; kmod.
        signs: &[
            "[ERROR FileContent--proc-sys-net-bridge…does not exist",
            "Module br_netfilter not found",
            "cannot stat /proc/sys/net/bridge",
        ],
        sentence: "The kernel module br_netfilter isn't loaded. Load it with “modprobe br_netfilter”; a missing module needs the kernel's package of extra modules.",
        next: Next::Again,
    },
    Cause {
        key: "bridge-not-filtered",
        proof: Proof::Quoted,
        // kubeadm, preflight/checks.go.
        signs: &["[ERROR FileContent--proc-sys-net-bridge…contents are not set to 1"],
        sentence: "The machine's firewall rules don't apply to bridges. Set net.bridge.bridge-nf-call-iptables=1 with sysctl, and with IPv6 also net.bridge.bridge-nf-call-ip6tables=1.",
        next: Next::Again,
    },
    Cause {
        key: "ip-forward",
        proof: Proof::Produced,
        // kubeadm, preflight/checks.go.
        signs: &["[ERROR FileContent--proc-sys-net-ipv4-ip_forward]"],
        sentence: "The machine doesn't forward packets between its networks. Set net.ipv4.ip_forward=1 with sysctl.",
        next: Next::Again,
    },
    Cause {
        key: "ipv6-forward",
        proof: Proof::Produced,
        // kubeadm, preflight/checks.go.
        signs: &["[ERROR FileContent--proc-sys-net-ipv6…contents are not set to 1"],
        sentence: "The machine doesn't forward IPv6 packets between its networks. Set net.ipv6.conf.default.forwarding=1 and net.ipv6.conf.all.forwarding=1 with sysctl.",
        next: Next::Again,
    },
    Cause {
        key: "kernel-module",
        proof: Proof::Produced,
        // kmod.
        signs: &["modprobe: FATAL: Module…not found"],
        sentence: "The kernel has no such module. If the kernel was upgraded, restart the machine; otherwise install the package of extra modules.",
        next: Next::Again,
    },
    Cause {
        key: "earlier-cluster",
        proof: Proof::Produced,
        // kubeadm, preflight/checks.go.
        signs: &["[ERROR DirAvailable-", "[ERROR FileAvailable-", "Kubernetes is already installed on this machine"],
        sentence: "The machine has files of an earlier cluster. If they aren't needed, clean this machine with a reset that is limited to it.",
        next: Next::Operation,
    },
    Cause {
        key: "port-in-use",
        proof: Proof::Produced,
        // kubeadm, preflight/checks.go; Linux (EADDRINUSE) as Go and Python print it.
        signs: &[
            "[ERROR Port-",
            "bind: address already in use",
            "Address already in use",
            "Another program uses port ",
        ],
        sentence: "Another program uses a port that is needed. Find it with “ss -ltnp”, and stop it. Rests of an earlier cluster are removed by a reset.",
        next: Next::Again,
    },
    Cause {
        key: "system-unsupported",
        proof: Proof::Produced,
        // system-validators, os_validator.go and kernel_validator.go; kubespray, preinstall.
        signs: &[
            "[ERROR SystemVerification]: unsupported",
            "unsupported kernel release",
            "unsupported operating system",
            "is not a known OS",
            "Supported are Debian",
            "[ERROR SystemVerification]: unexpected kernel config",
        ],
        sentence: "This system or kernel isn't supported. Use a supported system, or exclude the machine.",
        next: Next::Edit(Document::Inventory),
    },
    // ## Container runtime and kubelet
    Cause {
        key: "cri-disabled",
        proof: Proof::Produced,
        // cri-client, validate.go.
        signs: &["CRI v1 runtime API is not implemented", "unknown service runtime.v1"],
        sentence: "containerd runs without its Kubernetes part. Remove “cri” from disabled_plugins in /etc/containerd/config.toml, and restart containerd.",
        next: Next::Again,
    },
    Cause {
        key: "containerd-not-running",
        proof: Proof::Produced,
        // kubeadm, util/runtime/runtime.go; Go, net.
        signs: &[
            "[ERROR CRI]",
            "container runtime is not running",
            "containerd.sock: connect: no such file or directory",
            "ctr: failed to dial \"",
            "containerd.sock: connect: connection refused",
            "crio.sock: connect: no such file or directory",
        ],
        sentence: "The container runtime doesn't run on the machine. “systemctl status containerd” and “journalctl -u containerd” show why.",
        next: Next::Again,
    },
    Cause {
        key: "cni-not-ready",
        proof: Proof::Quoted,
        // The kubelet, as containerd reports it; kubespray, which waits for Calico; cilium.
        signs: &[
            "cni plugin not initialized",
            "NetworkPluginNotReady",
            "no networks found in /etc/cni/net.d",
            "Timeout when waiting for file /etc/cni/net.d/",
            "Unable to install Cilium: timeout",
        ],
        sentence: "The pod network isn't ready on the node. Check the pods of the network plugin in kube-system.",
        next: Next::Nodes,
    },
    Cause {
        key: "kubelet-not-healthy",
        proof: Proof::Produced,
        // kubeadm, util/apiclient/wait.go and util/errors.
        signs: &[
            "The kubelet is not healthy after",
            "the kubelet isn't running or healthy",
            "failed while waiting for the kubelet to start",
            ":10248/healthz' failed with error",
            ":10248/healthz…connect: connection refused",
        ],
        sentence: "The kubelet doesn't start on the machine. “journalctl -u kubelet” shows why.",
        next: Next::Again,
    },
    // ## Joining
    Cause {
        key: "token-expired",
        proof: Proof::Produced,
        // kubeadm, discovery/token/token.go, now and in older versions.
        signs: &[
            "could not find a JWS signature in the cluster-info ConfigMap",
            "token id…is invalid for this cluster",
        ],
        sentence: "The token with which the machine joins has expired. A new run makes a new one.",
        next: Next::Again,
    },
    Cause {
        key: "uploaded-certificates-expired",
        proof: Proof::Produced,
        // kubeadm, phases/copycerts/copycerts.go. The right to read the secret ends with it.
        signs: &["kubeadm-certs…was not found in the", "secrets \"kubeadm-certs\" is forbidden"],
        sentence: "The certificates for new control planes were kept for two hours and are gone. A new run uploads them again.",
        next: Next::Again,
    },
    Cause {
        key: "node-name-taken",
        proof: Proof::Produced,
        // kubeadm, cmd/phases/join/kubelet.go.
        signs: &["a Node with name…already exists in the cluster"],
        sentence: "The cluster has a node of this name already. Remove that node first, or rename the machine in the inventory.",
        next: Next::Nodes,
    },
    // ## Draining. A drain that a budget blocks times out, so the budget is first.
    Cause {
        key: "disruption-budget",
        proof: Proof::Produced,
        // The API server, registry/core/pod/storage/eviction.go.
        signs: &["would violate the pod's disruption budget", "PodDisruptionBudget…blocks it"],
        sentence: "A PodDisruptionBudget doesn't let a pod go. Wait until its other pods are ready, or change the budget.",
        next: Next::Nodes,
    },
    Cause {
        key: "drain-refused",
        proof: Proof::Produced,
        // kubectl, drain/filters.go.
        signs: &[
            "cannot delete Pods that declare no controller",
            "cannot delete Pods with local storage",
            "cannot delete DaemonSet-managed Pods",
        ],
        sentence: "The node has pods that a drain doesn't delete, because they would not come back or would lose data. Move or delete them.",
        next: Next::Nodes,
    },
    Cause {
        key: "drain-timed-out",
        proof: Proof::Produced,
        // kubectl, drain/drain.go.
        signs: &[
            "error when evicting pods/…global timeout reached",
            "error when waiting for pod…global timeout reached",
            "error when waiting for pod…context deadline exceeded",
            "unable to drain node…global timeout reached",
            "could not be drained within…need longer to end",
        ],
        sentence: "The pods of the node didn't end in time. Find those that don't end, or allow more time for the drain.",
        next: Next::Nodes,
    },
    // ## Versions
    Cause {
        key: "minor-version-skipped",
        proof: Proof::Produced,
        // kubeadm, phases/upgrade/policy.go.
        signs: &[
            "kubeadm can upgrade only 1 minor version at a time",
            "is more than one minor version newer. Upgrade to",
            "is at least one minor release higher than the kubeadm minor",
        ],
        sentence: "Kubernetes can't skip a minor version. Upgrade to the next one first.",
        next: Next::Upgrade,
    },
    Cause {
        key: "version-skew",
        proof: Proof::Produced,
        // kubeadm, phases/upgrade/policy.go, preflight/checks.go and util/config/common.go.
        signs: &[
            "is higher than the kubeadm version",
            "[ERROR KubeletVersion]",
            "only supports deploying clusters with the control plane version",
            "kubelets in this cluster that are too old",
        ],
        sentence: "The versions of kubeadm, kubelet and control plane don't fit together. Check kube_version, and upgrade one minor version at a time.",
        next: Next::Upgrade,
    },
    // ## etcd and the API server
    Cause {
        key: "etcd-full",
        proof: Proof::Produced,
        // etcd, api/v3rpc/rpctypes/error.go and its alarms.
        signs: &["etcdserver: mvcc: database space exceeded", "alarm:NOSPACE", "etcdserver: no space"],
        sentence: "etcd's database is full and refuses changes. Compact and defragment it, and then clear the alarm.",
        next: Next::Nodes,
    },
    Cause {
        key: "etcd-quorum",
        proof: Proof::Produced,
        // etcd, api/v3rpc/rpctypes/error.go and etcdctl.
        signs: &[
            "etcdserver: no leader",
            "etcdserver: re-configuration failed due to not enough started members",
            "etcdserver: unhealthy cluster",
        ],
        sentence: "etcd has lost its majority or is about to. Start the members that don't run before anything else is changed.",
        next: Next::Nodes,
    },
    Cause {
        key: "etcd-unhealthy",
        proof: Proof::Produced,
        // etcdctl, ctlv3/command/ep_command.go; kubeadm, util/etcd/etcd.go.
        signs: &[
            "is unhealthy: failed to…context deadline exceeded",
            "etcdserver: request timed out",
            "Error: unhealthy cluster",
            "Error: context deadline exceeded",
            "etcd cluster is not healthy",
            "etcd is not healthy, and this step",
            "etcdserver: leader changed",
            "Failed to get the status of endpoint",
            "etcd cluster member list: context deadline exceeded",
            "etcd cluster is unavailable or misconfigured",
        ],
        sentence: "etcd doesn't answer in time. Check that its members run, and that their disks are quick enough.",
        next: Next::Nodes,
    },
    Cause {
        key: "control-plane-not-started",
        proof: Proof::Produced,
        // kubeadm, cmd/phases/init/waitcontrolplane.go, until 1.33 and since; since 1.35 it first asks the API, in phases/kubeconfig/kubeconfig.go.
        signs: &[
            "couldn't initialize a Kubernetes cluster",
            "failed while waiting for the control plane to start",
            "could not bootstrap the admin user in file",
        ],
        sentence: "The control plane didn't start. “crictl ps -a” and “journalctl -u kubelet” on the machine show why.",
        next: Next::Again,
    },
    Cause {
        key: "api-server-silent",
        proof: Proof::Produced,
        // kubectl, cmd/util/helpers.go, which asks localhost:8080 if it has no kubeconfig; Go, net, at the port of the API; kubeadm,
        // discovery/token/token.go and phases/upgrade/health.go.
        signs: &[
            "dial tcp…:6443: connect: connection refused",
            "dial tcp…:6443: i/o timeout",
            "Timeout when waiting for…:6443",
            "The connection to the server…443 was refused - did you specify the right host or port",
            "Unable to connect to the server:…dial tcp",
            "Unable to connect to the server:…net/http:",
            "Unable to connect to the server:…EOF",
            "Unable to connect to the server:…context deadline exceeded",
            ":6443/…: EOF",
            ":6443/…unexpected EOF",
            "the identity of the API Server…Client.Timeout exceeded",
            "the identity of the API Server…context deadline exceeded",
            "[ERROR APIServerHealth]",
        ],
        sentence: "The Kubernetes API doesn't answer. Check that the control plane runs, and the way to it: load balancer, firewall, address.",
        next: Next::Nodes,
    },
    Cause {
        key: "api-forbidden",
        proof: Proof::Produced,
        // The API server, by RBAC or an admission plugin.
        signs: &["Error from server (Forbidden)", "is forbidden: User "],
        sentence: "The Kubernetes API doesn't allow this user to do that. Use the cluster's administrator, or give the user the right.",
        next: Next::Nodes,
    },
    Cause {
        key: "taint",
        proof: Proof::Produced,
        // kube-scheduler, framework/plugins/tainttoleration.
        signs: &["nodes are available:…had untolerated taint"],
        sentence: "No node takes the pod, because of their taints. Wait until the nodes are ready, or add a worker.",
        next: Next::Nodes,
    },
    Cause {
        key: "not-permitted",
        proof: Proof::Produced,
        // Linux (EACCES), as Python and commands print it; ansible, modules/copy.py.
        signs: &[
            "[Errno 13] Permission denied",
            ": Permission denied",
            "Permission denied (13)",
            "Destination…not writable",
        ],
        sentence: "The task's user may not use this file. Let the task become root, or change the file's owner or mode on the machine.",
        next: Next::Again,
    },
    // ## Playbooks
    Cause {
        key: "vault-password",
        proof: Proof::Produced,
        // ansible, parsing/vault.
        signs: &["Attempting to decrypt but no vault secrets found", "no vault secrets were found that could decrypt"],
        sentence: "A value is encrypted with ansible-vault, and the run has no password for it. Use secret variables in its place.",
        next: Next::Edit(Document::Variables),
    },
    Cause {
        key: "module-missing",
        proof: Proof::Produced,
        // ansible, playbook/task.py and plugins/loader.py.
        signs: &[
            "couldn't resolve module/action",
            "was not found in configured module paths",
            "no action detected in task",
        ],
        sentence: "The playbook uses a module that the image doesn't have. Choose an image with its collection, or correct the name.",
        next: Next::Again,
    },
    Cause {
        key: "role-missing",
        proof: Proof::Produced,
        // ansible, playbook/role/definition.py.
        signs: &["the role '…' was not found"],
        sentence: "The playbook uses a role that the image doesn't have. Choose an image with this role, or correct the name.",
        next: Next::Again,
    },
    Cause {
        key: "yaml",
        proof: Proof::Produced,
        // ansible, parsing/yaml/errors.py, before and since version 2.19.
        signs: &["Syntax Error while loading YAML", "unable to read either as JSON nor YAML", "YAML parsing failed:"],
        sentence: "A YAML file of the playbook can't be read. The mistake is in the line that ansible names, or above it.",
        next: Next::Again,
    },
    Cause {
        key: "undefined-variable",
        proof: Proof::Produced,
        // ansible, template and _internal/_templating; Jinja. Another object without an attribute is a version that the playbook doesn't
        // know, or the result of a task that didn't run.
        signs: &[
            "' is undefined",
            "Error while resolving value for…is undefined",
            "Finalization of task args for…is undefined",
            "HostVarsVars object' has no attribute '",
            "object of type 'HostVarsVars' has no attribute '",
        ],
        sentence: "The playbook uses a variable that has no value. Set the variable that the message names.",
        next: Next::Edit(Document::Variables),
    },
    Cause {
        key: "control-planes-even",
        proof: Proof::Produced,
        // The built-in engine, roles/variables.
        signs: &["an even number survives no more failures"],
        sentence: "The cluster needs an odd number of control planes: with 2, etcd stops as soon as one of them fails. Use 1, 3 or 5.",
        next: Next::Edit(Document::Inventory),
    },
    Cause {
        key: "no-host-matched",
        proof: Proof::Produced,
        // ansible, cli/__init__.py.
        signs: &[
            "Specified hosts and/or --limit does not match any hosts",
            "Specified inventory, host pattern and/or --limit leaves us with no hosts",
        ],
        sentence: "No host of the inventory matches. Check the limit of the operation and the groups of the inventory.",
        next: Next::Edit(Document::Inventory),
    },
];
