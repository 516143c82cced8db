# SPDX-License-Identifier: Apache-2.0
"""Judges a request to remove nodes before anything is changed. Each problem is a sentence or two: what, why, what to do."""


def removal_problems(nodes, groups, members=()):
    """Why the `nodes` can't be removed from the cluster of the inventory's `groups`. `members` are etcd's, if a control plane is among the nodes."""
    if not nodes:
        return ["No node is named. Name the nodes to remove with -e node=NAME or -e node=NAME,NAME."]
    control_planes = groups.get("kube_control_plane", [])
    problems = []
    for node in nodes:
        if node in control_planes:
            problems += control_plane_problems(node, nodes, control_planes)
        elif node in groups.get("etcd", []):
            problems.append(f"{node} is in the group etcd, and etcd would lose its data. Remove it from that group first if it runs no etcd.")
        elif node not in groups.get("kube_node", []):
            workers = ", ".join(groups.get("kube_node", [])) or "none"
            problems.append(f"“{node}” is no worker of the inventory. Its workers are: {workers}.")
    if not problems and any(node in control_planes for node in nodes):
        problems += quorum_problems(nodes, members)
    return problems


def control_plane_problems(node, nodes, control_planes):
    if all(other in nodes for other in control_planes):
        which = "the only control plane" if len(control_planes) == 1 else "one of the control planes, and all of them are to be removed"
        yield f"{node} is {which}. Without it there is no cluster: use reset.yml to remove the whole cluster."
    elif node == control_planes[0]:
        yield (
            f"{node} is the first control plane of the inventory, and the playbooks work through it. Move another one to the first place of "
            "kube_control_plane, then remove it."
        )


def quorum_problems(nodes, members):
    """etcd must be able to decide both on the removal and afterwards."""
    healthy = {member["name"] for member in members if member["healthy"]}
    ill = sorted(member["name"] or member["id"] for member in members if not member["healthy"])
    before, after = len(members), [member["name"] for member in members if member["name"] not in nodes]
    stay = len(healthy.intersection(after))
    if len(healthy) <= before // 2 or stay <= len(after) // 2:
        yield (
            f"etcd would lose its quorum: {stay} of the {len(after)} members that stay would be healthy, and more than half must be. "
            f"Not healthy now: {', '.join(ill) or 'none'}. Repair these first."
        )


class FilterModule:
    def filters(self):
        return {"removal_problems": removal_problems}
