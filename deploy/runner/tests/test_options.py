# SPDX-License-Identifier: Apache-2.0
"""Examples of arguments and limits, read by ansible itself. The tests of console and controller use the same files.

`python3 test_options.py` writes what ansible reads into the files, and keeps arguments and limits.
"""

import json
import subprocess
import unittest
from pathlib import Path

from staged_run import ansible_bin

SERVER = Path(__file__).resolve().parents[3] / "server"
EXAMPLES = SERVER / "operation/tests/options.json"
LIMITS = SERVER / "console/tests/limits.json"
# Prints what the parser reads from each list of arguments that follow a playbook, and all of its options.
READER = """
import contextlib, io, json, sys
from ansible.cli.playbook import PlaybookCLI
cli = PlaybookCLI(["ansible-playbook", "p.yml"])
cli.init_parser()

def read(arguments):
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            found = cli.parser.parse_args(["-i", "hosts", "p.yml", *arguments])
    except SystemExit as end:
        return None if end.code else {"prints_only": True}
    all = {
        "limit": found.subset or None,
        "check": found.check,
        "prints_only": found.listhosts or found.listtasks or found.listtags or found.syntax,
        "prompts": found.ask_pass or found.become_ask_pass or found.ask_vault_pass or found.step,
        "variables": [str(value) for value in found.extra_vars],
        "inventories": [str(value).rpartition("/")[2] for value in found.inventory[1:]],
        "chooses_tasks": bool(found.tags and found.tags != ["all"] or found.skip_tags or found.start_at_task),
        "playbooks": found.args[1:],
    }
    return {name: value for name, value in all.items() if value}

options = [option for action in cli.parser._actions for option in action.option_strings]
json.dump([[read(arguments) for arguments in json.load(sys.stdin)], options], sys.stdout)
"""

# Prints the hosts that each limit selects, or null if ansible refuses it.
SELECTOR = """
import json, sys, tempfile
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
given = json.load(sys.stdin)
file = tempfile.NamedTemporaryFile("w", suffix=".yml")
file.write(given["inventory"])
file.flush()
inventory = InventoryManager(DataLoader(), [file.name])
order = [host.name for host in inventory.get_hosts("all")]

def select(limit):
    try:
        inventory.subset(limit)
        return sorted((host.name for host in inventory.get_hosts("all")), key=order.index)
    except Exception:
        return None

json.dump([select(limit) for limit, _ in given["limits"]], sys.stdout)
"""


def ask_ansible(test, program, question):
    python = Path(ansible_bin(test), "python3")
    done = subprocess.run([python, "-c", program], input=json.dumps(question), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


class Options(unittest.TestCase):
    def test_the_examples_are_what_the_real_parser_reads(self):
        examples = json.loads(EXAMPLES.read_text(encoding="utf-8"))
        read, _ = ask_ansible(self, READER, [arguments for arguments, _ in examples])
        self.assertEqual([[arguments, result] for (arguments, _), result in zip(examples, read)], examples)

    def test_each_option_is_in_an_example(self):
        arguments = [argument.split("=")[0] for arguments, _ in json.loads(EXAMPLES.read_text(encoding="utf-8")) for argument in arguments]
        _, options = ask_ansible(self, READER, [])
        self.assertEqual([option for option in options if option not in arguments], [])

    def test_the_limits_select_what_ansible_selects(self):
        given = json.loads(LIMITS.read_text(encoding="utf-8"))
        selected = ask_ansible(self, SELECTOR, given)
        self.assertEqual([[limit, hosts] for (limit, _), hosts in zip(given["limits"], selected)], given["limits"])


if __name__ == "__main__":
    kept = [arguments for arguments, _ in json.loads(EXAMPLES.read_text(encoding="utf-8"))]
    results, _ = ask_ansible(unittest.TestCase(), READER, kept)
    lines = (json.dumps(example, ensure_ascii=False) for example in zip(kept, results))
    EXAMPLES.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    given = json.loads(LIMITS.read_text(encoding="utf-8"))
    selected = ask_ansible(unittest.TestCase(), SELECTOR, given)
    lines = (json.dumps([limit, hosts], ensure_ascii=False) for (limit, _), hosts in zip(given["limits"], selected))
    LIMITS.write_text('{"inventory": ' + json.dumps(given["inventory"]) + ', "limits": [\n' + ",\n".join(lines) + "\n]}\n", encoding="utf-8")
