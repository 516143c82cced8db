# SPDX-License-Identifier: Apache-2.0
"""Drains a node, or says which PodDisruptionBudget prevents it. A node that can't be drained is schedulable again if it was before."""

import json
import subprocess


class Failed(Exception):
    """A sentence for people."""


class Kubectl:
    def __init__(self, command):
        self.command = command

    def run(self, *arguments):
        return subprocess.run([*self.command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)

    def read(self, *arguments):
        """The objects of a `get`; None if there is no such object."""
        done = self.run("get", *arguments, "-o", "json")
        if done.returncode == 0:
            return json.loads(done.stdout)
        if "NotFound" in done.stderr:
            return None
        raise Failed(f"The Kubernetes API doesn't answer: {done.stderr.strip()}")


def matches(selector, labels):
    """Whether a label selector selects `labels`."""
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    for rule in selector.get("matchExpressions") or []:
        value, values = labels.get(rule["key"]), rule.get("values") or []
        fits = {"In": value in values, "NotIn": value not in values, "Exists": value is not None, "DoesNotExist": value is None}
        if not fits.get(rule["operator"], False):
            return False
    return True


def blocking(budgets, pods):
    """Sentences that name the budgets without a disruption to spare, and the pods they keep on the node."""
    sentences = []
    for budget in budgets:
        name, namespace = budget["metadata"]["name"], budget["metadata"]["namespace"]
        status = budget.get("status", {})
        if status.get("disruptionsAllowed", 0) > 0:
            continue
        kept = [
            pod["metadata"]["name"]
            for pod in pods
            if pod["metadata"]["namespace"] == namespace
            and pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")
            and matches(budget["spec"].get("selector") or {}, pod["metadata"].get("labels") or {})
        ]
        if kept:
            sentences.append(
                f"PodDisruptionBudget {namespace}/{name} blocks it: {status.get('currentHealthy', 0)} healthy pods, at least "
                f"{status.get('desiredHealthy', 0)} needed. It keeps {', '.join(kept)}."
            )
    return sentences


def ending(pods):
    """The pods that were told to end and run on, in one sentence; none if there are none."""
    names = [f"{pod['metadata']['namespace']}/{pod['metadata']['name']}" for pod in pods if "deletionTimestamp" in pod["metadata"]]
    return [f"These pods need longer to end: {', '.join(names)}."] if names else []


def drain(kubectl, node, grace_period, timeout, advice, was_schedulable=None):
    """Whether the node existed and was drained. `was_schedulable`: before an earlier attempt, if there was one."""
    found = kubectl.read("node", node)
    if found is None:
        return False
    if was_schedulable is None:
        was_schedulable = not found["spec"].get("unschedulable", False)
    options = ["--force", "--ignore-daemonsets", "--delete-emptydir-data", f"--grace-period={grace_period}", f"--timeout={timeout}"]
    done = kubectl.run("drain", node, *options)
    if done.returncode == 0:
        return True
    pods = (kubectl.read("pods", "--all-namespaces", f"--field-selector=spec.nodeName={node}") or {}).get("items", [])
    budgets = (kubectl.read("poddisruptionbudgets", "--all-namespaces") or {}).get("items", [])
    reasons = blocking(budgets, pods)
    if not reasons and ending(pods):
        reasons, advice = ending(pods), "Give them a longer drain_timeout and run this playbook again."
    reasons = reasons or [f"kubectl says: {done.stderr.strip()}"]
    state = "The node stays in the cluster and still takes no new pods, as before."
    if was_schedulable:
        kubectl.run("uncordon", node)
        state = "The node stays in the cluster and takes pods again."
    raise Failed(f"{node} could not be drained within {timeout}. {' '.join(reasons)} {state} {advice}")


def main():
    from ansible.module_utils.basic import AnsibleModule

    options = {
        "kubectl": {"type": "str", "required": True},
        "node": {"type": "str", "required": True},
        "grace_period": {"type": "int", "required": True},
        "timeout": {"type": "str", "required": True},
        "advice": {"type": "str", "required": True},
        "was_schedulable": {"type": "bool"},
    }
    module = AnsibleModule(argument_spec=options)
    given = module.params
    try:
        kubectl = Kubectl(given["kubectl"].split())
        drained = drain(kubectl, given["node"], given["grace_period"], given["timeout"], given["advice"], given["was_schedulable"])
        module.exit_json(changed=drained)
    except Failed as failure:
        module.fail_json(msg=str(failure))


if __name__ == "__main__":
    main()
