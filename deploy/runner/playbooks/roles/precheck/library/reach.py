# SPDX-License-Identifier: Apache-2.0
"""Tries to connect to other machines. Changes nothing. `unreachable_targets` are those that don't answer.

A refused connection counts as an answer: the packets went there and back.
"""

import socket
import threading


def answers(address, port, seconds):
    try:
        socket.create_connection((address, port), timeout=seconds).close()
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return True


def unreachable(targets, seconds):
    """The targets (`name`, `address`, `port`) that don't answer. Tries all of them at the same time."""
    silent = []

    def attempt(target):
        if not answers(target["address"], int(target["port"]), seconds):
            silent.append(target)

    threads = [threading.Thread(target=attempt, args=(target,)) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(silent, key=lambda target: (target["name"], int(target["port"])))


def main():
    from ansible.module_utils.basic import AnsibleModule

    options = {"targets": {"type": "list", "elements": "dict", "required": True}, "seconds": {"type": "float", "default": 5}}
    module = AnsibleModule(argument_spec=options, supports_check_mode=True)
    module.exit_json(changed=False, unreachable_targets=unreachable(module.params["targets"], module.params["seconds"]))


if __name__ == "__main__":
    main()
