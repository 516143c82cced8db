# SPDX-License-Identifier: Apache-2.0
"""Runs the steps of one operation: hooks before, the action, hooks after. The same file serves every run; the steps are in steps.json.

Needs Python 3.9 and its standard library. All paths are below $KUBEONKUBE_ROOT, which is empty in a pod. The result is the
termination message, from which the controller decides whether the operation succeeded; see README.md beside this file.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.environ.get("KUBEONKUBE_ROOT", "")
CONF, AUTH, WORK, PLAYBOOKS = ROOT + "/conf", ROOT + "/auth", ROOT + "/work-kubeonkube", ROOT + "/kubespray"
RECORD = WORK + "/run"
TERMINATION_LOG = ROOT + "/dev/termination-log"

# The kubelet cuts longer termination messages.
TERMINATION_BYTES = 4096
TEXT_LIMIT = 300
# Seconds from SIGTERM until the child is killed. Less than the pod's grace period of 30 s, to leave time for the summary.
STOP_SECONDS = 20
STOPPED = 143
# The path of a Unix socket has at most 108 bytes. ssh appends '/', a hash of 10 characters and a suffix of 17 to the folder.
CONTROL_PATH_LIMIT = 75


class Refused(Exception):
    """The run can't continue. The text gives people the reason."""


def cut(text, limit=TEXT_LIMIT):
    return text if len(text) <= limit else text[: limit - 1] + "…"


def read_text(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def read_json(path, missing):
    try:
        return json.loads(read_text(path))
    except FileNotFoundError:
        return missing


def write_line(text):
    """Writes a line for people. Unbuffered, so that it keeps its place between ansible's lines and events."""
    write_out(text.encode("utf-8", "replace") + b"\n")


def write_out(data):
    while data:
        data = data[os.write(1, data):]


# -- events ----------------------------------------------------------------------------------------------------------------


def emit(token, kind, **fields):
    """Writes an event of the run itself. Its number continues those of the callback plugin, which uses the same file of counters."""
    fd = os.open(RECORD + "/counters", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        numbers = os.pread(fd, 100, 0).split()
        event, play, task = (int(number) for number in numbers) if len(numbers) == 3 else (0, 0, 0)
        os.pwrite(fd, b"%20d %20d %20d\n" % (event + 1, play, task), 0)
    finally:
        os.close(fd)
    body = {"n": event + 1, "at": int(time.time() * 1000), "type": kind, **fields}
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    write_out(b"\x1e" + token.encode("ascii") + b" " + text.encode("utf-8", "replace") + b"\n")


def in_flight():
    """The task and hosts that have started and not ended, as recorded by the plugin: {"task", "hosts"}, or None."""
    names, running = {}, {}
    try:
        lines = read_text(RECORD + "/flight").splitlines()
    except OSError:
        return None
    for line in lines:
        try:
            kind, task, value = json.loads(line)
        except ValueError:
            continue  # the plugin was killed while it wrote this line
        if kind == "task":
            names[task] = value
        elif kind == "start":
            running.setdefault(task, []).append(value)
        elif value in running.get(task, []):
            running[task].remove(value)
    open_tasks = [task for task in sorted(running) if running[task]]
    if not open_tasks:
        return None
    task = open_tasks[-1]
    return {"task": cut(names.get(task, f"task {task}")), "hosts": running[task][:10]}


# -- stopping --------------------------------------------------------------------------------------------------------------


class Stop:
    """Handles SIGTERM and SIGINT: no further step starts; the child gets one signal to end, and is killed if it doesn't end in time."""

    def __init__(self, on_stop):
        self.requested = False
        self.flight = None
        self.on_stop = on_stop
        self.child = None
        self.signalled = False
        # A handler, not SIG_IGN: children would inherit an ignored SIGINT, and then ansible couldn't be interrupted.
        signal.signal(signal.SIGTERM, self.request)
        signal.signal(signal.SIGINT, self.request)
        signal.signal(signal.SIGALRM, self.kill)

    def request(self, _signal, _frame):
        if self.requested:
            return
        self.requested = True
        self.flight = in_flight()  # before the signal makes the hosts fail
        self.on_stop()
        signal.alarm(STOP_SECONDS)
        self.signal_child()

    def signal_child(self):
        if self.child and not self.signalled:
            self.signalled = True
            process, polite = self.child
            self.send(process, polite)

    def kill(self, _signal, _frame):
        if self.child:
            self.send(self.child[0], signal.SIGKILL)

    @staticmethod
    def send(process, number):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass

    def run(self, command, environment, directory, polite):
        """Runs a command in its own process group and waits for it. Returns the exit code as a shell reports it."""
        # A new session: no process in it can prompt on a terminal, and a signal reaches all of them at once.
        process = subprocess.Popen(command, env=environment, cwd=directory, stdin=subprocess.DEVNULL, start_new_session=True)
        self.child = (process, polite)
        if self.requested:
            self.signal_child()
        code = process.wait()
        self.child = None
        self.signalled = False
        return code if code >= 0 else 128 - code


# -- how ansible is called ---------------------------------------------------------------------------------------------------


def usable_home():
    home = os.environ.get("HOME", "")
    return home if home not in ("", "/") and os.access(home, os.W_OK) else WORK


def host_key_options():
    """Checks host keys strictly if there are confirmed ones; otherwise trusts the first key seen in this run. An inventory may override this."""
    confirmed = CONF + "/known_hosts"
    strict = os.path.exists(confirmed)
    file = confirmed if strict else WORK + "/known_hosts"
    mode = "yes" if strict else "accept-new"
    quoted = '"' + file.replace("%", "%%") + '"'
    options = [f"StrictHostKeyChecking={mode}", f"UserKnownHostsFile={quoted}", "GlobalKnownHostsFile=/dev/null", "UpdateHostKeys=no"]
    return [word for option in options for word in ("-o", option)]


def control_path_folder():
    folder = WORK + "/cp"
    if len(folder.encode()) <= CONTROL_PATH_LIMIT:
        return folder, None
    short = tempfile.mkdtemp(prefix="kubeonkube-", dir="/tmp")
    return short, short


def close_connections(control_path):
    """Closes the connections that ssh keeps open for the next task. Otherwise the ssh processes stay for a minute, and outside of a
    container they can't be matched to a run: ssh overwrites its environment with its process title."""
    for name in os.listdir(control_path) if os.path.isdir(control_path) else []:
        socket = f"{control_path}/{name}".replace("%", "%%")
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        try:
            # ssh requires a host name, but uses only the socket.
            subprocess.run(["ssh", "-F", "none", "-S", socket, "-O", "exit", "machine"], timeout=5, **quiet)
        except (OSError, subprocess.TimeoutExpired):
            pass


def ansible_environment(control_path):
    connection = ["-o", "ControlMaster=auto", "-o", "ControlPersist=60s", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=8"]
    own = {
        "HOME": usable_home(),
        "ANSIBLE_CALLBACK_PLUGINS": CONF + "/callback",
        "ANSIBLE_CALLBACKS_ENABLED": "kubeonkube_events",
        "ANSIBLE_LOCAL_TEMP": WORK + "/tmp",
        "ANSIBLE_CACHE_PLUGIN_CONNECTION": WORK + "/facts",
        "ANSIBLE_RETRY_FILES_ENABLED": "false",
        "ANSIBLE_NOCOWS": "1",
        # ansible doesn't flush its output: without this, a line appears only when the next task starts.
        "PYTHONUNBUFFERED": "1",
        # Set here and not in a configuration file, because an image's own ansible.cfg often disables the check.
        "ANSIBLE_HOST_KEY_CHECKING": "true",
        "ANSIBLE_SSH_ARGS": shlex.join(host_key_options() + connection),
        "ANSIBLE_SSH_CONTROL_PATH_DIR": control_path,
    }
    configuration = PLAYBOOKS + "/ansible.cfg"
    if os.path.exists(configuration):
        own["ANSIBLE_CONFIG"] = configuration
    return {**os.environ, **own}


def holds_variables(path):
    """Whether the file contains variables. ansible refuses a file of extra variables that contains only comments."""
    try:
        lines = read_text(path).splitlines()
    except OSError:
        return False
    return any(not re.match(r"\s*(#.*|---\s*|\.\.\.\s*)?$", line) for line in lines)


def command_for(step):
    path = ROOT + "/" + step["path"]
    if step["kind"] == "shell":
        if not os.path.isfile(path):
            raise Refused(f"The script {step['title']} is missing in the inputs of the run.")
        return ["bash", path, *step.get("args", [])]
    if not os.path.isfile(path):
        raise Refused(missing_playbook(step, path))
    command = ["ansible-playbook", "-i", CONF + "/hosts.yml", "-b", "--become-user", "root"]
    if holds_variables(CONF + "/group_vars.yml"):
        command += ["-e", "@" + CONF + "/group_vars.yml"]
    if os.path.exists(AUTH + "/ssh-privatekey"):
        command += ["--private-key", AUTH + "/ssh-privatekey"]
    return [*command, path, *step.get("args", [])]


def missing_playbook(step, path):
    where = "the image" if step["path"].startswith("kubespray/") else "its ConfigMap"
    try:
        there = sorted(name for name in os.listdir(os.path.dirname(path)) if name.endswith((".yml", ".yaml")))
    except OSError:
        there = []
    exist = "Available: " + ", ".join(there) + "." if there else "It contains no playbooks."
    return cut(f"There is no playbook {step['title']} in {where}. {exist}", 1000)


# -- the result of a step ----------------------------------------------------------------------------------------------------


def totals(recap):
    """The recap summed over its hosts. None if no host was matched."""
    if not recap:
        return None
    summed = {"hosts": len(recap)}
    for counts in recap.values():
        for key, count in counts.items():
            summed[key] = summed.get(key, 0) + count
    return summed


def why_failed(step, code, recap):
    """The reason for the log, or "". Exit code 0 doesn't prove success: an inventory without hosts gives it, too."""
    title = step["title"]
    if step["kind"] == "playbook" and recap is None:
        return f"{title} matched no host and did nothing." if code == 0 else f"{title} ended with exit code {code} before any task ran."
    if recap and (recap.get("failed") or recap.get("unreachable")):
        return f"{title}: {bad_hosts(recap)}" + (", although ansible exited with 0." if code == 0 else ".")
    return f"{title} ended with exit code {code}." if code != 0 else ""


def bad_hosts(recap):
    kinds = (("failed", "failed task"), ("unreachable", "unreachable host"))
    return " and ".join(f"{recap[key]} {word}{'' if recap[key] == 1 else 's'}" for key, word in kinds if recap.get(key))


class Run:
    def __init__(self):
        self.steps, self.failures = [], []
        # Set only if recap, failures and running task don't explain the result.
        self.message = ""
        self.code = 0
        self.complete = False
        self.control_path = self.temporary = None
        self.stop = Stop(self.leave_provisional_message)

    def stopped(self):
        """Whether the run was stopped. A request after the last step has succeeded is too late."""
        return self.stop.requested and not self.complete

    def leave_provisional_message(self):
        """Written as soon as the stop is requested, in case the process is killed before its orderly end."""
        if self.stopped():
            self.code = STOPPED
            self.leave_message()

    def leave_message(self):
        document = {"v": 1, "rc": self.code, "cancelled": self.stopped(), "steps": self.steps}
        document["failures"] = [{key: cut(str(value)) for key, value in failure.items()} for failure in self.failures[:3]]
        document["running"] = self.stop.flight
        document["message"] = cut(self.message, 1000)
        data = fit(document)
        # Written in place, with one write: in a pod the file is a bind mount, which can't be replaced by renaming.
        fd = os.open(TERMINATION_LOG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.write(fd, data)
        finally:
            os.close(fd)

    def execute(self):
        begin_once()
        plan = read_json(CONF + "/steps.json", None)
        if plan is None:
            raise Refused("The file steps.json is missing, so the run has no steps. Submit the operation again.")
        token = read_text(CONF + "/token").strip()
        self.control_path, self.temporary = control_path_folder()
        environment = ansible_environment(self.control_path)
        for number, step in enumerate(plan["steps"], 1):
            if self.stop.requested:
                break
            self.code = self.step(token, number, len(plan["steps"]), step, environment)
            if self.code != 0:
                break
        else:
            self.complete = True

    def tidy_up(self):
        if self.control_path:
            close_connections(self.control_path)
        if self.temporary:
            shutil.rmtree(self.temporary, ignore_errors=True)

    def step(self, token, number, of, step, environment):
        words = {"pre": "hook before", "main": "action", "post": "hook after"}
        write_line(f"\n== step {number} of {of}, {words[step['role']]}: {step['title']}")
        emit(token, "step_start", step=number, role=step["role"], title=step["title"])
        for name in ("result.json", "flight"):
            if os.path.exists(RECORD + "/" + name):
                os.remove(RECORD + "/" + name)
        self.steps.append({"role": step["role"], "title": cut(step["title"], 100), "kind": step["kind"], "rc": -1, "recap": None})
        try:
            code, why = self.attempt(step, environment)
            self.steps[-1]["rc"] = code
        except Refused as refusal:
            code, why = 1, str(refusal)
            self.steps[-1]["rc"], self.message = code, why
        if why and not self.stop.requested:
            write_line("\n== " + why)
            code = code or 1
        emit(token, "step_end", step=number, rc=code)
        return code

    def attempt(self, step, environment):
        command = command_for(step)
        directory = PLAYBOOKS if os.path.isdir(PLAYBOOKS) else WORK
        polite = signal.SIGINT if step["kind"] == "playbook" else signal.SIGTERM
        try:
            code = self.stop.run(command, environment, directory, polite)
        except FileNotFoundError:
            raise Refused(f"{command[0]} is not installed in the image of this operation.") from None
        result = read_json(RECORD + "/result.json", {"recap": None, "failures": []})
        recap = totals(result["recap"]) if step["kind"] == "playbook" else None
        self.steps[-1]["recap"] = recap
        self.failures += result["failures"]
        why = why_failed(step, code, recap)
        if step["kind"] == "playbook" and recap is None and code != 0 and not self.stop.requested:
            self.message = why + " See the end of the log for the reason."
        return code, why

    def sum_up(self):
        if self.stopped():
            self.code = STOPPED
            flight = self.stop.flight
            where = f" while the task \"{flight['task']}\" ran on {', '.join(flight['hosts'])}" if flight else ""
            write_line(f"\n== stopped on request{where}")
        elif self.complete:
            write_line(f"\n== {len(self.steps)} of {len(self.steps)} steps done")


def begin_once():
    """Ensures that the run starts once. The scratch folder survives the container: a recreated one must not run the playbooks again."""
    os.makedirs(RECORD, exist_ok=True)
    try:
        os.close(os.open(WORK + "/started", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        raise Refused("The container of this run was recreated after the run had started. A run is never repeated. Submit the operation again.") from None


def fit(document):
    """The document as JSON of at most TERMINATION_BYTES. Shortens or drops the least important parts first."""

    def size():
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")

    for limit in (150, 60, 20):
        if len(size()) <= TERMINATION_BYTES:
            break
        for failure in document["failures"]:
            for key in failure:
                failure[key] = cut(failure[key], limit)
        document["message"] = cut(document["message"], limit * 3)
        if document["running"]:
            document["running"] = {"task": cut(document["running"]["task"], limit), "hosts": [cut(h, limit) for h in document["running"]["hosts"][:3]]}
        for step in document["steps"]:
            step["title"] = cut(step["title"], limit)
            if step["recap"]:
                step["recap"] = {key: count for key, count in step["recap"].items() if count or key == "hosts"}
    while len(size()) > TERMINATION_BYTES and document["steps"]:
        # There are too many hooks. Keep the action and the last steps, which show how the run ended: a failed step is always last.
        spare = [number for number, step in enumerate(document["steps"]) if step["role"] != "main" and step["rc"] == 0]
        document["steps"].pop(spare[0] if spare else 0)
        document["dropped"] = document.get("dropped", 0) + 1
    return size()


def main():
    run = Run()
    try:
        try:
            run.execute()
        except Refused as refusal:
            run.code, run.message = 1, str(refusal)
            write_line("== " + run.message)
        except (OSError, ValueError, KeyError, TypeError) as error:
            run.code, run.message = 1, f"The run could not be prepared: {type(error).__name__}: {error}."
            write_line("== " + run.message)
        run.sum_up()
        run.leave_message()
    finally:
        # Last, because it takes seconds for many machines, and the message must be written in time.
        run.tidy_up()
    return run.code


if __name__ == "__main__":
    sys.exit(main())
