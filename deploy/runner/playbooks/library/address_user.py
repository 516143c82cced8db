# SPDX-License-Identifier: Apache-2.0
"""Finds out whether another machine in the network has an address. Changes nothing. `user` is its hardware address; empty if none answers.

To send the first packet, the kernel asks the network who has the address (ARP). Whether a firewall drops the packet itself doesn't matter.
"""

import json
import socket
import subprocess
import time

SECONDS = 3
# States in which the kernel has no answer. See ip-neighbour(8).
SILENT = {"FAILED", "INCOMPLETE", "NONE"}


def entry(address):
    said = subprocess.run(["ip", "-j", "neighbour", "show", "to", address], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    return parsed(said.decode() or "[]")


def parsed(said):
    """The hardware address in the output of `ip -j neighbour`, or empty; None while the kernel is still asking."""
    found = json.loads(said)
    if not found or "INCOMPLETE" in found[0].get("state", []):
        return None
    return "" if SILENT.intersection(found[0].get("state", [])) else found[0].get("lladdr", "")


def user(address):
    subprocess.run(["ip", "neighbour", "flush", "to", address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.sendto(b"", (address, 9))
        except OSError:
            return ""
    deadline = time.monotonic() + SECONDS
    while (found := entry(address)) is None and time.monotonic() < deadline:
        time.sleep(0.1)
    return found or ""


def main():
    from ansible.module_utils.basic import AnsibleModule

    module = AnsibleModule(argument_spec={"address": {"type": "str", "required": True}}, supports_check_mode=True)
    module.exit_json(changed=False, user=user(module.params["address"]))


if __name__ == "__main__":
    main()
