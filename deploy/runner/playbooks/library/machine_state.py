# SPDX-License-Identifier: Apache-2.0
"""Reads what the playbooks need to know about a machine. Changes nothing. `also` are programs that this machine needs beside those of
every machine, and `asked_at` is the runner's clock when it asks. Returns the fact `machine`:

| key | content |
|---|---|
| `system`, `likes` | `debian 12`; the system's identifier and those it is like |
| `architecture`, `kernel`, `hostname`, `machine_id`, `is_root` | `amd64` or `arm64`; `6.1.0`; … |
| `cpus`, `memory_mb`, `swap_mb`, `disk_free_mb` | the last is of /var/lib |
| `asked_at`, `clock` | the runner's clock when it asked, if given, and the machine's clock later; in seconds since 1970 |
| `address`, `network`, `interface`, `mac` | the address of the default route, and its network, interface and hardware address, empty if that is all zeros |
| `mtu` | of that interface; 0 if unknown |
| `addresses` | all addresses |
| `python` | the path of the Python that ansible uses |
| `missing` | programs that Kubernetes needs and that aren't installed |
| `opt_cni` | the files in /opt/cni/bin |
| `kubeadm_runs` | whether a kubeadm runs, for example of a run that was killed |
| `ports` | TCP ports that are in use |
| `cgroup` | the version of its cgroups, 1 or 2 |
| `has_bridge_filter` | whether the kernel applies packet filters to bridges |
| `containerd_active`, `containerd_enabled` | of its service |
| `containerd_ours` | whether the engine has installed its own containerd, or begun to |
| `runtime_programs` | the programs of containerd and runc that are in the folder of programs |
| `registries` | the registries for which containerd finds settings, such as mirrors, by the names of their folders |
| `state` | `fresh`; `interrupted`: kubeadm was started by us and did not end; `member`: installed by us; `foreign`: installed otherwise |
| `installed` | of a member: `version`, the recorded variables `fixed` and the name of the `cluster`, which those of older versions lack |
| `upgrading` | of a member whose upgrade has started and not ended: `was_schedulable`; else empty |
| `ca` | the SHA-256 of the cluster's CA certificate in DER, or empty |
| `versions` | the versions of kubeadm, kubelet, kubectl, containerd and runc in the folder of programs; empty if not installed |
"""

import hashlib
import ipaddress
import json
import os
import platform
import shutil
import socket
import ssl
import subprocess
import sys
import time

FOLDER = "/etc/kubernetes/kubeonkube"
PROGRAMS = ("conntrack", "iptables", "ip", "mount", "socat", "ethtool")
# What the role containerd installs.
RUNTIME = ("containerd", "containerd-shim-runc-v2", "ctr", "runc")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
CNI = "/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"
# containerd's defaults. The engine leaves them alone.
REGISTRIES = "/etc/containerd/certs.d", "/etc/docker/certs.d"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
LISTENS = "0A"


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def said(*command):
    """The output of a command; empty if it fails."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={"PATH": PATH}, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""


def system():
    fields = dict(line.split("=", 1) for line in read("/etc/os-release").splitlines() if "=" in line)
    fields = {name: value.strip("\"'") for name, value in fields.items()}
    identifier = fields.get("ID", "unknown")
    return f"{identifier} {fields.get('VERSION_ID', '')}".strip(), [identifier, *fields.get("ID_LIKE", "").split()]


def memory():
    sizes = {line.split(":")[0]: int(line.split()[1]) // 1024 for line in read("/proc/meminfo").splitlines() if len(line.split()) > 1}
    return sizes.get("MemTotal", 0), sizes.get("SwapTotal", 0)


def own_address():
    """The address that the machine uses towards others: nothing is sent, the kernel only chooses a route."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            return probe.getsockname()[0]
        except OSError:
            return ""


def networks():
    """The networks, interfaces, hardware addresses and MTUs of the machine by its address in them."""
    try:
        interfaces = json.loads(said("ip", "-j", "address") or "[]")
    except ValueError:
        return {}
    found = [(interface, address) for interface in interfaces for address in interface.get("addr_info", []) if address.get("local")]
    network = lambda address: str(ipaddress.ip_network(f"{address['local']}/{address['prefixlen']}", strict=False))  # noqa: E731
    return {a["local"]: (network(a), interface.get("ifname", ""), interface.get("address", ""), interface.get("mtu", 0)) for interface, a in found}


def listening():
    lines = [line.split() for name in ("tcp", "tcp6") for line in read(f"/proc/net/{name}").splitlines()[1:]]
    return sorted({int(fields[1].rsplit(":", 1)[1], 16) for fields in lines if fields[3] == LISTENS})


def runs(program):
    return any(read(f"/proc/{number}/comm").strip() == program for number in os.listdir("/proc") if number.isdigit())


def missing(also):
    absent = [name for name in (*PROGRAMS, *also) if not shutil.which(name, path=PATH)]
    return absent + ([] if any(os.path.exists(folder + "/bridge") for folder in CNI) else ["cni"])


def listed(folder):
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def state():
    """See `state` and `installed` above."""
    record = read(FOLDER + "/installed.json")
    if record:
        return "member", json.loads(record)
    if os.path.exists(FOLDER + "/started"):
        return "interrupted", {}
    traces = ("/etc/kubernetes/kubelet.conf", "/etc/kubernetes/admin.conf", "/etc/kubernetes/manifests/kube-apiserver.yaml")
    return ("foreign" if any(os.path.exists(path) for path in traces) else "fresh"), {}


def digest(path):
    """Of the certificate in this file."""
    try:
        return hashlib.sha256(ssl.PEM_cert_to_DER_cert(read(path).strip())).hexdigest()
    except ValueError:
        return ""


def versions(folder):
    return {
        "kubeadm": said(folder + "/kubeadm", "version", "-o", "short"),
        "kubelet": said(folder + "/kubelet", "--version").split(" ")[-1],
        "kubectl": next((line.split(" ")[-1] for line in said(folder + "/kubectl", "version", "--client").splitlines()), ""),
        # containerd github.com/containerd/containerd/v2 v2.3.4 REVISION
        "containerd": next((word for word in said(folder + "/containerd", "--version").split() if word.startswith("v")), ""),
        # runc version 1.4.3, and more lines
        "runc": next((line.split(" ")[-1] for line in said(folder + "/runc", "--version").splitlines()), ""),
    }


def look(programs, address, also=(), asked_at=None):
    # First, because the rest may take seconds.
    clock = int(time.time())
    name, likes = system()
    memory_mb, swap_mb = memory()
    what, installed = state()
    address, all_networks = address or own_address(), networks()
    network, interface, mac, mtu = all_networks.get(address, ("", "", "", 0))
    return {
        "system": name,
        "likes": likes,
        "architecture": ARCHITECTURES.get(platform.machine(), platform.machine()),
        "kernel": platform.release(),
        "hostname": platform.node(),
        "machine_id": read("/etc/machine-id").strip(),
        "is_root": os.geteuid() == 0,
        "cpus": len(os.sched_getaffinity(0)),
        "memory_mb": memory_mb,
        "swap_mb": swap_mb,
        "disk_free_mb": shutil.disk_usage("/var/lib").free // (1 << 20),
        "asked_at": asked_at,
        "clock": clock,
        "address": address,
        "network": network,
        "interface": interface,
        "mac": mac if mac.strip("0:") else "",
        "mtu": mtu,
        "addresses": sorted(all_networks),
        "python": sys.executable,
        "missing": missing(also),
        "opt_cni": listed("/opt/cni/bin"),
        "kubeadm_runs": runs("kubeadm"),
        "ports": listening(),
        "cgroup": 2 if os.path.exists("/sys/fs/cgroup/cgroup.controllers") else 1,
        "has_bridge_filter": os.path.exists("/proc/sys/net/bridge/bridge-nf-call-iptables"),
        "containerd_active": said("systemctl", "is-active", "containerd") == "active",
        "containerd_enabled": said("systemctl", "is-enabled", "containerd") == "enabled",
        "containerd_ours": os.path.isdir(FOLDER + "/containerd.before"),
        "registries": sorted(name for folder in REGISTRIES for name in listed(folder)),
        "runtime_programs": [name for name in RUNTIME if os.path.exists(f"{programs}/{name}")],
        "state": what,
        "installed": installed,
        "upgrading": json.loads(read(FOLDER + "/upgrading.json") or "{}"),
        "ca": digest("/etc/kubernetes/pki/ca.crt"),
        "versions": versions(programs),
    }


def main():
    from ansible.module_utils.basic import AnsibleModule

    options = {
        "programs": {"type": "str", "required": True},
        "address": {"type": "str", "default": ""},
        "also": {"type": "list", "elements": "str", "default": []},
        "asked_at": {"type": "int"},
    }
    module = AnsibleModule(argument_spec=options, supports_check_mode=True)
    module.exit_json(changed=False, ansible_facts={"machine": look(**module.params)})


if __name__ == "__main__":
    main()
