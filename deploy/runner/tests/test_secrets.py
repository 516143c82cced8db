# SPDX-License-Identifier: Apache-2.0
"""No secret of a run is in its output, its termination message, the files that it leaves, or a command line."""

import base64
import json
import os
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

from staged_run import LOCAL, TOKEN, StagedRun, ansible_bin

RUNNER = Path(__file__).parent.parent
sys.path.insert(0, str(RUNNER))
import kubeonkube_masking as masking  # noqa: E402

PLAY = """
- name: A play
  hosts: all
  gather_facts: false
  become: false
  vars_files: [vars.yml]
  vars:
    of_play_password: canary-of-play
    referring_password: "{{ referred }}"
    referred: canary-referred
    nested: {credentials: canary-nested, list: [{db_pwd: canary-in-list}]}
  tasks:
"""
PRINT = """
    - name: "Print {item}"
      ansible.builtin.debug: {{msg: "{item} {{{{ {value} }}}}"}}
"""


def key_file(folder):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / "key")], check=True)
    return (folder / "key").read_text()


def files(root, but=("conf", "auth", "kubespray")):
    """The text of all files that a run left, except for its inputs."""
    found = {}
    for path in root.rglob("*"):
        if path.is_file() and path.relative_to(root).parts[0] not in but:
            found[str(path.relative_to(root))] = path.read_bytes().decode("utf-8", "replace")
    return found


class Canaries(unittest.TestCase):
    def assert_clean(self, run, canaries):
        texts = {"its output": run.output.decode("utf-8", "replace"), **files(run.root)}
        self.assertIn("dev/termination-log", texts)
        for canary in canaries:
            for place, text in texts.items():
                self.assertNotIn(canary, text, f"{canary} in {place}")

    def staged(self, secrets=()):
        run = StagedRun(self, {"m1": LOCAL, "m2": LOCAL})
        run.write("conf/secrets.json", json.dumps(list(secrets)))
        return run

    def test_no_canary_is_left_anywhere(self):
        inventory, quoted = "canary-inventory", "can'ary \"quoted\" \\ é"
        run = self.staged([inventory, quoted, "canary-argument", "canary-hook", "two\ncanary line one\ncanary line two\n"])
        key = key_file(run.write("auth/known", "").parent)
        run.write("auth/ssh-privatekey", key)
        run.write("conf/sources/1/vars.yml", "of_file_token: canary-of-file\nadmin_pass: canary-pass\n")
        body = [line for line in key.splitlines() if "PRIVATE KEY" not in line]
        canaries = [
            inventory, "canary-argument", "canary-hook", "canary line one", "canary line two",
            "canary-of-play", "canary-referred", "canary-nested", "canary-in-list", "canary-of-file", "canary-pass",
            "canary-set-fact", "canary-include", "canary-task-var", "canary-module", "canary-generated", "canary-registered",
            "can'ary", "ary \\\"quoted", "can%27ary", "can''ary", "canary-url", "canary-json", "canary-vault",
            base64.b64encode(inventory.encode()).decode(), base64.b64encode(f"admin:{inventory}".encode()).decode()[8:-4],
            base64.b64encode(quoted.encode()).decode(), base64.b64encode(key.encode()).decode()[:40],
            *body,
        ]
        self.assertGreaterEqual(len(canaries), 30)
        values = {
            "of play": "of_play_password", "reference": "referring_password", "nested": "nested", "file": "of_file_token ~ admin_pass",
            "inventory": f"'{inventory}'", "argument": "password", "quoted": "odd", "repr": "[odd] | string", "json": "{'a': odd} | to_json | to_json",
            "shell": "odd | quote", "url": "odd | urlencode", "url login": "'https://me:canary-url@host/'", "base64": f"'{inventory}' | b64encode",
            "basic": f"('admin:' ~ '{inventory}') | b64encode", "odd base64": "odd | b64encode", "key": "lookup('file', key_path)",
            "key body": "lookup('file', key_path).split('\\n')[1:] | join('\\n')", "key lines": "lookup('file', key_path).split('\\n')",
            "key base64": "lookup('file', key_path) | b64encode", "text json": "json_text",
            "lines": "two_lines", "vault": "encrypted",
        }
        run.write("conf/sources/1/vault.txt", "vault-password\n")
        encrypted = self.vault(run, "canary-vault")
        run.write("conf/sources/1/included.yml", "included_secret: canary-include\n")
        tasks = "".join(PRINT.format(item=item, value=value) for item, value in values.items()) + """
    - ansible.builtin.set_fact: {made_password: "canary-{{ 'set-fact' }}"}
    - ansible.builtin.command: echo canary-registered
      register: api_token
    - ansible.builtin.debug: {msg: "registered {{ api_token.stdout }}"}
    - ansible.builtin.debug: {msg: "task {{ task_password }}"}
      vars: {task_password: canary-task-var}
    - ansible.builtin.command: {cmd: "printf 'password=canary-generated\\\\ncan\\\\033[31mary-inventory canary-mod\\\\033[0mule\\\\n'"}
      vars: {x_secret: canary-module}
      register: printed
    - ansible.builtin.debug: {var: printed}
    - name: "Fail with {{ password }} and {{ made_password }}"
      ansible.builtin.fail:
        msg: "{{ password }} {{ made_password }} {{ of_play_password }} {{ odd }} {{ lookup('file', key_path) }}"
"""
        play = PLAY.replace("  vars:\n", f"  vars:\n    key_path: {run.root}/auth/ssh-privatekey\n    odd: {json.dumps(quoted)}\n"
                            "    json_text: '{\"api_token\": \"canary-json\"}'\n"
                            f"    two_lines: \"canary line one\\ncanary line two\"\n    encrypted: !vault |\n{encrypted}\n")
        run.write("conf/sources/1/play.yml", play + tasks)
        arguments = ["-e", "password=canary-argument", "--vault-password-file", str(run.root / "conf/sources/1/vault.txt")]
        run.script("echo $1; set -x; hook_password=canary-hook; echo $hook_password >&2; printf canary-argument", "pre", ["canary-hook"])
        run.write("conf/sources/1/talkative.yml", PLAY + """
    - ansible.builtin.set_fact: {made_password: "canary-{{ 'set-fact' }}"}
    - ansible.builtin.debug: {msg: "made {{ made_password }}"}
    - ansible.builtin.include_vars: included.yml
    - ansible.builtin.debug: {msg: "included {{ included_secret }}"}
""")
        run.add("pre", "playbook", "conf/sources/1/talkative.yml", "talkative.yml", ["-v"])
        run.add("main", "playbook", "conf/sources/1/play.yml", "play.yml", arguments).run()
        self.assertEqual(run.rc, 2, run.text)
        self.assertEqual(len(run.of("task_start")), len(values) + 11, run.text)
        self.assertEqual(run.termination["failures"][0]["hosts"]["hosts"], ["m1", "m2"])
        self.assertIn("••••••", run.termination["failures"][0]["message"])
        self.assert_clean(run, canaries)

    def vault(self, run, secret):
        call = [ansible_bin(self) + "/ansible-vault", "encrypt_string", "--vault-password-file", str(run.root / "conf/sources/1/vault.txt"), secret]
        done = subprocess.run(call, check=True, capture_output=True, text=True, env={**os.environ, "HOME": str(run.root), "LC_ALL": "C.UTF-8"})
        return "\n".join("      " + line.strip() for line in done.stdout.splitlines()[1:] if line.strip())

    def test_no_argument_is_on_a_command_line(self):
        """While playbooks and scripts run, all processes are looked at, again and again."""
        run = self.staged(["canary-argument", "canary-word"])
        seen, ended = {}, threading.Event()

        def look():
            while not ended.is_set():
                for entry in Path("/proc").iterdir():
                    try:
                        seen[entry.name, (entry / "cmdline").read_bytes()] = None
                    except OSError:
                        pass

        looking = threading.Thread(target=look)
        looking.start()
        script = 'echo "$0 got $# words: $1"; bash -c \'echo $# words below\'; [ "${BASH_SOURCE[0]}" = "$0" ] && echo itself; sleep 1\n'
        try:
            run.script(script, "pre", ["it's a canary-word", "", "$(id)\n*"])
            run.playbook(PLAY.replace("vars_files: [vars.yml]", "") + """
    - ansible.builtin.command: sleep 1
    - ansible.builtin.debug: {msg: "{{ length }} {{ password | length }}"}
""", args=["-e", "password=canary-argument length='a b'", "--limit=m1"]).run()
        finally:
            ended.set()
            looking.join()
        self.assertEqual(run.rc, 0, run.text)
        self.assertIn("scripts/0.sh got 3 words: it's a ••••••", run.text)
        self.assertIn("0 words below\nitself\n", run.text)
        self.assertIn('"msg": "a b 15"', run.text)
        self.assertNotIn("m2", run.text)
        lines = [line for _, line in seen]
        self.assertTrue(any(b"ansible-playbook" in line and str(run.root).encode() in line for line in lines))
        self.assertEqual([line for line in lines if b"canary-argument" in line or b"canary-word" in line], [])

    def test_a_python_script_is_found_by_its_first_lines(self):
        import entrypoint
        folder = self.staged().root
        cases = {
            "#!/opt/venv/bin/python3 -sP\n": ["/opt/venv/bin/python3", "-sP"],
            "#!/usr/bin/env python3\n": ["/usr/bin/env", "python3"],
            "#!/bin/sh\n'''exec' \"/a long/bin/python3\" \"$0\" \"$@\"\n' '''\n": ["/a long/bin/python3"],
            "#!/bin/sh\nexec /opt/ansible \"$@\"\n": None,
            "": None,
        }
        for text, words in cases.items():
            (folder / "program").write_text(text)
            self.assertEqual(entrypoint.interpreter(str(folder / "program")), words)

    def test_a_long_line_is_passed_on_without_secrets(self):
        run = self.staged(["canary-inventory"])
        run.script("head -c 3000000 /dev/zero | tr '\\0' 'x'; printf 'canary-inventory'; head -c 3000000 /dev/zero | tr '\\0' 'y'; echo end").run()
        self.assertEqual(run.rc, 0)
        self.assertIn("••••••yyyy", run.text)
        self.assertEqual((run.text.count("x" * 1000), run.text.count("y" * 1000)), (3000, 3000))
        self.assert_clean(run, ["canary-inventory"])

    def test_a_background_process_does_not_hold_up_the_run(self):
        run = self.staged().script("sleep 60 & echo $! started").script("echo second", "post").run()
        self.assertEqual(run.rc, 0)
        self.assertIn("second", run.text)

    def test_a_run_without_its_secrets_does_not_start(self):
        run = self.staged().script("echo ran")
        (run.root / "conf/secrets.json").unlink()
        run.run()
        self.assertEqual(run.rc, 1)
        self.assertIn("could not be prepared", run.termination["message"])
        self.assertNotIn("ran\n", run.text)

    def test_what_a_template_under_a_secret_name_results_in_is_hidden(self):
        """Whatever the template is, and although nothing else has its result. Not if ansible would have to do something for it."""
        run = StagedRun(self, {name: "{ansible_connection: local, of_host: %s-canary}" % name for name in ("m1", "m2")})
        made, effect = run.root / "made", run.root / "effect"
        inputs = {
            "env": "prod", "group": "corp", "values": {"prod": "indexed-canary"}, "entries": {"prod": {"one": "entry-canary"}},
            "phrase": "phrase with canary", "document": '{"x": "document-canary"}', "of_prod": "named-canary", "map": {"k": "combined-canary"},
            "first": "{{ values[env] ~ '-twice' }}", "with_effect": "{{ lookup('pipe', 'echo >> %s') }}" % effect, "q": "canary-of-q",
        }
        secrets = {
            "indexed_password": "values[env]", "entry_password": "entries[env].one", "own_password": "hostvars[inventory_hostname].of_host",
            "other_secret": "hostvars[groups['all'][1]].of_host ~ '-other'", "literal_secret": "(env == 'prod') | ternary('literal-canary', 'x')",
            "joined_password": "[group, 'summer', 'canary'] | join('')", "formatted_password": "'%s-autumn-%s' | format(group, 'canary')",
            "filtered_password": "phrase | regex_replace(' ', '_')", "parsed_password": "(document | from_json).x", "referring_password": "first",
            "some_secrets": "{'a': 1} | combine(map)", "named_password": "lookup('vars', 'of_' + env)", "late_token": "found.stdout ~ '-late'",
            "fact_password": "ansible_facts.system ~ '-canary'", "loop_password": "loop_password", "piped_password": f"lookup('pipe', 'echo >> {effect}; echo no-canary')",
            "made_password": f"lookup('password', '{made}')", "enabled_secret": "env == 'prod'", "passed_on_password": "hostvars['m1'].with_effect",
            "listed_password": "lookup('dict', map, wantlist=True)[0].value", "tried_password": "lookup('file', '/none', errors='ignore') or query('vars', 'of_prod')[0] ~ '-q'",
            "own_name_password": "q ~ '-name'",
        }
        run.write("conf/sources/0/vars.yml", json.dumps({**inputs, **{name: "{{ %s }}" % text for name, text in secrets.items()}}))
        shown = [name for name in secrets if name not in ("loop_password", "piped_password", "made_password", "passed_on_password")]
        run.playbook("""
- hosts: all
  gather_facts: false
  become: false
  vars_files: [vars.yml]
  tasks:
    - ansible.builtin.setup: {gather_subset: ["!all", "!min", "platform"]}
    - ansible.builtin.debug: {msg: "no login with {{ fact_password }}"}
    - ansible.builtin.command: echo registered-canary
      register: found
""" + "".join("    - ansible.builtin.debug: {msg: \"no login with {{ %s }}\"}\n" % name for name in shown)).run()
        self.assertEqual(run.rc, 0, run.text)
        self.assert_clean(run, ["registered-canary-late", "Linux-canary", "indexed-canary", "entry-canary", "m1-canary", "m2-canary", "literal-canary", "corpsummercanary",
                                "corp-autumn-canary", "phrase_with_canary", "document-canary", "combined-canary", "named-canary", "named-canary-q", "canary-of-q-name"])
        self.assertIn("no login with True", run.text)
        self.assertFalse(made.exists() or effect.exists())

    SHOW = "    - ansible.builtin.debug: {msg: \"no login with {{ %s }}\"}\n"
    START = "\n- hosts: all\n  gather_facts: false\n  become: false\n"

    def asked_again(self, templates, plays, canaries, inputs=None, files=None, hosts=None):
        """Runs `plays` with `templates` in the variables of all hosts, none of which may be seen."""
        run = StagedRun(self, hosts or {"m1": LOCAL, "m2": LOCAL})
        run.write("conf/sources/0/group_vars/all.yml", json.dumps({**(inputs or {}), **{name: "{{ %s }}" % text for name, text in templates.items()}}))
        for path, text in (files or {}).items():
            run.write("conf/sources/0/" + path, text)
        run.playbook(plays).run()
        self.assertEqual(run.rc, 0, run.text)
        self.assert_clean(run, canaries)
        self.assertIn("no login with ••••••", run.text)

    def test_a_template_is_asked_again_when_a_task_sets_what_it_names(self):
        """Whatever the template had before, and through other templates."""
        tasks = {
            "ansible.builtin.set_fact: {late: canary-x}": "late | default('none') ~ '-y'", "ansible.builtin.set_fact: {empty: {entry: canary-x}}": "empty.entry ~ '-y'",
            "ansible.builtin.set_fact: {below: {y: canary-x}}": "through ~ '-y'", "{ansible.builtin.set_fact: {silent: canary-x}, no_log: true}": "silent ~ '-y'",
            "{ansible.builtin.command: 'echo canary-x', register: found}": "found.stdout ~ '-y'",
            "{ansible.builtin.command: 'sh -c \"echo canary-x; false\"', register: found, ignore_errors: true}": "found.stdout ~ '-y'",
            "{ansible.builtin.command: 'echo x', register: found, when: 1 > 2}": "('canary-x' if found is skipped else '') ~ '-y'",
            "{ansible.builtin.set_fact: {once: canary-x}, run_once: true}": "once ~ '-y-' ~ inventory_hostname", "ansible.builtin.set_fact: {dynamic: canary-x}": "lookup('vars', 'dyna' + 'mic') ~ '-y'", "ansible.builtin.include_vars: late.yml": "from_file ~ '-y'",
            "ansible.builtin.group_by: {key: prod}": "env ~ '-y'", "ansible.builtin.setup: {gather_subset: ['!all', '!min', platform]}": "'canary-x' if ansible_facts.system else '' ~ '-y'",
            "{block: [{ansible.builtin.command: 'sh -c \"echo canary-x; false\"'}], rescue: [{ansible.builtin.debug: {msg: x}}]}": "ansible_failed_result.stdout ~ '-y'",
        }
        inputs = {"empty": {}, "through": "{{ below.y }}", "env": "dev"}
        files = {"late.yml": "from_file: canary-x\n", "group_vars/prod.yml": "env: canary-x\n"}
        for task, template in tasks.items():
            for strategy in ("linear", "free") if "late: canary" in task else ("linear",):
                with self.subTest(task, strategy=strategy):
                    plays = f"{self.START}  strategy: {strategy}\n  tasks:\n    - {task}\n" + self.SHOW % "x_password"
                    self.asked_again({"x_password": template}, plays, ["canary-x-y"], inputs, files)

    def test_a_template_is_asked_again_when_a_role_or_a_play_has_what_it_names(self):
        files = {
            "roles/has/vars/main.yml": "env: canary-x\n", "roles/has/tasks/main.yml": "- ansible.builtin.debug: {msg: \"no login with {{ x_password }}\"}\n",
            "roles/brings/defaults/main.yml": "of_role_password: \"{{ env ~ '-canary' }}\"\n",
            "roles/brings/tasks/main.yml": "- ansible.builtin.debug: {msg: \"no login with {{ of_role_password }}\"}\n", "new.yml": "new_password: \"{{ env ~ '-canary' }}\"\n",
        }
        first = f"{self.START}  tasks: [{{ansible.builtin.debug: {{msg: x}}}}]\n"
        for plays, canary in [
            (f"{self.START}  tasks: [{{ansible.builtin.include_role: {{name: has}}}}]\n", "canary-x-y"),
            (f"{self.START}  tasks: [{{ansible.builtin.include_role: {{name: brings}}}}]\n", "dev-canary"),
            (f"{first}{self.START}  vars: {{env: canary-x}}\n  tasks:\n" + self.SHOW % "x_password", "canary-x-y"),
            (f"{first}{self.START}  vars: {{new_password: \"{{{{ env ~ '-canary' }}}}\"}}\n  tasks:\n" + self.SHOW % "new_password", "dev-canary"),
            (f"{self.START}  tasks:\n    - ansible.builtin.include_vars: new.yml\n" + self.SHOW % "new_password", "dev-canary"),
        ]:
            with self.subTest(plays):
                self.asked_again({"x_password": "env ~ '-y'"}, plays, [canary], {"env": "dev"}, files)

    def test_a_template_is_asked_again_when_another_host_has_what_it_names(self):
        """Only m1 has the template, and no task sets anything on it."""
        hosts = {"m1": "{ansible_connection: local, x_password: \"{{ hostvars['m2'].made ~ '-y' }}\"}", "m2": LOCAL}
        tasks = "  tasks:\n    - ansible.builtin.set_fact: {made: canary-x}\n      when: inventory_hostname == 'm2'\n"
        self.asked_again({}, f"{self.START}{tasks}{self.SHOW % 'x_password'}      run_once: true\n", ["canary-x-y"], hosts=hosts)

    def test_templates_of_many_hosts_are_asked_once_for_a_change(self):
        """Not once for each host that has changed, although there are more hosts than forks."""
        run = StagedRun(self, {f"m{n}": LOCAL for n in range(20)})
        run.write("conf/sources/0/group_vars/all.yml", json.dumps({"x_password": "{{ (hostvars['m1'].found.stdout | default('none')) ~ '-y' }}"}))
        callback = run.root / "conf/callback/kubeonkube_events.py"
        counted = run.root / "counted"
        callback.write_text(callback.read_text().replace("        self.unread.discard(host)\n", f"        self.unread.discard(host)\n        open({str(counted)!r}, 'a').write('.')\n"))
        run.playbook(f"{self.START}  tasks:\n    - ansible.builtin.command: echo canary\n      register: found\n" + self.SHOW % "x_password").run()
        self.assertEqual(run.rc, 0, run.text)
        self.assert_clean(run, ["canary-y"])
        # At first, when the host starts a task while others have ended it, and before the next task.
        self.assertLessEqual(len(counted.read_text()), 3 * 20)

    def test_only_the_secret_of_a_registered_result_is_one(self):
        run = StagedRun(self, {"m1": LOCAL})
        run.write("conf/sources/0/group_vars/all.yml", json.dumps({"x_password": "{{ late | default('none') ~ '-y' }}"}))
        run.playbook(self.START + """  tasks:
    - ansible.builtin.command: env echo canary-token
      register: join_token
    - ansible.builtin.set_fact: {late: canary}
    - ansible.builtin.debug: {msg: "Echo env: {{ join_token.stdout }} {{ x_password }} start delta echo"}
""").run()
        self.assertEqual(run.rc, 0, run.text)
        self.assertIn("Echo env: •••••• •••••• start delta echo", run.text)

    def test_one_value_that_cannot_be_read_leaves_the_others_hidden(self):
        run = StagedRun(self, {"m1": LOCAL})
        run.write("conf/sources/1/vault.txt", "vault-password\n")
        encrypted = "\n".join(" " * 8 + line for line in self.vault(run, "canary-vault").split())
        (run.root / "conf/sources/1/vault.txt").unlink()
        run.playbook(f"""
- hosts: all
  gather_facts: false
  become: false
  vars:
    values: {{one: read-canary}}
    which: one
    read_password: "{{{{ values[which] ~ '-x' }}}}"
    oauth:
      client_id: me
      secret: !vault |
{encrypted}
    last_password: "{{{{ values[which] ~ '-y' }}}}"
  tasks:
    - ansible.builtin.debug: {{msg: "no login with {{{{ read_password }}}} {{{{ last_password }}}}"}}
""").run()
        self.assertEqual(run.rc, 0, run.text)
        self.assert_clean(run, ["read-canary-x", "read-canary-y"])

    def test_names_of_hosts_and_longer_words_stay_readable(self):
        """Although passwords that only the pod knows are parts of them."""
        run = StagedRun(self, {"node1": LOCAL, "node2": LOCAL})
        run.playbook("""
- hosts: all
  gather_facts: false
  become: false
  vars: {word_password: node, name_password: node1}
  tasks:
    - name: "Kubelet of node2"
      ansible.builtin.debug: {msg: "nodes: {{ word_password }}, {{ name_password }}, node2-x"}
""").run()
        self.assertEqual(run.rc, 0, run.text)
        self.assertIn('"nodes: ••••••, node1, node2-x"', run.text)
        self.assertIn("ok: [node2]", run.text)
        self.assertEqual(run.of("task_start")[0]["name"], "Kubelet of node2")

    def test_the_secrets_of_a_run_are_not_in_its_events(self):
        run = self.staged(["canary-inventory"]).playbook(PLAY.replace("vars_files: [vars.yml]", "") + """
    - name: Publish canary-inventory
      ansible.builtin.set_stats: {data: {kubeonkube_outcome: {found: {a: ["{{ of_play_password }}"], b_token: canary-beside}}}}
""").run()
        self.assertEqual(run.of("outcome")[0]["value"], {"a": ["••••••"], "b_token": "••••••"})
        self.assert_clean(run, ["canary-inventory", "canary-of-play", "canary-beside"])
        self.assertNotIn('{"secrets"', run.text)
        self.assertIn(TOKEN, run.output.decode())


class Masking(unittest.TestCase):
    """The masker alone. server/masking/tests/in_the_pod.rs compares it with the controller's."""

    def setUp(self):
        self.rule = masking.Rule(json.loads((RUNNER / "masking.json").read_text()))

    def secrets(self, variables):
        return masking.secrets_of(self.rule, variables)

    def test_variables_that_contain_themselves_are_read(self):
        variables = {"a_password": "canary-beside", "list": []}
        variables["list"] += [variables, variables["list"], {"b_token": "canary-below"}]
        variables["self"] = variables
        self.assertEqual(sorted(self.secrets(variables)), ["canary-below", "canary-beside"])

    def test_what_is_shared_is_read_where_it_is_less_deep(self):
        shared = {"x": {"y": {"z_password": "canary-shared"}}}
        deep = shared
        for _ in range(masking.DEEPEST - 4):
            deep = {"inner": deep}
        self.assertEqual(self.secrets({"deep": deep, "shared": shared}), ["canary-shared"])
        self.assertEqual(self.secrets({"shared": shared, "deep": deep}), ["canary-shared"])
        self.assertEqual(self.secrets({"deep": {"inner": {"inner": deep}}}), [])

    def test_a_reference_to_a_shared_map_is_found(self):
        shared = {"db": "canary-shared", "x": "visible"}
        self.assertEqual(self.secrets({"base": shared, "real": {"x": shared}, "a_password": "{{ real.x.db }}"}), ["canary-shared"])

    def test_what_is_shared_by_what_is_shared_is_read_within_a_limit(self):
        shared = {"a": "canary-a", "b": "c"}
        for _ in range(50):
            shared = {"a": shared, "b": shared}
        self.assertIn("canary-a", self.secrets({"x": shared, "p_password": "{{ " + ".".join("a" * 20) + " }}"}))

    def test_the_value_of_a_reference_is_found_among_many(self):
        variables = {f"p{n}_password": f"{{{{ map.a{n} }}}}" for n in range(2000)}
        variables["map"] = {f"a{n}": f"canary-{n}" for n in range(2000)}
        self.assertEqual(len(self.secrets(variables)), 2000)

    def test_a_value_is_added_once(self):
        masker = masking.Masker(self.rule)
        self.assertEqual(masker.add(["canary-1", "canary-1", "canary-2"]), ["canary-1", "canary-2"])
        left, forms = masker.budget.left, dict(masker.forms)
        self.assertEqual(masker.add(["canary-2", "canary-1"]), [])
        self.assertEqual((masker.budget.left, masker.forms), (left, forms))
        masker.add(["canary-1-longer", "é!1", "\U0001f511"])
        self.assertEqual(masker.line("canary-1-longer canary-2, xé!1 \U0001f511é"), "•••••• ••••••, x•••••• ••••••é")

    def test_the_longest_form_is_hidden(self):
        masker = masking.Masker(self.rule)
        masker.add(["can1", "can1-a", "can1-ab", "can1-abcd", "can1-b", "can1-ac-x", "can2-b", "can2-c"])
        for said, rest in (("can1-abcx", "cx"), ("can1-abcd", ""), ("can1-acx", "cx"), ("can1-x", "-x"), ("can1", ""), ("can2-bx can2-a", "x can2-a")):
            self.assertEqual(masker.line(said), masking.MASK + rest)

    def test_the_budget_limits_the_bytes_of_forms(self):
        masker = masking.Masker(self.rule)
        masker.add([f"x{n}" + '"\\<é' * 60 for n in range(400)])
        masker.add(['ca"nary-1\nz canary-2\n'])
        self.assertLessEqual(sum(masking.size(form) for same in masker.forms.values() for form in same), 2 * self.rule.budget)
        for said in ('ca"nary-1', 'ca\\"nary-1', "z canary-2", "z+canary-2"):
            self.assertEqual(masker.line(said), masking.MASK)

    def test_long_lines_that_nearly_match_a_pattern_are_read_once(self):
        masker = masking.Masker(self.rule)
        masker.inside_key = True
        started = time.monotonic()
        for start in ("+" * 200_000, " " * 200_000, '"' * 200_000, "eyJ" + "a-eyJ" * 40_000, "eyJaaaaaaaaa.eyJaaaaaaa." * 8_000):
            masker.inside_key = True
            self.assertIn("!", masker.line(start + "!"))
        # With the square of the length, each would take minutes.
        self.assertLess(time.monotonic() - started, 60)

    def test_tokens_are_masked_as_the_controller_does(self):
        token = "eyJhbGciOiJI.eyJzdWIiOiIx.abc-_1"
        masker = masking.Masker(self.rule)
        for said, shown in (
            (f"a {token} b", "a •••••• b"), (f"x-{token}, {token}", "x-••••••, ••••••"), (f"eyJ.{token}", "eyJ.••••••"),
            (f"eyJabc-{token}", "••••••"), (f"x{token}", f"x{token}"), ("eyJhbGciOiJI", "eyJhbGciOiJI"),
        ):
            self.assertEqual(masker.line(said), shown)

    def test_names_that_contain_a_secret_are_found(self):
        names = ["web-1", "db", "canary-host.example.org"]
        self.assertEqual(masking.names_with(self.rule, ["two\n web- \n", "canary-host", "db", "é"], names), ["web-1", "canary-host.example.org"])
        self.assertEqual(masking.names_with(self.rule, ["canary"], []), [])


if __name__ == "__main__":
    unittest.main()
