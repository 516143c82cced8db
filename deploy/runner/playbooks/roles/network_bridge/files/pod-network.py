# SPDX-License-Identifier: Apache-2.0
"""Connects the pods of this node with those of the others. Runs as a service on every node.

Follows the cluster's nodes with `kubectl get nodes --watch`, and keeps two things equal to what the API says: the configuration of the
CNI plugins (this node's part of the pods' addresses), and one route per other node. So no machine must be changed when another one
joins or leaves. While the API doesn't answer, the routes stay as they are: pods reach each other without it, also while the control
plane is upgraded. Arguments: this node's name, the addresses of all pods, and the path of kubectl.
"""

import json
import os
import signal
import subprocess
import sys

KUBECONFIG = "/etc/kubernetes/kubelet.conf"
CONFIGURATION = "/etc/cni/net.d/10-kubeonkube.conflist"
CACHE = "/run/kubeonkube/kubectl"
# Marks our routes, so that they can be told from others.
PROTOCOL = "77"
NODE = '{NODE.metadata.name}{" "}{NODE.spec.podCIDR}{" "}{NODE.status.addresses[?(@.type=="InternalIP")].address}{"\\n"}'
LISTED = "{range .items[*]}" + NODE.replace("NODE", "") + "{end}"
WATCHED = '{.type}{" "}' + NODE.replace("NODE", ".object")


def run(*command):
    subprocess.run(command, check=True)


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def succeeds(*command):
    return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0


def configuration(pods):
    """The CNI plugins for pods with addresses in `pods`."""
    address = {"type": "host-local", "ranges": [[{"subnet": pods}]], "routes": [{"dst": "0.0.0.0/0"}]}
    bridge = {"type": "bridge", "bridge": "cni0", "isGateway": True, "hairpinMode": True, "ipam": address}
    ports = {"type": "portmap", "capabilities": {"portMappings": True}}
    return json.dumps({"cniVersion": "0.4.0", "name": "kubeonkube", "plugins": [bridge, ports]}, indent=1)


def configure(pods):
    text = configuration(pods)
    try:
        with open(CONFIGURATION, encoding="utf-8") as file:
            if file.read() == text:
                return
    except OSError:
        pass
    os.makedirs(os.path.dirname(CONFIGURATION), exist_ok=True)
    # Written in place: containerd 1.6 doesn't notice a file that is renamed into this folder.
    with open(CONFIGURATION, "w", encoding="utf-8") as file:
        file.write(text)


def masquerade(network):
    """Gives packets that leave the pods' network the node's address, because nothing outside knows a way back to a pod."""
    rule = ["POSTROUTING", "-s", network, "!", "-d", network, "-m", "comment", "--comment", "kubeonkube", "-j", "MASQUERADE"]
    if not succeeds("iptables", "-w", "-t", "nat", "-C", *rule):
        run("iptables", "-w", "-t", "nat", "-A", *rule)


def parsed(line):
    """Splits a line into change, node name, pods' network and node address. A value that the node doesn't have yet is an empty text."""
    fields = line.rstrip("\n").split(" ")
    return (*fields, "", "", "", "")[:4]


def stale(routes, nodes, own):
    """The networks of our routes, as `ip route` prints them, that none of the other listed nodes has."""
    listed = [parsed("LISTED " + node) for node in nodes.splitlines()]
    networks = {network for _, name, network, _ in listed if name != own}
    return [route.split(" ")[0] for route in routes.splitlines() if route.split(" ")[0] not in networks]


class Routes:
    def __init__(self, own):
        self.own = own
        self.known = {}

    def forget_left(self, nodes):
        """Removes the routes to nodes that have left since an earlier start of this service."""
        for network in stale(output("ip", "route", "show", "proto", PROTOCOL), nodes, self.own):
            succeeds("ip", "route", "del", network, "proto", PROTOCOL)

    def follow(self, line):
        change, name, pods, address = parsed(line)
        now = (pods, address) if change != "DELETED" and pods and address else None
        before = self.known.get(name)
        if now == before:
            return
        if name == self.own:
            if now:
                configure(pods)
        else:
            if before:
                succeeds("ip", "route", "del", before[0], "via", before[1], "proto", PROTOCOL)
            if now:
                run("ip", "route", "replace", pods, "via", address, "proto", PROTOCOL)
        print(f"{name}: {' via '.join(now) if now else 'no route'}", flush=True)
        self.known[name] = now


def main(own, network, kubectl):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    masquerade(network)
    routes = Routes(own)
    get = [kubectl, "--kubeconfig", KUBECONFIG, "--cache-dir", CACHE, "get", "nodes"]
    try:
        routes.forget_left(output(*get, "-o", "jsonpath=" + LISTED))
    except subprocess.CalledProcessError:
        return 1  # kubectl has printed why; systemd tries again
    watch = ["--watch", "--output-watch-events", "-o", "jsonpath=" + WATCHED]
    with subprocess.Popen([*get, *watch], stdout=subprocess.PIPE, text=True) as nodes:
        for line in nodes.stdout:
            routes.follow(line)
    # The API server ends each watch after a while. systemd starts the service again, and it reads all nodes.
    return nodes.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
