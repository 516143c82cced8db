# SPDX-License-Identifier: Apache-2.0
"""Reads from the Kubernetes API what cluster-info.yml reports. Changes nothing. Control planes that aren't healthy are asked again for `patience` seconds,
all together: one that is busy or has just started is healthy a moment later. Returns `cluster`:

| key | content |
|---|---|
| `version` | of the API server that answered; empty if none did |
| `message` | why nothing could be read |
| `nodes` | `name`, `roles`, `ready`, `message`, `schedulable`, `version` (of the kubelet), `runtime`, `address`, `created` |
| `components` | `name`, `node` (empty for the cluster's DNS and kube-proxy), `version` (the image's tag) |
| `apis` | `node`, `healthy`, `message`: of each control plane's API server |
"""

import json
import subprocess
import time

SECONDS = "10s"
ROLE = "node-role.kubernetes.io/"


def run(kubectl, *arguments):
    done = subprocess.run([*kubectl, f"--request-timeout={SECONDS}", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stdout, done.stderr.strip()


def tag(image):
    """The tag of an image's name, `v1.36.4`; empty if it has none."""
    last = image.split("@")[0].rsplit("/", 1)[-1]
    return last.partition(":")[2]


def node(found):
    meta, status = found["metadata"], found.get("status", {})
    info = status.get("nodeInfo", {})
    ready = next((one for one in status.get("conditions", []) if one["type"] == "Ready"), {})
    addresses = [one["address"] for one in status.get("addresses", []) if one["type"] == "InternalIP"]
    is_ready = ready.get("status") == "True"
    return {
        "name": meta["name"],
        "roles": sorted(label[len(ROLE):] for label in meta.get("labels", {}) if label.startswith(ROLE)),
        "ready": is_ready,
        "message": "" if is_ready else ready.get("message", "The node has never reported."),
        "schedulable": not found.get("spec", {}).get("unschedulable", False),
        "version": info.get("kubeletVersion", ""),
        "runtime": info.get("containerRuntimeVersion", ""),
        "address": (addresses or [""])[0],
        "created": meta.get("creationTimestamp", ""),
    }


def components(items):
    """Static pods by node, and the two workloads that kubeadm installs."""
    rows = []
    for item in items:
        labels = item["metadata"].get("labels", {})
        pod = item["spec"].get("template", item)["spec"]
        image = tag((pod.get("containers") or [{}])[0].get("image", ""))
        if item["kind"] == "Pod" and labels.get("tier") == "control-plane":
            rows.append({"name": labels.get("component", ""), "node": pod.get("nodeName", ""), "version": image})
        elif item["kind"] in ("DaemonSet", "Deployment") and item["metadata"]["name"] in ("kube-proxy", "coredns"):
            rows.append({"name": item["metadata"]["name"], "node": "", "version": image})
    return sorted(rows, key=lambda row: (row["name"], row["node"]))


def api(kubectl, name, address, port, deadline):
    """Whether the API server is healthy; the last answer counts. `deadline` is a time of `time.monotonic`."""
    ask = lambda: run([*kubectl, f"--server=https://{address}:{port}"], "get", "--raw", "/readyz")  # noqa: E731
    code, said, failure = ask()
    while (code != 0 or said.strip() != "ok") and time.monotonic() < deadline:
        time.sleep(1)
        code, said, failure = ask()
    return {"node": name, "healthy": code == 0 and said.strip() == "ok", "message": "" if code == 0 else failure.splitlines()[-1] if failure else ""}


def read(kubectl, port, patience=0):
    code, said, failure = run(kubectl, "get", "nodes", "-o", "json")
    if code != 0:
        return {"version": "", "message": f"The Kubernetes API doesn't answer: {failure}", "nodes": [], "components": [], "apis": []}
    listed = json.loads(said)["items"]
    nodes = [node(found) for found in listed]
    code, said, _ = run(kubectl, "-n", "kube-system", "get", "pods,daemonsets,deployments", "-o", "json")
    parts = components(json.loads(said)["items"]) if code == 0 else []
    code, said, _ = run(kubectl, "get", "--raw", "/version")
    version = json.loads(said)["gitVersion"] if code == 0 else ""
    deadline = time.monotonic() + patience
    apis = [api(kubectl, one["name"], one["address"], port, deadline) for one in nodes if "control-plane" in one["roles"]]
    return {"version": version, "message": "", "nodes": nodes, "components": parts, "apis": apis}


def main():
    from ansible.module_utils.basic import AnsibleModule

    options = {"kubectl": {"type": "str", "required": True}, "port": {"type": "int", "required": True}, "patience": {"type": "int", "default": 0}}
    module = AnsibleModule(argument_spec=options, supports_check_mode=True)
    module.exit_json(changed=False, cluster=read(module.params["kubectl"].split(), module.params["port"], module.params["patience"]))


if __name__ == "__main__":
    main()
