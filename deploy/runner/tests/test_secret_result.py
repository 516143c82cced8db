# SPDX-License-Identifier: Apache-2.0
"""The secret result of a run: files that only the controller can read."""

import base64
import json
import subprocess
import unittest

from staged_run import HERE, LOCAL, TOKEN, StagedRun, ansible_bin

KEY = {"uid": "0c7e-uid", "key": base64.b64encode(bytes(range(32))).decode()}
CANARY = "canary-of-the-kubeconfig"
PLAY = """
- name: Fetch
  hosts: localhost
  gather_facts: false
  become: false
  tasks:
    - name: Write the kubeconfig
      ansible.builtin.copy:
        dest: "{{ lookup('env', 'KUBEONKUBE_SECRET_RESULT') }}/kubeconfig"
        content: "token: canary-{{ 'of-the-kubeconfig' }}\\n"
        mode: "0600"
      delegate_to: localhost
      no_log: true
"""
DECRYPT = """
import base64, json, sys
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
said = json.load(sys.stdin)
data = base64.b64decode(said["data"])
print(AESGCM(base64.b64decode(said["key"])).decrypt(data[:12], data[12:], said["uid"].encode()).decode())
"""


class SecretResults(unittest.TestCase):
    def staged(self, bin=None):
        run = StagedRun(self, {"localhost": LOCAL}, bin=bin)
        run.write("conf/secret-result.json", json.dumps(KEY))
        run.write("conf/kubeonkube_secret_result.py", (HERE / "kubeonkube_secret_result.py").read_text())
        return run

    def event(self, run):
        found = run.of("secret_result")
        self.assertEqual(len(found), 1, run.text)
        return found[0]

    def opened(self, event, **key):
        call = [ansible_bin(self) + "/python3", "-c", DECRYPT]
        said = json.dumps({**KEY, **key, "data": event["data"]})
        return subprocess.run(call, input=said, capture_output=True, text=True)

    def assert_nothing_left(self, run):
        for path in run.root.rglob("*"):
            if path.is_file():
                self.assertNotIn(CANARY.encode(), path.read_bytes(), str(path))
        self.assertNotIn(CANARY.encode(), run.output)
        self.assertFalse((run.root / "work-kubeonkube/secret-result").exists())

    def test_the_kubeconfig_is_only_in_the_ciphertext(self):
        run = self.staged().playbook(PLAY).run()
        self.assertEqual(run.rc, 0, run.text)
        opened = self.opened(self.event(run))
        self.assertEqual(json.loads(opened.stdout), {"kubeconfig": f"token: {CANARY}\n"}, opened.stderr)
        self.assertNotEqual(self.opened(self.event(run), uid="another").returncode, 0, "bound to the operation")
        self.assert_nothing_left(run)

    def test_the_folder_is_private_and_empty_at_the_start(self):
        run = self.staged().script('stat -c "%a" "$KUBEONKUBE_SECRET_RESULT"; ls -A "$KUBEONKUBE_SECRET_RESULT" | wc -l').run()
        self.assertIn("700\n0\n", run.text)
        self.assertEqual([key for key in self.event(run) if key not in ("n", "at", "type")], [], "nothing was written")

    def test_a_result_is_handed_over_even_if_a_later_step_fails(self):
        run = self.staged().playbook(PLAY).script("exit 3", "post").run()
        self.assertEqual(run.rc, 3)
        self.assertEqual(self.opened(self.event(run)).returncode, 0)
        self.assert_nothing_left(run)

    def test_what_does_not_fit_into_a_line_of_the_log_is_refused(self):
        for count, fits in ((11900, True), (12100, False)):
            run = self.staged().script(f'head -c {count} /dev/zero | tr "\\0" x > "$KUBEONKUBE_SECRET_RESULT/kubeconfig"').run()
            self.assertEqual(run.rc, 0, "the verdict is that of the steps")
            line = next(line for line in run.output.split(b"\n") if b"secret_result" in line and TOKEN.encode() in line)
            self.assertLess(len(line), 16 * 1024)
            self.assertEqual("data" in self.event(run), fits, self.event(run))
        self.assertIn("bytes; at most 11972 are possible.", self.event(run)["error"])
        self.assertIn(self.event(run)["error"], run.text, "the log says so, too")

    def test_odd_files_are_refused(self):
        for script in (
            'ln -s /etc/passwd "$KUBEONKUBE_SECRET_RESULT/kubeconfig"',
            'mkdir "$KUBEONKUBE_SECRET_RESULT/kubeconfig"',
            'mkfifo "$KUBEONKUBE_SECRET_RESULT/kubeconfig"',
            'echo x > "$KUBEONKUBE_SECRET_RESULT/a b"',
            'printf "\\377" > "$KUBEONKUBE_SECRET_RESULT/kubeconfig"',
        ):
            run = self.staged().script(script).run()
            self.assertIn("error", self.event(run), script)
            self.assertEqual(run.rc, 0, script)

    def test_without_cryptography_the_run_says_that_the_result_is_lost(self):
        run = self.staged()
        # A module of this name in the folder of the script comes before the installed package.
        run.write("conf/cryptography.py", "raise ModuleNotFoundError('as if it were missing')\n")
        run.script(f'echo {CANARY} > "$KUBEONKUBE_SECRET_RESULT/kubeconfig"').run()
        self.assertEqual(run.rc, 0, "the verdict is that of the steps")
        self.assertIn("has no package cryptography", self.event(run)["error"])
        self.assertFalse((run.root / "work-kubeonkube/secret-result").exists())

    def test_other_runs_have_no_such_folder(self):
        run = StagedRun(self, {"localhost": LOCAL}).script('echo "folder: ${KUBEONKUBE_SECRET_RESULT-none}"').run()
        self.assertIn("folder: none", run.text)
        self.assertEqual(run.of("secret_result"), [])


if __name__ == "__main__":
    unittest.main()
