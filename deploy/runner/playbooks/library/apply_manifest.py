# SPDX-License-Identifier: Apache-2.0
"""Applies what the command `render` prints to the cluster, with kubectl's server-side apply. `objects` are those that changed.

An apply that changes nothing leaves the generation of an object, or if it has none its resource version, as it is. The status of an
object changes all the time and only counts in the resource version.
"""

import json
import subprocess

MANAGER = "kubeonkube"


class Failed(Exception):
    """A sentence for people."""


def run(command, given=None):
    try:
        done = subprocess.run(command, input=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    except OSError as error:
        raise Failed(f"{command[0]} can't be started: {error.strerror}.") from error
    if done.returncode != 0:
        raise Failed(f"“{' '.join(command[:3])} …” failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def objects(said):
    """Kind, namespace and name of each object in kubectl's JSON, with what an apply changes."""
    found = json.loads(said or "{}")
    listed = found.get("items", [found] if "kind" in found else [])
    return {name(one): one["metadata"].get("generation") or one["metadata"].get("resourceVersion") for one in listed}


def name(one):
    metadata = one["metadata"]
    return "/".join(filter(None, (one["kind"], metadata.get("namespace"), metadata["name"])))


def apply(kubectl, manifest, dry):
    read = [*kubectl, "get", "--ignore-not-found", "-o", "json", "-f", "-"]
    before = objects(run(read, manifest))
    dry_run = ["--dry-run=server"] if dry else []
    command = [*kubectl, "apply", "--server-side", "--force-conflicts", f"--field-manager={MANAGER}", *dry_run, "-o", "json", "-f", "-"]
    after = objects(run(command, manifest))
    # In a dry run, a new object has no version.
    return sorted(name for name, version in after.items() if name not in before or before[name] != version)


def main():
    from ansible.module_utils.basic import AnsibleModule

    options = {"kubectl": {"type": "str", "required": True}, "render": {"type": "list", "elements": "str", "required": True}}
    module = AnsibleModule(argument_spec=options, supports_check_mode=True)
    try:
        changed = apply(module.params["kubectl"].split(), run(module.params["render"]), module.check_mode)
        module.exit_json(changed=bool(changed), objects=changed)
    except Failed as failure:
        module.fail_json(msg=str(failure))


if __name__ == "__main__":
    main()
