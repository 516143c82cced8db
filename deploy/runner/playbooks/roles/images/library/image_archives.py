# SPDX-License-Identifier: Apache-2.0
"""Imports image archives into containerd's namespace of Kubernetes, if one of the `needed` images is missing.

`url` has a file SHA256SUMS, which lists the archives (`images/*.tar`) with their checksums; those in `skip` are not imported.
With `sync`, each archive is on the disk before the next one is imported. Otherwise Linux writes all of them about half a minute later, and etcd waits seconds
for the disk.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request

# On a real disk; /tmp is often in memory.
FOLDER = "/var/lib/containerd"
CTR = ["ctr", "--namespace", "k8s.io", "images"]
SECONDS = 60


class Failed(Exception):
    """A sentence for people."""


def ctr(*arguments):
    done = subprocess.run([*CTR, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    said = done.stdout.decode("utf-8", "replace").strip()
    if done.returncode != 0:
        raise Failed(f"containerd refuses “ctr images {arguments[0]}”: {said}")
    return said


def missing(needed):
    present = set(ctr("list", "--quiet").splitlines())
    return [name for name in needed if name not in present]


def opened(url):
    try:
        return urllib.request.urlopen(url, timeout=SECONDS)
    except (urllib.error.URLError, OSError, ValueError) as error:
        raise Failed(f"{url} can't be downloaded: {getattr(error, 'reason', error)}. Check files_repo and whether this machine reaches it.") from error


def archives(url, skip):
    """The archives that SHA256SUMS lists, with their checksums."""
    with opened(url + "/SHA256SUMS") as answer:
        lines = [line.split() for line in answer.read().decode("utf-8", "replace").splitlines()]
    sums = {fields[1].lstrip("*"): fields[0] for fields in lines if len(fields) == 2}
    found = {name: checksum for name, checksum in sums.items() if name.startswith("images/") and name.endswith(".tar") and name not in skip}
    if not found:
        raise Failed(f"{url}/SHA256SUMS lists no images/*.tar. Check files_repo: it must contain image archives of this version.")
    return found


def download(url, checksum, path):
    digest = hashlib.sha256()
    with opened(url) as answer, open(path, "wb") as file:
        while block := answer.read(1 << 20):
            digest.update(block)
            file.write(block)
    if digest.hexdigest() != checksum:
        raise Failed(f"{url} has another checksum than SHA256SUMS says. The file is damaged or incomplete: make the folder of files_repo again.")


def write_out():
    # Not os.sync(): that also waits for a server of NFS that is away.
    done = subprocess.run(["sync", "--file-system", FOLDER], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise Failed(f"The images can't be written to the disk: {done.stdout.decode('utf-8', 'replace').strip()}. Check the disk of {FOLDER}.")


def install(url, skip, sync):
    folder = tempfile.mkdtemp(prefix="kubeonkube-", dir=FOLDER)
    try:
        for name, checksum in sorted(archives(url, skip).items()):
            path = os.path.join(folder, os.path.basename(name))
            download(f"{url}/{name}", checksum, path)
            ctr("import", path)
            os.remove(path)
            if sync:
                write_out()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    from ansible.module_utils.basic import AnsibleModule

    options = {
        "url": {"type": "str", "required": True},
        "needed": {"type": "list", "elements": "str", "required": True},
        "skip": {"type": "list", "elements": "str", "default": []},
        "sync": {"type": "bool", "default": False},
    }
    module = AnsibleModule(argument_spec=options, supports_check_mode=True)
    try:
        absent = missing(module.params["needed"])
        if absent and not module.check_mode:
            install(module.params["url"], module.params["skip"], module.params["sync"])
            if still := missing(module.params["needed"]):
                raise Failed(f"The archives have other images. Check kube_image_repo: it must be the registry in the names of the images in the archives. Missing: {', '.join(still)}.")
        module.exit_json(changed=bool(absent), imported_for=absent)
    except Failed as failure:
        module.fail_json(msg=str(failure))


if __name__ == "__main__":
    main()
