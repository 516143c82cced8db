# SPDX-License-Identifier: Apache-2.0
"""Checks of variables and groups that need no machine. Each problem is a sentence or two: what, why, what to do."""

import ipaddress
import re

FIXED = "Fixed by the installation."
# A node's name: a DNS subdomain (RFC 1123).
NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
VERSION = re.compile(r"v?[0-9]+\.[0-9]+\.[0-9]+")


def network(values, name):
    """The network in a variable, or a sentence that it is none."""
    try:
        return ipaddress.ip_network(str(values[name])), None
    except ValueError as error:
        return None, f"{name} must be a network such as 10.233.64.0/18: {error}."


def first_address(text):
    """The first address of a network. That of Services belongs to the Service `kubernetes`."""
    return str(ipaddress.ip_network(str(text))[1])


def group_problems(groups, hosted=False):
    control_planes, etcd, workers = (groups.get(name, []) for name in ("kube_control_plane", "etcd", "kube_node"))
    if hosted:
        return hosted_group_problems(control_planes, workers) + name_problems(workers)
    if not control_planes:
        return [
            "Group kube_control_plane has no host. Add the machine that runs the Kubernetes API to it. (Machines of a hosted cluster join with join.yml.)"
        ]
    problems = []
    if len(control_planes) % 2 == 0:
        problems.append(
            f"Group kube_control_plane has {len(control_planes)} hosts ({', '.join(control_planes)}). etcd runs on them, and an even number survives no "
            f"more failures than {len(control_planes) - 1} would. Use 1, 3 or 5."
        )
    if etcd and sorted(etcd) != sorted(control_planes):
        problems.append(
            f"Group etcd has {', '.join(etcd)}, but etcd runs on the control plane. Put the same hosts as in kube_control_plane into it, or "
            "remove the group."
        )
    return problems + name_problems({*control_planes, *workers})


def hosted_group_problems(control_planes, workers):
    """Problems of the groups of a cluster whose control plane runs as pods."""
    if control_planes:
        return [f"Group kube_control_plane has {', '.join(control_planes)}, but the control plane of this cluster is hosted. Move them to kube_node."]
    return [] if workers else ["Group kube_node has no host. Add the machines that are to join the cluster to it."]


def name_problems(hosts):
    said = "can't be the name of a node. Rename it in the inventory: small letters, digits, “-” and “.”, at most 63 characters."
    return [f"“{host}” {said}" for host in sorted(hosts) if len(host) > 63 or not NAME.fullmatch(host)]


def network_problems(values):
    pods, no_pods = network(values, "kube_pods_subnet")
    services, no_services = network(values, "kube_service_addresses")
    if no_pods or no_services:
        return [problem for problem in (no_pods, no_services) if problem]
    problems = []
    if pods.version == services.version and pods.overlaps(services):
        problems.append(f"kube_pods_subnet {pods} and kube_service_addresses {services} overlap. Choose separate networks.")
    prefix, most = int(values["kube_network_node_prefix"]), int(values["kubelet_max_pods"])
    if not pods.prefixlen < prefix <= pods.max_prefixlen - 2:
        problems.append(
            f"kube_network_node_prefix is {prefix}, but a node's part of kube_pods_subnet {pods} must be smaller than the whole: choose a value "
            f"from {pods.prefixlen + 1} to {pods.max_prefixlen - 2}."
        )
    elif most > 2 ** (pods.max_prefixlen - prefix) - 2:
        problems.append(f"kubelet_max_pods is {most}, but a /{prefix} has too few addresses for them. Lower it or kube_network_node_prefix.")
    return problems


def endpoint_problems(values, groups):
    """Problems of the address at which nodes reach several control planes."""
    endpoint = values.get("loadbalancer_apiserver") or {}
    if values.get("kube_vip_enabled"):
        return common_address_problems(values, endpoint)
    if not endpoint and len(groups.get("kube_control_plane", [])) > 1:
        return [
            "Several control planes need an address that leads to all of them. Set kube_vip_enabled: true and kube_vip_address to an unused address of "
            "their network, or set loadbalancer_apiserver to the address and port of a load balancer."
        ]
    if endpoint and not (endpoint.get("address") and str(endpoint.get("port", 1)).isdigit() and set(endpoint) <= {"address", "port"}):
        return ["loadbalancer_apiserver needs an address and may have a port, for example {address: 192.0.2.10, port: 6443}."]
    return []


def common_address_problems(values, endpoint):
    """Problems of the address that moves between the control planes."""
    try:
        address = ipaddress.IPv4Address(values["kube_vip_address"])
    except ValueError:
        return [f"kube_vip_address is “{values['kube_vip_address']}”. Set it to an unused IPv4 address of the control planes' network, like 192.0.2.10."]
    port = values["kube_apiserver_port"]
    if endpoint and (endpoint.get("address") != str(address) or str(endpoint.get("port", port)) != str(port)):
        return [
            f"loadbalancer_apiserver names another address or port than kube_vip_address {address} and kube_apiserver_port {port}. Remove "
            "loadbalancer_apiserver, or set kube_vip_enabled: false to use that load balancer."
        ]
    inside = [name for name in ("kube_pods_subnet", "kube_service_addresses") if address in (network(values, name)[0] or ())]
    return [f"kube_vip_address {address} is in {name} {values[name]}. Choose an unused address of the control planes' network." for name in inside]


def type_problems(values, specs):
    """What ansible's own check of arguments finds."""
    from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

    found = ArgumentSpecValidator(specs).validate(values).error_messages
    return [f"A variable is invalid: {message}." for message in found]


def typed(values, specs):
    """The values with the types of `specs`: -e, INI files and Secrets have texts such as "false", which would count as true. Invalid ones stay."""
    from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

    def converted(name, value):
        kind = specs[name].get("type", "str")
        if kind == "str" or not isinstance(value, str):
            return value
        found = ArgumentSpecValidator({name: {"type": kind}}).validate({name: value})
        return value if found.error_messages else found.validated_parameters[name]

    return {name: converted(name, value) for name, value in values.items()}


def hosted_problems(values):
    """Settings that a hosted cluster doesn't have."""
    if values["kube_network_plugin"] != "bridge":
        yield f"kube_network_plugin is {values['kube_network_plugin']}, and machines of a hosted cluster can only use bridge yet. Set it to bridge."


def cluster_problems(values, specs, groups, hosted=False):
    """All problems of the variables `values` with the types `specs`, and of the inventory's `groups`. `hosted`: the control plane runs as pods."""
    wrong = type_problems(values, specs)
    if wrong:
        return wrong + group_problems(groups, hosted)
    problems = group_problems(groups, hosted) + network_problems(values)
    problems += hosted_problems(values) if hosted else endpoint_problems(values, groups)
    if not VERSION.fullmatch(str(values["kube_version"])):
        problems.append(f"kube_version is “{values['kube_version']}”. Write all three numbers, like 1.36.4.")
    return problems


def fixed_values(values, specs):
    """The variables that can't change after the installation."""
    return {name: values[name] for name, spec in specs.items() if FIXED in spec["description"]}


def refusal(problems):
    """The message of a task that refuses to go on. Several problems are counted: `2 problems: …`."""
    counted = f"{len(problems)} problems: " if len(problems) > 1 else ""
    return f"{counted}{' '.join(problems)} No machine was changed."


class FilterModule:
    def filters(self):
        return {"cluster_problems": cluster_problems, "first_address": first_address, "fixed_values": fixed_values, "refusal": refusal, "typed": typed}
