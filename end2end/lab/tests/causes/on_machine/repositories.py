# SPDX-License-Identifier: Apache-2.0
"""Makes package sources on a machine: one that works, and others that each lack something."""

import hashlib
import shutil
import subprocess
from pathlib import Path

HERE = Path("/root/causes")
POSTINST_THAT_KILLS = "#!/bin/sh\nkill -9 $PPID\n"


def package(name, version, depends="", postinst=""):
    folder = HERE / "packages" / f"{name}-{version}"
    (folder / "DEBIAN").mkdir(parents=True)
    control = f"Package: {name}\nVersion: {version}\nArchitecture: all\nMaintainer: nobody <nobody@lab.test>\nDescription: for tests\n"
    (folder / "DEBIAN/control").write_text(control + (f"Depends: {depends}\n" if depends else ""))
    if postinst:
        (folder / "DEBIAN/postinst").write_text(postinst)
        (folder / "DEBIAN/postinst").chmod(0o755)
    (folder / "usr/share").mkdir(parents=True)
    subprocess.run(["dpkg-deb", "--build", "--root-owner-group", folder, HERE / "www/good"], check=True, stdout=subprocess.DEVNULL)


def index(folder):
    """The paragraphs of the packages in a folder."""
    paragraphs = []
    for file in sorted(folder.glob("*.deb")):
        control = subprocess.run(["dpkg-deb", "--field", file], check=True, stdout=subprocess.PIPE, text=True).stdout
        data = file.read_bytes()
        paragraphs.append(f"{control}Filename: ./{file.name}\nSize: {len(data)}\nSHA256: {hashlib.sha256(data).hexdigest()}\n")
    return "\n".join(paragraphs)


def release(packages, more=""):
    return f"Origin: lab\nSuite: lab\n{more}SHA256:\n {hashlib.sha256(packages).hexdigest()} {len(packages)} Packages\n"


def source(name, packages, text):
    folder = HERE / "www" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "Packages").write_bytes(packages)
    (folder / "Release").write_text(text)


def main():
    good = HERE / "www/good"
    good.mkdir(parents=True)
    for arguments in (("lab-tool", "1.0"), ("lab-tool", "2.0"), ("lab-broken", "1.0", "lab-absent"),
                      ("lab-gone", "1.0"), ("lab-large", "1.0"), ("lab-killed", "1.0", "", POSTINST_THAT_KILLS)):
        package(*arguments)
    packages = index(good).encode()
    # A package whose file has been changed since, one that is gone from the server, and one that fits no disk.
    (good / "lab-tool_2.0_all.deb").write_bytes((good / "lab-tool_2.0_all.deb").read_bytes()[:-1] + b"X")
    (good / "lab-gone_1.0_all.deb").unlink()
    lines = [f"Size: {10 ** 15}" if "lab-large" in part and line.startswith("Size: ") else line
             for part in packages.decode().split("\n\n") for line in [*part.split("\n"), ""]]
    packages = "\n".join(lines).encode()
    source("good", packages, release(packages))
    source("unsigned", packages, release(packages))
    source("changed", packages, release(packages.replace(b"nobody", b"anyone")))
    source("future", packages, release(packages, "Date: Fri, 01 Jan 2100 00:00:00 UTC\n"))
    for name in ("unknown-key", "expired-key"):
        source(name, b"", release(b""))
        shutil.copy(HERE / f"{name}.InRelease", HERE / "www" / name / "InRelease")


if __name__ == "__main__":
    main()
