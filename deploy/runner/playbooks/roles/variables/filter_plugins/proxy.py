# SPDX-License-Identifier: Apache-2.0
"""The proxy that machines use for downloads, and what they reach without it."""

import ipaddress
import re
from urllib.parse import urlsplit

# Where programs, files and images come from.
SERVERS = ("files_repo", "dl_k8s_io_url", "github_url", "cilium_chart_url", "get_helm_url", "kube_image_repo", "quay_image_repo")
URL = re.compile(r"https?://(\S+@)?(\[[0-9a-fA-F:]+\]|[^\s:/@]+)(:[0-9]{1,5})?/?")


def proxy_problems(values):
    """Why the proxy can't be used. The value isn't repeated, because it may contain a password."""
    problems = []
    for name in ("http_proxy", "https_proxy"):
        found = URL.fullmatch(str(values[name]))
        if values[name] and not found:
            problems.append(f"{name} is no address of a proxy. Write it like http://proxy.example:3128.")
        elif found and found[1]:
            # ansible puts the environment of a task into a command line.
            problems.append(
                f"{name} contains a user name or password. Other users of the machines, and the log of sudo, could see it. Use a proxy that needs none, for "
                "example a local one that signs in to yours."
            )
    listed = {name: str(values[name]) for name in ("no_proxy", "additional_no_proxy")}
    return problems + [f"{name} must be a list with commas and no blanks." for name, text in listed.items() if re.search(r"\s", text.strip())]


def inventory_addresses(hosts, machines):
    """The addresses of hosts as the inventory has them, which are known for hosts outside of this run, too."""
    found = [machines[host].get(name) for host in hosts for name in ("ip", "ansible_host")]
    return list(dict.fromkeys(str(address) for address in found if address))


def address(text):
    """The address in a text, or None."""
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def network(text):
    """The network in a text, or None."""
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def host(url):
    """The host in a URL or in the name of a registry, or an empty text."""
    text = str(url or "")
    try:
        return urlsplit(text if "//" in text else f"//{text}").hostname or ""
    except ValueError:
        return ""


def servers_inside(values, listed):
    """The addresses of download servers that are in a listed network. Python compares no networks, so they must be listed, too."""
    networks = [found for entry in listed if (found := network(entry))]
    return [str(own) for name in SERVERS if (own := address(host(values.get(name)))) and any(own in among for among in networks)]


def proxy_environment(values, direct):
    """The environment variables of a program that downloads. `no_proxy` replaces the computed list, `additional_no_proxy` is added to it."""
    proxies = {name: str(values[name]) for name in ("http_proxy", "https_proxy") if values[name]}
    if not proxies:
        return {}
    computed = [values["no_proxy"]] if values["no_proxy"] else direct
    joined = ",".join(str(entry) for entry in [*computed, values["additional_no_proxy"]] if entry)
    listed = [entry.strip() for entry in joined.split(",") if entry.strip()]
    every = {**proxies, "no_proxy": ",".join(dict.fromkeys(listed + servers_inside(values, listed)))}
    # Programs differ in which of the two they read.
    return {**every, **{name.upper(): value for name, value in every.items()}}


class FilterModule:
    def filters(self):
        functions = (proxy_problems, inventory_addresses, proxy_environment)
        return {function.__name__: function for function in functions}
