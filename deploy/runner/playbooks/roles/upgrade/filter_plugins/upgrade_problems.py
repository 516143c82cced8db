# SPDX-License-Identifier: Apache-2.0
"""Judges an upgrade before anything is changed. Each problem is a sentence or two: what, why, what to do."""


def numbers(version):
    """`v1.36.4` as (1, 36, 4)."""
    return tuple(int(part) for part in str(version).lstrip("v").split("-")[0].split("+")[0].split(".")[:3])


def minor(version):
    return ".".join(str(number) for number in numbers(version)[:2])


def version_problem(what, current, target):
    """Why `what` can't go from `current` to `target`; None if it can."""
    now, new = numbers(current), numbers(target)
    if new < now:
        return f"{what} has Kubernetes {current}, and kube_version is {target}. Kubernetes can't be downgraded: set kube_version to {current[1:]} or newer."
    if new[0] != now[0] or new[1] > now[1] + 1:
        between = f"{now[0]}.{now[1] + 1}"
        return f"{what} has Kubernetes {current}, and {target} is more than one minor version newer. Upgrade to {between} first."
    return None


def node_problems(host, machine, cluster):
    node = next((node for node in cluster["nodes"] if node["name"] == host), None)
    if node is None:
        yield f"It is no node of the cluster. Add it with cluster.yml or scale.yml, or remove {host} from the inventory."
    # The node of an interrupted upgrade may be away: the upgrade is what brings it back.
    elif not node["ready"] and not machine["upgrading"]:
        yield f"The node is not ready: {node['message'].rstrip('.')}. Repair it first, because an upgrade takes further nodes away for a while."


def upgrade_problems(machines, host, cluster, target, control_planes, hosts):
    """All problems of `host`. `machines` maps hosts to their variables, `cluster` is of the module cluster_state, `hosts` are those of this run."""
    machine = machines[host]["machine"]
    if cluster["message"]:
        return [f"{cluster['message'].rstrip('.')}. An upgrade needs a working control plane."]
    if machine["state"] != "member":
        return [f"It is no node of the cluster. Add it with cluster.yml or scale.yml, or remove {host} from the inventory."]
    problems = [*node_problems(host, machine, cluster)]
    # The kubelet tells what really runs; the record is older while an upgrade is interrupted.
    node = next((node for node in cluster["nodes"] if node["name"] == host), {})
    found = [version_problem("It", machine["installed"]["version"], target), version_problem("Its kubelet", node.get("version") or target, target)]
    problems += [problem for problem in found if problem][:1]
    behind = [name for name in control_planes if name not in hosts and installed(machines, name) != target]
    if behind:
        problems.append(f"The control plane comes first, and {', '.join(behind)} is not part of this run. Run it without --limit.")
    silent = [api for api in cluster["apis"] if not api["healthy"] and api["node"] != host and not upgrading(machines, api["node"])]
    if silent and host in control_planes:
        names = ", ".join(f"{api['node']} ({api['message']})" if api["message"] else api["node"] for api in silent)
        problems.append(f"The Kubernetes API of {names} is not healthy, and only one control plane may be away at a time. Repair it first.")
    return problems


# The oldest etcd from which a newer minor version may be reached: https://etcd.io/docs/v3.7/upgrades/upgrade_3_7/.
ETCD_BEFORE = {(3, 7): (3, 6, 11)}


def etcd_problems(members, minors, target):
    """Members of etcd that are too old for the etcd of `target`. `minors` are those of the catalogue; a version that it doesn't know has no problem."""
    minor_of_target = minor(target)
    wanted = next((numbers(known["components"]["etcd"]) for known in minors if known["minor"] == minor_of_target), ())
    needed = ETCD_BEFORE.get(wanted[:2])
    old = [member for member in members if needed and numbers(member["version"]) < needed]
    return [
        f"etcd of {member['name']} is {member['version']}, and etcd {wanted[0]}.{wanted[1]} of Kubernetes {target} needs {'.'.join(map(str, needed))} or newer before. "
        "Upgrade to the newest patch of the minor version before it first: that brings a new etcd."
        for member in old
    ]


def installed(machines, host):
    return machines[host].get("machine", {}).get("installed", {}).get("version")


def upgrading(machines, host):
    return machines.get(host, {}).get("machine", {}).get("upgrading")


def upgrade_pending(hosts, machines, target, runtime):
    """The hosts that don't have `target` or the `runtime` (versions of containerd and runc) yet, or whose upgrade has not ended."""
    has_runtime = lambda host: all(machines[host]["machine"]["versions"][name] == version for name, version in runtime.items())  # noqa: E731
    return [host for host in hosts if installed(machines, host) != target or upgrading(machines, host) or not has_runtime(host)]


def upgrade_schedulable(nodes, host, upgrading):
    """Whether the node took pods before its upgrade: as recorded by an interrupted one, or as it is now."""
    if upgrading:
        return upgrading["was_schedulable"]
    return all(node["schedulable"] for node in nodes if node["name"] == host)


def upgrade_progress(machines, hosts, target):
    """Which hosts have which version, in a sentence."""
    versions = {}
    for host in dict.fromkeys(hosts):
        version = target if machines[host].get("upgrade_done") else installed(machines, host)
        versions.setdefault(version or "an unknown version", []).append(host)
    return "; ".join(f"{', '.join(names)}: {version}" for version, names in versions.items()) + "."


class FilterModule:
    def filters(self):
        names = (upgrade_problems, upgrade_pending, upgrade_schedulable, upgrade_progress, etcd_problems)
        return {function.__name__: function for function in names}
