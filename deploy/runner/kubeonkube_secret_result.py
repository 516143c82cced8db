# SPDX-License-Identifier: Apache-2.0
"""Hands files that the steps of a run must not print, such as a kubeconfig, to the controller (docs/adr/0015).

The steps write them to the folder in KUBEONKUBE_SECRET_RESULT. At the end of the run they are encrypted with the key of this
operation, and the ciphertext is an event in the log. Only runs whose action declares a secret result have this file and a key.
"""

import base64
import json
import os
import re
import shutil
import stat
import subprocess
import sys

# A container's log stores longer lines in parts of 16 KiB. In base64 this is 16,000 characters, and the rest of the line needs 150.
LIMIT = 12_000 - 12 - 16
SECONDS = 30


class SecretResult:
    def __init__(self, key_file, folder):
        with open(key_file, encoding="utf-8") as file:
            self.key = json.load(file)
        self.folder = folder
        os.makedirs(folder, mode=0o700, exist_ok=True)

    def take(self, python):
        """The fields of the event: `data`, or `error` as a sentence, or neither if the steps wrote nothing. Removes the folder.
        `python` is the command of ansible's own Python, because ansible-core always brings the package cryptography."""
        try:
            files = self.files()
            return {"data": self.encrypted(files, python)} if files else {}
        except Refused as refusal:
            return {"error": str(refusal)}
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            return {"error": f"The secret result could not be read: {type(error).__name__}."}
        finally:
            self.remove()

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def files(self):
        names = sorted(os.listdir(self.folder)) if os.path.isdir(self.folder) else []
        wrong = [name for name in names if not re.fullmatch(r"[-._a-zA-Z0-9]{1,253}", name)]
        if wrong:
            raise Refused("A file of the secret result has a name that can't be the key of a Secret.")
        files = {name: self.text(name) for name in names}
        size = len(json.dumps(files, ensure_ascii=False).encode())
        if size > LIMIT:
            raise Refused(f"The secret result has {size} bytes; at most {LIMIT} are possible.")
        return files

    def text(self, name):
        with open(os.open(self.folder + "/" + name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Refused(f"{name} in the folder of the secret result is not a file.")
            data = file.read(LIMIT + 1)
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            if len(data) > LIMIT:
                return data.decode("utf-8", "replace")  # too long in any case
            raise Refused(f"{name} in the folder of the secret result is not text.") from None

    def encrypted(self, files, python):
        document = json.dumps({**self.key, "files": files})
        done = subprocess.run([*python, os.path.abspath(__file__)], input=document.encode(), capture_output=True, timeout=SECONDS)
        if done.returncode != 0:
            missing = b"ModuleNotFoundError" in done.stderr
            why = "ansible's Python has no package cryptography, which encrypts it" if missing else "it could not be encrypted"
            raise Refused(f"The secret result is lost: {why}.")
        return done.stdout.decode("ascii").strip()


class Refused(Exception):
    """There is no result. The text gives people the reason."""


def encrypt(document):
    """The files as JSON, encrypted with AES-256-GCM: a nonce of 12 bytes and the ciphertext. The operation's uid is authenticated."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    text = json.dumps(document["files"], ensure_ascii=False).encode()
    nonce = os.urandom(12)
    return base64.b64encode(nonce + AESGCM(base64.b64decode(document["key"])).encrypt(nonce, text, document["uid"].encode()))


if __name__ == "__main__":
    # In ansible's Python.
    sys.stdout.buffer.write(encrypt(json.load(sys.stdin)))
