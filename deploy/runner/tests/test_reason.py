# SPDX-License-Identifier: Apache-2.0
"""What a run says that ansible ended with an error of its own, and not with the failure of a task."""

import importlib.util
import os
import unittest
from unittest import mock

from staged_run import HERE, LOCAL, TOKEN, StagedRun

PLAY = "- name: A play\n  hosts: all\n  gather_facts: false\n"
TASK = PLAY + "  tasks:\n    - ansible.builtin.command: 'true'\n"
ASKING = PLAY + "  vars_prompt:\n  - {name: who}\n  tasks:\n    - ansible.builtin.debug: {var: who}\n"
BEFORE = "before any task ran"
# A playbook, its arguments, and the beginning and the end of the message.
CASES = {
    "a role is missing": (PLAY + "  roles: [nowhere]\n", [], "play.yml, line 4: the role 'nowhere' was not found (", BEFORE),
    "an undefined variable": ("- hosts: '{{ nowhere }}'\n  tasks: []\n", [], "play.yml, line 1: ", BEFORE),
    "a module is missing": (PLAY + "  tasks:\n    - name: Y\n      no_such_module: {}\n", [], "play.yml, line 5: couldn't resolve module", BEFORE),
    "an open brace": (PLAY + "  tasks:\n    - debug: {msg: hello\n", [], "play.yml, line 6: did not find expected ',' or '}' (", BEFORE),
    "wrong indentation": (PLAY + "  tasks:\n  - name: Y\n     debug: {msg: a}\n", [], "play.yml, line 6: mapping values are not allowed in this", BEFORE),
    "a playbook is missing": ("- import_playbook: nowhere.yml\n", [], "Could not find or access 'nowhere.yml' (", BEFORE),
    "an unknown keyword": (PLAY + "  no_such_keyword: 1\n  tasks: []\n", [], "play.yml, line 1: 'no_such_keyword' is not", BEFORE),
    "an empty playbook": ("", [], "Empty playbook, nothing to do: play.yml (", BEFORE),
    "an unknown option": (TASK, ["--no-such-option"], "unrecognized arguments: --no-such-option (", BEFORE),
    "an option without value": (TASK, ["--forks"], "argument -f/--forks: expected one argument (", BEFORE),
    "variables are missing": (TASK, ["-e", "@nowhere.yml"], "Could not find or access 'nowhere.yml' (", BEFORE),
    "variables are broken": (TASK, ["-e", "{a: b"], "did not find expected ',' or '}' (", BEFORE),
    "a question without default": (ASKING, [], "The playbook asks for the variable 'who' (vars_prompt), and a run can't ask. Set", BEFORE),
    "an encrypted answer": (ASKING.replace("who", "who, encrypt: sha512_crypt"), [], "The playbook asks for the variable 'who' (", BEFORE),
    "a batch without a number": (PLAY + "  serial: abc\n  tasks: [debug: ]\n", [], "Unexpected Exception, this is probably a bug: invalid literal for", BEFORE),
    "a task that is missing": (TASK, ["--start-at-task", "nothing"],
                               "No matching task \"nothing\" found. Note: --start-at-task can only follow static includes (", "ran no task"),
    "the second play": (TASK + "- hosts: '{{ nowhere }}'\n  tasks: []\n", [], "play.yml, line 6: ", "after 1 task"),
    "a handler is missing": (TASK + "      notify: nobody\n", [], "The requested handler 'nobody' was not found", "after 1 task"),
}

# An input of the run, its text, and what the message begins with. Its folder is so long that ansible wraps it.
INPUTS = {
    "an open bracket in the inventory": ("hosts.yml", "all: [oops", "the inventory, line 2: "),
    "a number as a host": ("hosts.yml", "all:\n  hosts:\n    1001: {}\n", "Host pattern 1001 must be a string. Enclose "),
    "a list as inventory": ("hosts.yml", "- m1\n", "YAML inventory has invalid structure, it should be a dictionary, "),
    "an open bracket in the variables": ("group_vars.yml", "a: [1\nb: 2\n", "the variables, line 2: "),
    "a list as variables": ("group_vars.yml", "- a\n", "Invalid extra vars data supplied. the variables could not be made "),
}
# What ansible writes and what the message says, in a pod.
IN_A_POD = {
    "'/conf/sources/0/tasks/a.yml' and /kubespray/roles/b.yml": "'tasks/a.yml' and roles/b.yml",
    "'@/conf/group_vars.yml' or /conf/hosts.yml:3": "the variables or the inventory:3",
    "/auth/ssh-privatekey, /work-kubeonkube/tmp/x/y": "ssh-privatekey, y",
    "https://example.test/kubespray/docs and /etc/conf/hosts.yml": "https://example.test/kubespray/docs and /etc/conf/hosts.yml",
}


def in_a_pod():
    """The entrypoint as a module, with the paths that it has in a pod."""
    spec = importlib.util.spec_from_file_location("entrypoint_in_a_pod", HERE / "entrypoint.py")
    module = importlib.util.module_from_spec(spec)
    with mock.patch.dict(os.environ, {"KUBEONKUBE_ROOT": ""}):
        spec.loader.exec_module(module)
    return module


class Reasons(unittest.TestCase):
    def run_program(self, text):
        """The message of a run in which this script is ansible-playbook."""
        run = StagedRun(self, {"m1": LOCAL}).playbook(TASK)
        program = run.write("bin/ansible-playbook", "#!/bin/sh\n" + text)
        program.chmod(0o755)
        run.bin = program.parent
        return run.run().termination["message"]

    def test_the_message_quotes_ansible_with_file_and_line(self):
        for name, (book, arguments, start, end) in CASES.items():
            with self.subTest(name):
                run = StagedRun(self, {"m1": LOCAL}).playbook(book, args=arguments).run()
                message = run.termination["message"]
                self.assertTrue(message.startswith(start), message)
                self.assertTrue(message.endswith(f" {end})."), message)
                self.assertNotIn(str(run.root), message)

    def test_a_question_with_a_default_or_an_answer_stops_nothing(self):
        for book, arguments in ((ASKING.replace("who}", "who, default: ''}", 1), []), (ASKING, ["-e", "who=me"])):
            self.assertEqual(StagedRun(self, {"m1": LOCAL}).playbook(book, args=arguments).run().rc, 0)

    def test_an_error_has_no_secrets_and_no_colours(self):
        run = StagedRun(self, {"m1": LOCAL}).playbook(PLAY + "  \"hunter22\\e[31mred\\e[0m\": 1\n  tasks: []\n")
        run.write("conf/secrets.json", '["hunter22"]')
        message = run.run().termination["message"]
        self.assertIn("red' is not a valid attribute", message)
        self.assertNotIn("hunter22", message)
        self.assertNotIn("\x1b", message)

    def test_an_input_that_ansible_cant_read_is_named(self):
        for name, (file, text, start) in INPUTS.items():
            with self.subTest(name):
                run = StagedRun(self, {"m1": LOCAL}, below="data-of/" + "x" * 90).playbook(TASK)
                run.write("conf/" + file, text)
                message = run.run().termination["message"]
                self.assertTrue(message.startswith(start), message)
                self.assertNotIn("xxx", message)

    def test_in_a_pod_only_files_of_the_run_are_shortened(self):
        entrypoint = in_a_pod()
        for said, known in IN_A_POD.items():
            self.assertEqual(entrypoint.as_known(said), known)

    def test_an_error_after_a_playbook_that_ended_well_is_quoted(self):
        run = StagedRun(self, {"m1": LOCAL})
        broken = run.write("conf/sources/0/broken.yml", PLAY + "  roles: [nowhere]\n")
        message = run.playbook(TASK, args=[str(broken)]).run().termination["message"]
        self.assertRegex(message, r"^broken\.yml, line 4: the role 'nowhere' was not found \(play\.yml ended with exit code \d+\)\.$")

    def test_an_error_in_the_middle_of_a_run_is_quoted(self):
        run = StagedRun(self, {"m1": LOCAL}).playbook(TASK + "    - include_tasks: broken.yml\n")
        run.write("conf/sources/0/broken.yml", "- no_such_module: {}\n")
        self.assertRegex(run.run().termination["message"], r"^broken\.yml, line 1: couldn't resolve module.*after \d tasks\)\.$")

    def test_only_a_sentence_that_is_repeated_is_left_out(self):
        for said, known in (("Broken: no such host. no such host", "Broken: no such host"), ("Bad. String: x. Bad", "Bad. String: x"),
                            ("Lost node-10. node-1", "Lost node-10. node-1")):
            self.assertEqual(in_a_pod().said_by_ansible(["ERROR! " + said]), known)

    def test_without_an_error_the_message_leads_to_the_log(self):
        message = self.run_program("echo gone; exit 9\n")
        self.assertEqual(message, "play.yml ended with exit code 9 before any task ran. See the end of the log for the reason.")

    def test_a_failed_task_is_not_why_ansible_was_killed(self):
        result = f"printf '[ERROR]: Task failed: x\\n\\036{TOKEN} {{}}\\nfatal: [m1]: FAILED!\\n...ignoring\\n'\n"
        message = self.run_program(result + "kill -9 $$\n")
        self.assertEqual(message, "play.yml ended with exit code 137 before any task ran. See the end of the log for the reason.")
        message = self.run_program(result + "echo '[ERROR]: The end.'; exit 1\n")
        self.assertEqual(message, "The end (play.yml ended with exit code 1 before any task ran).")
