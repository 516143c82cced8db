# SPDX-License-Identifier: Apache-2.0
"""Tries to reach other machines. Changes nothing. `unreachable_targets` are those of `targets` that don't answer at their port, and `lossy_targets` those of
`packets` that answer to small packets, but not to those of their size: a path MTU black hole.

A refused connection counts as an answer: the packets went there and back.
"""

import errno
import os
import socket
import struct
import threading
import time

# Python has no names for these. See ip(7).
IP_MTU_DISCOVER, IP_PMTUDISC_DO = 10, 2
# The headers of IP and ICMP.
HEADERS = 28
ECHO_REQUEST, ECHO_REPLY = 8, 0
# Every usual path carries it. Some firewalls drop pings of more than 1,024 bytes: behind one, this size isn't answered, and nothing is reported.
SMALL = 1200
ATTEMPTS = 3
ECHO_SECONDS = 1


def answers(address, port, seconds):
    try:
        socket.create_connection((address, port), timeout=seconds).close()
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return True


def request(size, number, sequence):
    """An ICMP echo request that fills a packet of `size` bytes. Its data are zeros, which don't change the checksum."""
    total = (ECHO_REQUEST << 8) + number + sequence
    checksum = ~(total + (total >> 16)) & 0xFFFF
    return struct.pack("!BBHHH", ECHO_REQUEST, 0, checksum, number, sequence) + bytes(size - HEADERS)


def is_answered(probe, packet):
    """The answer that the packet is too large counts, too: then the machine sends smaller ones, and nothing is lost."""
    deadline = time.monotonic() + ECHO_SECONDS
    try:
        probe.send(packet)
        while time.monotonic() < deadline:
            probe.settimeout(max(0.001, deadline - time.monotonic()))
            received = probe.recv(65535)
            reply = received[(received[0] & 15) * 4 :]
            # Behind type, code and checksum, a reply repeats the request.
            if len(reply) >= 8 and reply[0] == ECHO_REPLY and reply[4:] == packet[4:]:
                return True
    except OSError as error:
        return error.errno == errno.EMSGSIZE
    return False


def echoes(address, size):
    """Whether the machine answers one of several packets of `size` bytes that routers must not split."""
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as probe:
        probe.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
        probe.connect((address, 0))
        return any(is_answered(probe, request(size, os.getpid() & 0xFFFF, sequence)) for sequence in range(ATTEMPTS))


def carries(address, size):
    """Whether packets of `size` bytes arrive. Also true if that can't be known: the machine doesn't answer to small ones, or this isn't root."""
    try:
        if size <= SMALL or not echoes(address, SMALL) or echoes(address, size):
            return True
        # A firewall that limits the number of pings, or a machine that went away, would look the same.
        return not echoes(address, SMALL)
    except OSError:
        return True


def failing(targets, works):
    """The targets for which `works` isn't true, by name and port. Tries all of them at the same time."""
    failed = []

    def attempt(target):
        if not works(target):
            failed.append(target)

    threads = [threading.Thread(target=attempt, args=(target,)) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(failed, key=lambda target: (target["name"], int(target.get("port", 0))))


def reached(targets, packets, seconds):
    """The targets (`name`, `address`, `port`) that don't answer, and the packets (`name`, `address`, `size`) that don't arrive."""

    def works(target):
        return carries(target["address"], int(target["size"])) if "size" in target else answers(target["address"], int(target["port"]), seconds)

    failed = failing([*targets, *packets], works)
    return {"unreachable_targets": [target for target in failed if "port" in target], "lossy_targets": [target for target in failed if "size" in target]}


def main():
    from ansible.module_utils.basic import AnsibleModule

    options = {
        "targets": {"type": "list", "elements": "dict", "required": True},
        "packets": {"type": "list", "elements": "dict", "default": []},
        "seconds": {"type": "float", "default": 5},
    }
    module = AnsibleModule(argument_spec=options, supports_check_mode=True)
    module.exit_json(changed=False, **reached(**module.params))


if __name__ == "__main__":
    main()
