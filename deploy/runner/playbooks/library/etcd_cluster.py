# SPDX-License-Identifier: Apache-2.0
"""Talks to etcd with JSON over HTTPS, so that no etcdctl is needed. Runs on a member. `do` is one of:

| do | returns |
|---|---|
| `status` | `members`: `name`, `id`, `address`, `healthy`, `leader`, `learner`, `version`, `db_bytes`, `alarms`, `message`; changes nothing |
| `snapshot` | `file`, `sha256`, `bytes`, `removed`: saves `folder`/etcd-TIME.db and its .sha256, checks it, and keeps the newest `keep` |
| `verify` | `sha256`, `bytes` of the snapshot `file`; fails if it is damaged, or of a cluster with another certificate authority than `authority` |
| `add` | `initial`: the value of --initial-cluster for the member `name` at `peer`, which is added if it is missing |
| `remove` | removes the member `name`, if there is one |

The API is https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/.
"""

import base64
import hashlib
import json
import mmap
import os
import re
import ssl
import time
import urllib.error
import urllib.request

PKI = "/etc/kubernetes/pki/etcd"
LOCAL = "https://127.0.0.1:2379"
SECONDS = 10
# A snapshot ends with the SHA-256 of everything before it.
DIGEST = 32
# Other files in the folder are kept, and not counted.
SNAPSHOT = re.compile(r"etcd-\d{8}T\d{6}Z\.db")


class Failed(Exception):
    """A sentence for people."""


def post(server, path, body=None):
    """The open answer of a server of etcd."""
    try:
        context = ssl.create_default_context(cafile=PKI + "/ca.crt")
        context.load_cert_chain(PKI + "/healthcheck-client.crt", PKI + "/healthcheck-client.key")
        request = urllib.request.Request(f"{server}/v3/{path}", data=json.dumps(body or {}).encode())
        return urllib.request.urlopen(request, timeout=SECONDS, context=context)
    except urllib.error.HTTPError as error:
        raise Failed(f"etcd at {server} refuses {path}: {error.read().decode('utf-8', 'replace').strip()}") from error
    except (OSError, ValueError) as error:
        raise Failed(f"etcd at {server} doesn't answer: {getattr(error, 'reason', error)}") from error


def ask(server, path, body=None):
    with post(server, path, body) as answer:
        return json.load(answer)


def member(found, alarms):
    """One row of `members`."""
    address = (found.get("clientURLs") or [""])[0]
    row = {"name": found.get("name", ""), "id": found["ID"], "address": address, "learner": found.get("isLearner", False), "healthy": False,
           "leader": False, "version": "", "db_bytes": 0, "alarms": alarms.get(found["ID"], []), "message": ""}
    if not address:
        return {**row, "message": "It has never started."}
    try:
        said = ask(address, "maintenance/status")
    except Failed as failure:
        return {**row, "message": str(failure)}
    errors = said.get("errors", [])
    return {**row, "healthy": not errors and not row["alarms"] and said.get("leader", "0") != "0", "leader": said.get("leader") == found["ID"],
            "version": said.get("version", ""), "db_bytes": int(said.get("dbSize", 0)), "message": "; ".join(errors)}


def members():
    alarms = {}
    for alarm in ask(LOCAL, "maintenance/alarm", {"action": "GET"}).get("alarms", []):
        alarms.setdefault(alarm.get("memberID", ""), []).append(alarm.get("alarm", ""))
    found = sorted(ask(LOCAL, "cluster/member/list")["members"], key=lambda one: one.get("name", ""))
    return [member(one, alarms) for one in found]


def verify(file):
    """The SHA-256 and size of a snapshot. Fails if it isn't what etcd sent, or not what was saved."""
    try:
        size = os.path.getsize(file)
        whole, content = hashlib.sha256(), hashlib.sha256()
        with open(file, "rb") as opened:
            left = size - DIGEST
            while left > 0:
                block = opened.read(min(1 << 20, left))
                if not block:
                    break
                left -= len(block)
                whole.update(block)
                content.update(block)
            digest = opened.read()
            whole.update(digest)
    except OSError as error:
        raise Failed(f"The snapshot {file} can't be read: {error.strerror}.") from error
    if size <= DIGEST or digest != content.digest():
        raise Failed(f"{file} is no complete snapshot of etcd: its content doesn't have the checksum at its end. Use another one.")
    try:
        with open(file + ".sha256", encoding="ascii", errors="replace") as opened:
            recorded = opened.read().split()[0]
    except (OSError, IndexError):
        recorded = whole.hexdigest()
    if recorded != whole.hexdigest():
        raise Failed(f"{file} has another checksum than {file}.sha256 says. It was changed since it was saved: use another one.")
    return {"file": file, "sha256": whole.hexdigest(), "bytes": size}


def check_authority(file, authority):
    """Fails if the snapshot is of a cluster with another certificate authority. Kubernetes keeps the authority's certificate in each namespace, in
    ConfigMap kube-root-ca.crt, and etcd keeps a value in one piece."""
    try:
        with open(authority, "rb") as opened:
            certificate = opened.read().strip()
        with open(file, "rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as content:
            is_ours = content.find(certificate) >= 0
    except OSError as error:
        raise Failed(f"{error.filename} can't be read: {error.strerror}.") from error
    if not is_ours:
        raise Failed(f"{file} is a snapshot of another cluster: it doesn't contain the certificate of this cluster's authority, {authority}. "
                     "Use a snapshot of this cluster. Nothing was changed.")


def write_synced(path, blocks):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        for block in blocks:
            file.write(block)
        file.flush()
        os.fsync(file.fileno())


def received(answer):
    for line in answer:
        said = json.loads(line)
        if "error" in said:
            raise Failed(f"etcd stopped sending the snapshot: {said['error'].get('message', said['error'])}")
        yield base64.b64decode(said["result"].get("blob", ""))


def snapshots(folder):
    """The snapshots in a folder, the oldest first."""
    return sorted(name for name in os.listdir(folder) if SNAPSHOT.fullmatch(name))


def snapshot(folder, keep):
    file = os.path.join(folder, time.strftime("etcd-%Y%m%dT%H%M%SZ.db", time.gmtime()))
    part = file + ".part"
    try:
        with post(LOCAL, "maintenance/snapshot") as answer:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            write_synced(part, received(answer))
        saved = verify(part)
        write_synced(file + ".sha256", [f"{saved['sha256']}  {os.path.basename(file)}\n".encode()])
        os.rename(part, file)
    except OSError as error:
        raise Failed(f"The snapshot can't be written into {folder}: {error.strerror or error}.") from error
    finally:
        if os.path.exists(part):
            os.remove(part)
    removed = snapshots(folder)[:-keep]
    for name in removed:
        for path in (name, name + ".sha256"):
            if os.path.exists(os.path.join(folder, path)):
                os.remove(os.path.join(folder, path))
    return {**saved, "file": file, "removed": removed}


def remove(name):
    """Whether there was such a member."""
    found = [one["ID"] for one in ask(LOCAL, "cluster/member/list")["members"] if one.get("name") == name]
    for identifier in found:
        ask(LOCAL, "cluster/member/remove", {"ID": identifier})
    return bool(found)


def add(name, peer):
    listed = ask(LOCAL, "cluster/member/list")["members"]
    known = any(peer in one.get("peerURLs", []) for one in listed)
    if not known:
        listed = ask(LOCAL, "cluster/member/add", {"peerURLs": [peer]})["members"]
    initial = ",".join(f"{one.get('name') or name}={url}" for one in listed for url in one.get("peerURLs", []))
    return {"changed": not known, "initial": initial}


def main():
    from ansible.module_utils.basic import AnsibleModule

    options = {"do": {"type": "str", "required": True, "choices": ["status", "snapshot", "verify", "add", "remove"]}, "folder": {"type": "path"},
               "keep": {"type": "int", "default": 5}, "file": {"type": "path"}, "authority": {"type": "path"}, "name": {"type": "str"}, "peer": {"type": "str"}}
    module = AnsibleModule(argument_spec=options, supports_check_mode=True)
    given = module.params
    try:
        if given["do"] == "status":
            module.exit_json(changed=False, members=members())
        elif given["do"] == "verify":
            found = verify(given["file"])
            if given["authority"]:
                check_authority(given["file"], given["authority"])
            module.exit_json(changed=False, **found)
        elif module.check_mode:
            module.exit_json(changed=True)
        elif given["do"] == "snapshot":
            module.exit_json(changed=True, **snapshot(given["folder"], max(1, given["keep"])))
        elif given["do"] == "add":
            module.exit_json(**add(given["name"], given["peer"]))
        module.exit_json(changed=remove(given["name"]))
    except Failed as failure:
        module.fail_json(msg=str(failure))


if __name__ == "__main__":
    main()
