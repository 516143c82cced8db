# SPDX-License-Identifier: Apache-2.0
"""Sets the tag of etcd's image in kubeadm's configuration of a cluster (ConfigMap kubeadm-config), which `kubeadm upgrade` reads."""

import json
import re
import subprocess

CONFIG_MAP = ["--namespace=kube-system", "configmap", "kubeadm-config"]
# As kubeadm writes it: etcd, local, dataDir and perhaps imageTag, each two spaces deeper.
LOCAL = re.compile(r"^etcd:\n  local:\n((?:    .*\n)*)", re.MULTILINE)


class Failed(Exception):
    """A sentence for people."""


def with_tag(configuration, tag):
    """The YAML of a ClusterConfiguration with this tag."""
    found = LOCAL.search(configuration)
    if not found:
        raise Failed("The ConfigMap kube-system/kubeadm-config describes no local etcd. This engine can't upgrade an external one.")
    others = [line for line in found.group(1).splitlines(keepends=True) if not line.startswith("    imageTag:")]
    return configuration[: found.start(1)] + "".join(others) + f"    imageTag: {tag}\n" + configuration[found.end(1) :]


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"The ConfigMap kube-system/kubeadm-config can't be read or changed: {done.stderr.strip()}")
    return done.stdout


def main():
    from ansible.module_utils.basic import AnsibleModule

    module = AnsibleModule(argument_spec={"kubectl": {"type": "str", "required": True}, "tag": {"type": "str", "required": True}}, supports_check_mode=True)
    kubectl = module.params["kubectl"].split()
    try:
        before = json.loads(run([*kubectl, "get", *CONFIG_MAP, "-o", "json"]))["data"]["ClusterConfiguration"]
        after = with_tag(before, module.params["tag"])
        if after != before and not module.check_mode:
            patch = json.dumps({"data": {"ClusterConfiguration": after}})
            run([*kubectl, "patch", *CONFIG_MAP, "--type=merge", f"--patch={patch}"])
        module.exit_json(changed=after != before)
    except Failed as failure:
        module.fail_json(msg=str(failure))


if __name__ == "__main__":
    main()
