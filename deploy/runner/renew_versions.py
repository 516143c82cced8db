# SPDX-License-Identifier: Apache-2.0
"""Renews playbooks/versions.json from what the projects publish. Needs Linux, PyYAML and the internet.

People choose the versions in `default`, `run`, containerd, runc, helm and the plugins, because those must be tested. Everything else follows from them:
newest patches, dates, images, checksums. Minor versions that were released since are added. It prints what it changed, and which newer releases exist.
README.md says what to do then.
"""

import argparse
import copy
import datetime
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

import yaml

CATALOGUE = Path(__file__).parent / "playbooks/versions.json"
PROCESSORS = ("amd64", "arm64")
PROGRAMS = ("kubeadm", "kubelet", "kubectl")
SCHEDULE = "kubernetes/website/raw/main/data/releases/schedule.yaml"
# The projects on GitHub whose releases are compared, by their keys in the catalogue.
PROJECTS = {"containerd": "containerd/containerd", "runc": "opencontainers/runc", "helm": "helm/helm", "calico": "projectcalico/calico", "cilium": "cilium/cilium"}
WIDTH = 150
SECONDS = 60


class Refused(Exception):
    """A sentence for the user. The catalogue stays as it is."""


def numbers(version):
    """[1, 36, 4] for 1.36.4 and v1.36.4."""
    return [int(number) for number in re.findall(r"\d+", version)]


class Publishers:
    def __init__(self, dl_k8s_io, github, get_helm, cilium_charts):
        self.dl_k8s_io, self.github, self.get_helm, self.cilium_charts = (url.rstrip("/") for url in (dl_k8s_io, github, get_helm, cilium_charts))

    def open(self, url):
        try:
            return urllib.request.urlopen(url, timeout=SECONDS)
        except (OSError, ValueError) as error:
            raise Refused(f"{url} can't be read: {error}.") from error

    def read(self, url):
        with self.open(url) as answer:
            return answer.read()

    def checksum(self, url, name=""):
        """The SHA-256 of the file `name` in a list, or of a file that contains nothing else."""
        lines = [line.split() for line in self.read(url).decode().splitlines() if line.strip()]
        found = [words[0].lower() for words in lines if (words[-1].lstrip("*") == name if name else len(lines) == len(words) == 1)]
        if len(found) != 1 or not re.fullmatch("[0-9a-f]{64}", found[0]):
            raise Refused(f"{url} has no SHA-256{' of ' + name if name else ''}.")
        return found[0]

    def schedule(self):
        """First release and end of support by minor version, of those that are released and supported."""
        url = f"{self.github}/{SCHEDULE}"
        try:
            # The base loader keeps 1.40 as it is written.
            releases = yaml.load(self.read(url), Loader=yaml.BaseLoader)["schedules"]
            return {release["release"]: (release["releaseDate"], release["endOfLifeDate"]) for release in releases}
        except (yaml.YAMLError, KeyError, TypeError) as error:
            raise Refused(f"{url} has another form than this script knows: {error!r}.") from error

    def newest(self, minor):
        url = f"{self.dl_k8s_io}/release/stable-{minor}.txt"
        version = self.read(url).decode().strip()
        if not re.fullmatch(rf"v{re.escape(minor)}\.\d+", version):
            raise Refused(f"{url} names no version of {minor}: {version[:60]}.")
        return version[1:]

    def programs(self, version):
        base = f"{self.dl_k8s_io}/release/v{version}/bin/linux"
        return {processor: {program: self.checksum(f"{base}/{processor}/{program}.sha256") for program in PROGRAMS} for processor in PROCESSORS}

    def components(self, version, sums):
        """What kubeadm of this version says. It is started only if it has its checksum."""
        processor = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine())
        if processor is None:
            raise Refused(f"kubeadm can't be started on {platform.machine()}. Use x86_64 or aarch64.")
        url = f"{self.dl_k8s_io}/release/v{version}/bin/linux/{processor}/kubeadm"
        content = self.read(url)
        if hashlib.sha256(content).hexdigest() != sums[processor]["kubeadm"]:
            raise Refused(f"{url} has another SHA-256 than published.")
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "kubeadm"
            program.write_bytes(content)
            program.chmod(0o700)
            done = subprocess.run([program, "config", "images", "list", f"--kubernetes-version=v{version}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        tags = dict(re.findall(r"/(etcd|coredns|pause):(\S+)", done.stdout))
        if done.returncode or len(tags) != 3:
            raise Refused(f"kubeadm {version} names no images of etcd, CoreDNS and pause: {done.stderr.strip() or done.stdout.strip()}.")
        return {"of": version, "etcd": tags["etcd"], "coredns": tags["coredns"], "pause": tags["pause"]}

    def latest(self, project):
        """The version of a project's latest release, to which GitHub redirects."""
        with self.open(f"{self.github}/{project}/releases/latest") as answer:
            return answer.url.rsplit("/", 1)[-1]

    def runtime_sums(self, name, version):
        base = f"{self.github}/{PROJECTS[name]}/releases/download/v{version}"
        if name == "runc":
            return {processor: self.checksum(f"{base}/runc.sha256sum", f"runc.{processor}") for processor in PROCESSORS}
        archives = {processor: f"containerd-static-{version}-linux-{processor}.tar.gz" for processor in PROCESSORS}
        return {processor: self.checksum(f"{base}/{archive}.sha256sum", archive) for processor, archive in archives.items()}

    def helm_sums(self, version):
        archives = {processor: f"helm-v{version}-linux-{processor}.tar.gz" for processor in PROCESSORS}
        return {processor: self.checksum(f"{self.get_helm}/{archive}.sha256sum", archive) for processor, archive in archives.items()}

    def plugin_sum(self, plugin):
        """That of the file itself, because neither project publishes one."""
        if "chart" in plugin:
            url = f"{self.cilium_charts}/{plugin['chart']}"
        else:
            url = f"{self.github}/{PROJECTS['calico']}/raw/{plugin['version']}/manifests/{plugin['manifest']}"
        return hashlib.sha256(self.read(url)).hexdigest()


def renew(old, publishers, today):
    """The renewed catalogue, and remarks for whoever reads the change."""
    new, remarks = copy.deepcopy(old), []
    engine, schedule = new["kubeonkube"], publishers.schedule()
    known = {minor["minor"]: minor for minor in engine["minors"]}
    oldest = min(known, key=numbers)
    for name, (released, end) in schedule.items():
        if name not in known and released <= today and numbers(name) > numbers(oldest):
            known[name] = {"minor": name, "run": None}
            remarks.append(f"Kubernetes {name} is new.")
        if name in known:
            known[name].update(released=released, end_of_support=end)
    engine["minors"] = [known[name] for name in sorted(known, key=numbers)]

    listed = engine["programs"]
    for minor in engine["minors"]:
        minor["newest"] = publishers.newest(minor["minor"])
        if minor["end_of_support"] < today and "components" in minor:
            continue
        wanted = minor["run"] or minor["newest"]
        for version in {wanted, minor["newest"]}:
            sums = publishers.programs(version)
            if listed.get(version, sums) != sums:
                raise Refused(f"The checksums of Kubernetes {version} are no longer those of the catalogue. A release never changes: find out why.")
            listed[version] = sums
        before = minor.get("components", {}).get("etcd", "0")
        minor["components"] = publishers.components(wanted, listed[wanted])
        # The engine installs this one if it is newer than kubeadm's.
        minor["components"]["etcd"] = max(before, minor["components"]["etcd"], key=numbers)
    keep = {version for minor in engine["minors"] for version in (minor["run"], minor["newest"], minor["components"]["of"])}
    engine["programs"] = {version: listed[version] for version in sorted(keep & listed.keys(), key=numbers)}
    keys = ("minor", "run", "newest", "released", "end_of_support", "components")
    engine["minors"] = [{key: minor[key] for key in keys} for minor in engine["minors"]]

    for name in ("containerd", "runc"):
        engine[name]["sha256"] = publishers.runtime_sums(name, engine[name]["version"])
    engine["helm"]["sha256"] = publishers.helm_sums(engine["helm"]["version"])
    for plugin in engine["plugins"].values():
        plugin["sha256"] = publishers.plugin_sum(plugin)
    for name, project in PROJECTS.items():
        chosen, latest = engine["plugins"].get(name, engine.get(name))["version"], publishers.latest(project)
        if numbers(latest) > numbers(chosen):
            remarks.append(f"{name}: the latest release is {latest}, the catalogue has {chosen}.")
    remarks += [f"Kubernetes {minor['minor']}: the newest patch is {minor['newest']}, the lab runs {minor['run']}."
                for minor in engine["minors"] if minor["run"] and minor["run"] != minor["newest"]]
    if new != old:
        new["as_of"] = today
    return new, remarks


def differences(old, new, path=""):
    """Each changed value, as a line."""
    if isinstance(old, list) and all(isinstance(entry, dict) and "minor" in entry for entry in old + new):
        old, new = ({entry["minor"]: entry for entry in entries} for entries in (old, new))
    if not isinstance(old, dict) or not isinstance(new, dict):
        return [] if old == new else [f"{path}: {json.dumps(old)} -> {json.dumps(new)}"]
    return [line for key in old | new for line in differences(old.get(key), new.get(key), f"{path} {key}".strip())]


def written(value, indent=0):
    """JSON with what fits into a line in one line."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or (indent and indent + len(line) < WIDTH):
        return line
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        parts, (first, last) = [f"{json.dumps(key)}: {written(part, indent + 2)}" for key, part in value.items()], "{}"
    else:
        parts, (first, last) = [written(part, indent + 2) for part in value], "[]"
    return f"{first}\n{inner}" + f",\n{inner}".join(parts) + f"\n{' ' * indent}{last}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--file", type=Path, default=CATALOGUE, metavar="FILE", help="another catalogue than playbooks/versions.json")
    parser.add_argument("--check", action="store_true", help="only print what would change; exit with 3 if anything would")
    urls = {"dl-k8s-io": "https://dl.k8s.io", "github": "https://github.com", "get-helm": "https://get.helm.sh", "cilium-chart": "https://helm.cilium.io"}
    for name, url in urls.items():
        parser.add_argument(f"--{name}-url", default=url, metavar="URL", help=f"instead of {url}")
    options = parser.parse_args()
    try:
        old = json.loads(options.file.read_text())
        publishers = Publishers(options.dl_k8s_io_url, options.github_url, options.get_helm_url, options.cilium_chart_url)
        new, remarks = renew(old, publishers, datetime.datetime.now(datetime.timezone.utc).date().isoformat())
        changes = differences(old, new)
        print("\n".join([*changes, *remarks] or ["Nothing has changed."]))
        if changes and not options.check:
            # In place of the file at once, so that it is never half written.
            beside = options.file.with_suffix(".new")
            beside.write_text(written(new) + "\n")
            os.replace(beside, options.file)
    except (Refused, OSError, json.JSONDecodeError) as error:
        sys.exit(f"{error} Nothing was changed.")
    sys.exit(3 if changes and options.check else 0)


if __name__ == "__main__":
    main()
