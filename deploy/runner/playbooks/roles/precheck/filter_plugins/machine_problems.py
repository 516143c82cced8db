# SPDX-License-Identifier: Apache-2.0
"""Judges what the module machine_state has found. Each problem is a sentence or two: what, why, what to do."""

import ipaddress
import math
import re

# openEuler and Kylin are like Red Hat's systems, but don't say so.
FAMILIES = {"debian", "rhel", "fedora", "openEuler", "kylin"}
ARCHITECTURES = {"amd64", "arm64"}
KERNEL = (4, 19)
NO_CGROUP_V1 = (1, 35)
# The floors of kubespray.
MEMORY_MB = {True: 1500, False: 1024}
CPUS = {True: 2, False: 1}
DISK_FREE_MB = 2048
CLOCK_SECONDS = 30
PORTS = {True: (2379, 2380, 10250, 10257, 10259), False: (10250,)}
# Of the network plugins: their documented requirements.
PLUGIN_PORTS = {"calico": (9099,), "cilium": (4240, 9234, 9878, 9879)}
PLUGIN_KERNEL = {"cilium": (5, 10)}
# The variables with the size of pods' packets.
PLUGIN_MTU = {"calico": "calico_mtu", "cilium": "cilium_mtu"}
# What calico adds to a packet between machines in different networks, and with calico_vxlan_mode Always to all.
VXLAN = 50
# How many machines each machine sends large packets to. With more machines these are spread, so that each machine also gets some.
MOST_TARGETS = 8


def numbers(text):
    return tuple(int(number) for number in re.findall(r"\d+", text))


def system(machine, systems):
    """Whether the system is one of `systems` (systems.json) or like one. Those of nodes may be older, so that their clusters can still be changed."""
    identifier, _, version = machine["system"].partition(" ")
    known = next((known for known in systems if known["id"] == identifier), None)
    is_new = machine["state"] != "member"
    is_old = is_new and known and version and numbers(version) < numbers(known["from"])
    if is_old or not FAMILIES.intersection(machine["likes"]):
        supported = ", ".join(f"{known['name']} from {known['from']}" for known in systems)
        yield f"The system is {machine['system']}. Supported are {supported}, and systems like these. Install one of them."


def hardware(machine, is_control_plane, values, systems):
    if not machine["is_root"]:
        yield "ansible isn't root on this machine. Let it become root with sudo (ansible_become, ansible_become_password)."
    yield from system(machine, systems)
    if machine["architecture"] not in ARCHITECTURES:
        yield f"The processor is {machine['architecture']}. Kubernetes has programs for amd64 and arm64. Use a machine with one of these."
    plugin = values["kube_network_plugin"]
    kernel, needed = numbers(machine["kernel"])[:2], PLUGIN_KERNEL.get(plugin, KERNEL)
    if kernel < needed:
        who = plugin if plugin in PLUGIN_KERNEL else "Kubernetes"
        yield f"The kernel is {machine['kernel']}. {who} needs {needed[0]}.{needed[1]} or newer: update the system."
    if machine["cpus"] < CPUS[is_control_plane]:
        yield f"The machine has {machine['cpus']} processor, and a control plane needs {CPUS[True]}. Use a larger machine."
    if machine["memory_mb"] < MEMORY_MB[is_control_plane]:
        role = "control plane" if is_control_plane else "node"
        yield f"The machine has {machine['memory_mb']} MB of memory, and a {role} needs {MEMORY_MB[is_control_plane]} MB. Use a larger machine."
    if machine["disk_free_mb"] < DISK_FREE_MB and machine["state"] != "member":
        yield f"/var/lib has {machine['disk_free_mb']} MB left, and Kubernetes needs {DISK_FREE_MB} MB. Free some space or use a larger disk."
    if machine["swap_mb"] and values["kubelet_fail_swap_on"]:
        yield (
            f"Swap is on ({machine['swap_mb']} MB), and the kubelet doesn't start with swap. Turn it off with swapoff -a and in /etc/fstab, or set "
            "kubelet_fail_swap_on: false."
        )


def cgroups(machine, values):
    if machine["cgroup"] == 1 and numbers(str(values["kube_version"]))[:2] >= NO_CGROUP_V1 and values["kubelet_config_extra_args"].get("failCgroupV1", True):
        yield (
            "The machine uses cgroups of version 1, which Kubernetes 1.35 and newer refuse. Boot it with systemd.unified_cgroup_hierarchy=1, or, until "
            "you can, set kubelet_config_extra_args: {failCgroupV1: false}."
        )


def clock(machine, now):
    """A right clock shows a time between the runner's when it asked and `now`, the runner's when all machines had answered."""
    slow, fast = machine["asked_at"] - machine["clock"], machine["clock"] - int(now)
    if max(slow, fast) > CLOCK_SECONDS:
        wrong = f"{slow} s slow" if slow > fast else f"{fast} s fast"
        yield f"The clock is {wrong}. Certificates would not be valid: synchronise it, for example with chrony."


def download(answer):
    """`answer` is what ansible.builtin.uri returned for a HEAD request. Its `item` has the `url` and the variable `source` that names its server. It has no
    status if nothing has to be downloaded; the status -1 means that no server answered. Servers that refuse HEAD requests pass."""
    status, said, asked = answer.get("status", 200), answer.get("msg", ""), answer["item"]
    # A registry without TLS, or with a certificate that Python doesn't trust, has answered. containerd may be set up for it.
    if status < 0 and asked["source"] == "kube_image_repo" and "ssl" in said.lower() and "timed out" not in said.lower():
        return
    if status < 0 or status in (404, 410):
        # ansible's words, from which the console knows the cause.
        reason = said.rpartition("not [200]: ")[2]
        is_image = asked["source"] == "kube_image_repo" or asked["url"].endswith("/SHA256SUMS")
        skip = " If the machine gets its images in another way, set precheck_skip: [image]." if is_image else ""
        yield f"{asked['url']} can't be downloaded: {reason}. Check {asked['source']} and kube_version, and whether the machine reaches the server.{skip}"


def address(machine, values):
    if not machine["address"]:
        yield "The machine has no default route, so its address is unknown. Set the host variable ip."
        return
    if not machine["network"]:
        yield f"The host variable ip is {machine['address']}, but no interface of the machine has this address. Correct it."
    own = ipaddress.ip_address(machine["address"])
    for name in ("kube_pods_subnet", "kube_service_addresses"):
        if own in ipaddress.ip_network(values[name]):
            yield f"The machine's address {own} is in {name} {values[name]}. Choose another network for it."


def common_address(machines, host, values, wanted):
    """Problems of the address that the control planes share. Once the cluster exists, one of them has it, perhaps one outside of this run."""
    machine, common = machines[host], values.get("kube_vip_address")
    if not values.get("kube_vip_enabled") or not wanted["first"]:
        return
    if machine["address"] == common:
        yield f"Its own address is kube_vip_address {common}. Choose an address that no machine has."
    elif host in wanted["control_planes"] and machine["network"] and ipaddress.ip_address(common) not in ipaddress.ip_network(machine["network"]):
        yield (
            f"kube_vip_address {common} is not in the machine's network {machine['network']}, so it can't move between the control planes. Choose an "
            "unused address of that network."
        )
    user, is_new = wanted.get("address_user"), machines[wanted["first"]]["state"] != "member"
    if user and is_new and not any(common in other["addresses"] for other in machines.values()):
        yield f"kube_vip_address {common} is already used by a machine with the hardware address {user}. Choose an address that no machine has."


# Variables that clusters of older versions didn't record, with the values that those clusters have.
UNRECORDED = {"kube_vip_enabled": False, "kubernetes_audit": False, "kube_encrypt_secret_data": False, "kube_reserved": False, "system_reserved": False}


def membership(machine, is_control_plane, values, wanted, authority):
    """`authority` is the certificate authority of the cluster, as machine_state has it."""
    state, version, upgrades = machine["state"], wanted["version"], wanted.get("upgrades", False)
    if machine["kubeadm_runs"]:
        yield "kubeadm is still running on this machine, probably from a run that was stopped. Wait until it has ended."
    if state == "foreign":
        yield (
            "Kubernetes is already installed on this machine, but not by this engine (there are files in /etc/kubernetes). Remove it first, for "
            "example with kubeadm reset, then delete /etc/kubernetes."
        )
    if state == "fresh":
        ports = [*PORTS[is_control_plane], *PLUGIN_PORTS.get(values["kube_network_plugin"], ())]
        ports += [values["kube_apiserver_port"]] if is_control_plane else []
        used = sorted(set(ports).intersection(machine["ports"]))
        if used:
            names = ", ".join(map(str, used))
            yield f"Another program uses port {names}, which Kubernetes needs. Find it with “ss -ltnp” and stop it."
    if state == "member" and machine["ca"] != authority:
        other = machine["installed"].get("cluster")
        which = f"the cluster {other}" if other and other != wanted.get("cluster") else "another cluster"
        yield (
            f"The machine is a node of {which}: its cluster's certificate authority isn't that of the control plane. Remove it there first. If that "
            "cluster is gone, run reset.yml limited to this machine."
        )
    if state == "member" and is_control_plane:
        yield from installation(machine["installed"], values, version, upgrades)
    if state == "member" and not wanted["first"] and machine["installed"]["version"] != version:
        yield (
            f"The machine runs Kubernetes {machine['installed']['version']}, and the control plane {version}. This playbook doesn't upgrade "
            "machines. Drain it, delete its node, run reset.yml limited to it, then join.yml."
        )


def installation(installed, values, version, upgrades):
    """What differs from the record that the installation left on a control plane."""
    if installed["version"] != version and not upgrades:
        yield (
            f"The cluster runs Kubernetes {installed['version']}, and kube_version is {version}. This playbook doesn't upgrade. Set kube_version "
            f"to {installed['version'].lstrip('v')}."
        )
    for name, old in sorted({**UNRECORDED, **installed["fixed"]}.items()):
        new = values.get(name, old)
        if new != old:
            yield f"{name} is {new!r}, but the cluster was created with {old!r}, and it can't change. Set it back, or reset the cluster."


# What to do, by what two machines have in common.
REMEDIES = {
    "address": ": remove one from the inventory if both are the same machine, otherwise set the host variable ip",
    "machine_id": ": on a cloned machine, delete /etc/machine-id and /var/lib/dbus/machine-id, run systemd-machine-id-setup, and restart it",
    "mac": ": change it in the settings of the virtual machine",
}


def clashes(machines, host, values):
    """Problems of `host` with others. `machines` maps hosts to their machines."""
    problems, own = [], machines[host]
    for other, machine in sorted(machines.items()):
        if other == host:
            continue
        # Elsewhere another machine may have it. Nodes work with what they have.
        is_near = own["state"] != "member" and own["network"] == machine["network"]
        for what, key in (("address", "address"), ("machine-id", "machine_id"), *([("hardware address", "mac")] if is_near else [])):
            if own[key] and own[key] == machine[key]:
                problems.append(f"It has the same {what} as {other} ({own[key]}). Each machine needs its own{REMEDIES[key]}.")
        if values["kube_network_plugin"] == "bridge" and own["network"] and machine["network"] and own["network"] != machine["network"]:
            problems.append(
                f"It is in the network {own['network']}, and {other} in {machine['network']}. With kube_network_plugin bridge all machines must be "
                "in one network. Give it an address there, or create the cluster with calico or cilium."
            )
    return problems


def needed_ports(machines, host, control_planes, api_port):
    """What `host` must reach on the other machines: everything the API, control planes also etcd, and the kubelets."""
    is_control_plane = host in control_planes
    targets = []
    for other, machine in sorted(machines.items()):
        if other == host or not machine["address"]:
            continue
        ports = [int(api_port)] if other in control_planes else []
        if is_control_plane:
            ports += [2379, 2380, 10250] if other in control_planes else [10250]
        targets += [{"name": other, "address": machine["address"], "port": port} for port in ports]
    return targets


def large_packets(machines, host, values):
    """Packets that `host` must be able to send to other machines, also from worker to worker: pods do. Targets of the module reach. `size` is
    the smaller MTU of the two interfaces, or the size of the pods' packets if a variable sets their MTU. Paths between two nodes of the cluster aren't tried."""
    own, names = machines[host], sorted(machines)
    plugin = values["kube_network_plugin"]
    chosen = int(values.get(PLUGIN_MTU.get(plugin)) or 0)

    def size(machine):
        is_wrapped = plugin == "calico" and (values["calico_vxlan_mode"] == "Always" or own["network"] != machine["network"])
        both = min(own["mtu"], machine["mtu"])
        return min(both, chosen + (VXLAN if is_wrapped else 0)) if chosen else both

    def is_tried(machine):
        both_are_nodes = own["state"] == machine["state"] == "member"
        return machine["address"] not in ("", own["address"]) and not both_are_nodes

    at = names.index(host)
    others = [other for other in names[at + 1 :] + names[:at] if is_tried(machines[other])]
    step = max(1, math.ceil(len(others) / MOST_TARGETS))
    return [{"name": other, "address": machines[other]["address"], "size": size(machines[other])} for other in others[::step]]


def loss(targets, plugin):
    """`targets` are packets that didn't arrive."""
    also = f", or lower {PLUGIN_MTU[plugin]}" if plugin in PLUGIN_MTU else ""
    for target in targets:
        yield (
            f"Packets of {target['size']} bytes to {target['name']} at {target['address']} are lost, smaller ones arrive. Give all machines and switches the same "
            f"MTU, or all machines one that the network carries{also}. If a firewall drops only large pings, set precheck_skip: [packets]."
        )


def image_url(image, registries):
    """Where containerd asks for an image; empty if it finds settings for that registry (`registries` of the fact `machine`), which may name another server."""
    registry, _, path = image.partition("/")
    if not re.search(r"[.:]|^localhost$", registry):
        registry, path = "docker.io", image
    if {registry, re.sub(r":(\d+)$", r"_\1_", registry), "_default"}.intersection(registries):
        return ""
    name, _, tag = path.rpartition(":")
    server = "registry-1.docker.io" if registry == "docker.io" else registry
    scheme = "http" if re.match(r"(localhost|127\.[\d.]+):(?!443$)", registry) else "https"
    return f"{scheme}://{server}/v2/{name}/manifests/{tag}"


def machine_problems(machines, host, values, wanted):
    """All problems of `host`, by itself and as a part of its cluster.

    `machines` maps hosts to their machines. `wanted` has `first` (the first control plane), `control_planes`, `version` (with its v), `systems` (of systems.json),
    `now` (the runner's clock when all machines had answered, in seconds since 1970), `silent` and `lossy` (what the module reach found), `downloads` (answers, see `download`), `address_user` (of the module address_user, for
    kube_vip_address), `cluster` (the name of the Cluster), `needs_cluster`, whether the cluster must already exist, `judges_first`, whether this run also judges the first control plane itself, and
    `upgrades`, whether the version may differ from the cluster's. Of a hosted cluster, `first` is empty and `hosted_ca` is the SHA-256 of its CA certificate.
    """
    machine, cluster, is_control_plane = machines[host], machines.get(wanted["first"]), host in wanted["control_planes"]
    problems = [*hardware(machine, is_control_plane, values, wanted["systems"]), *cgroups(machine, values), *clock(machine, wanted["now"]), *address(machine, values)]
    problems += membership(machine, is_control_plane, values, wanted, cluster["ca"] if cluster else wanted["hosted_ca"])
    problems += [*clashes(machines, host, values), *common_address(machines, host, values, wanted)]
    for other, address_of_other in dict.fromkeys((target["name"], target["address"]) for target in wanted["silent"]):
        ports = ", ".join(str(target["port"]) for target in wanted["silent"] if target["name"] == other)
        problems.append(f"It gets no answer from {other} at {address_of_other}, port {ports}. Check the routes and firewalls between them.")
    problems += loss(wanted.get("lossy", []), values["kube_network_plugin"])
    problems += [problem for answer in wanted.get("downloads", []) for problem in download(answer)]
    if not cluster:
        return problems
    if wanted["needs_cluster"] and cluster["state"] != "member":
        problems.insert(0, f"There is no cluster on {wanted['first']} yet. Run cluster.yml without a limit first.")
    elif not wanted.get("judges_first", True) and cluster["state"] == "member":
        own = list(problems)
        found = installation(cluster["installed"], values, wanted["version"], wanted.get("upgrades", False))
        problems += [problem for problem in found if problem not in own]
    return problems


class FilterModule:
    def filters(self):
        functions = (machine_problems, needed_ports, large_packets, image_url)
        return {function.__name__: function for function in functions}
