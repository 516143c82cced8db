# SPDX-License-Identifier: Apache-2.0
"""Joins what the machines say about a cluster, and describes it to people."""

import json


def certificates(said):
    """The certificates of one control plane from the output of `kubeadm certs check-expiration -o json`, the first to expire first."""
    try:
        listed = json.loads(said or "{}")
    except ValueError:
        listed = {}
    every = [*listed.get("certificates", []), *listed.get("certificateAuthorities", [])]
    found = [{"name": one["name"], "expires": one["expirationDate"]} for one in every if not one.get("missing")]
    return sorted(found, key=lambda one: one["expires"])


def said_of_certificates(machines, control_planes):
    """What kubeadm said on each control plane that answered. `machines` maps hosts to their variables."""
    said = {host: machines[host].get("cluster_info_certificates", {}) for host in control_planes}
    return {host: result["stdout"] for host, result in said.items() if result.get("stdout")}


def cluster_information(cluster, etcd, said):
    """The outcome `cluster`, as deploy/runner/README.md describes it. `said` maps control planes to kubeadm's list of certificates."""
    members = etcd.get("members", [])
    message = "" if members else str(etcd.get("msg", ""))
    healthy = bool(members) and all(member["healthy"] for member in members)
    expiring = [{"node": host, **one} for host, text in sorted(said.items()) for one in certificates(text)]
    return {**cluster, "etcd": {"healthy": healthy, "message": message, "members": members}, "certificates": expiring}


def words(healthy, message=""):
    return "healthy" if healthy else f"not healthy: {message}".rstrip(": ")


def cluster_summary(cluster):
    """One line per node, API server, member of etcd, and control plane's first certificate to expire."""
    lines = [f"Kubernetes {cluster['version'] or 'unknown: ' + cluster['message']}"]
    for node in cluster["nodes"]:
        state = "Ready" if node["ready"] else f"not Ready: {node['message']}"
        lines.append(f"Node {node['name']}: {node['version']}, {state}" + ("" if node["schedulable"] else ", takes no new pods"))
    lines += [f"API server {one['node']}: {words(one['healthy'], one['message'])}" for one in cluster["apis"]]
    for member in cluster["etcd"]["members"]:
        size = f"{member['db_bytes'] / 1048576:.1f} MiB"
        alarms = ", alarms: " + ", ".join(member["alarms"]) if member["alarms"] else ""
        leader = ", leader" if member["leader"] else ""
        lines.append(f"etcd {member['name']}: {member['version']}, {words(member['healthy'], member['message'])}{leader}, {size}{alarms}")
    if cluster["etcd"]["message"]:
        lines.append(f"etcd: {cluster['etcd']['message']}")
    first = {}
    for certificate in cluster["certificates"]:
        first.setdefault(certificate["node"], certificate)
    lines += [f"Certificates of {node}: the first, {one['name']}, expires {one['expires']}" for node, one in first.items()]
    return lines


class FilterModule:
    def filters(self):
        functions = (said_of_certificates, cluster_information, cluster_summary)
        return {function.__name__: function for function in functions}
