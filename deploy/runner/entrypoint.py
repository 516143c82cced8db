# SPDX-License-Identifier: Apache-2.0
"""Runs the steps of one operation: hooks before, the action, hooks after. The same file serves every run; the steps are in steps.json.

Needs Python 3.9 and its standard library. All paths are below $KUBEONKUBE_ROOT, which is empty in a pod. The result is the
termination message, from which the controller decides whether the operation succeeded; see README.md beside this file.
"""

import errno
import itertools
import json
import os
import re
import runpy
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import kubeonkube_masking as masking  # noqa: E402

ROOT = os.environ.get("KUBEONKUBE_ROOT", "")
CONF, AUTH, WORK, PLAYBOOKS = ROOT + "/conf", ROOT + "/auth", ROOT + "/work-kubeonkube", ROOT + "/kubespray"
RECORD = WORK + "/run"
TERMINATION_LOG = ROOT + "/dev/termination-log"

# How much of the end of the output is kept: ansible prints its help after an error about an option.
TAIL_BYTES = 65536
LONGEST_REASON = 500
# ansible's own errors, before and since 2.19, and those of its parser of arguments.
WRAPPED = " [ERROR]: "
ERRORS = ("ERROR! ", "[ERROR]: ", WRAPPED, "ansible-playbook: error: ")
# Bounded, so that a long line takes no long time.
PLACE = re.compile(r"(?:The error appears to be in '|\bOrigin: )([^<].{0,500}?)(?:': line |:)([0-9]+)")
YAML_ERROR = re.compile(r"Syntax Error while loading YAML\.\s+(.{1,500}?)(?:\. |\s*\n|\s\s|\s+in \"|\s+The error appears)")
NOT_PARSED = re.compile(r"Failed to parse .{1,500}? with '?(\w+)'? plugin: (.*)")
UNREADABLE = "Unable to retrieve file contents"

# The kubelet cuts longer termination messages.
TERMINATION_BYTES = 4096
TEXT_LIMIT = 300
# The characters of a failure's message, which may end with what to do: as many as the termination message has room for.
MESSAGE_LIMITS = (900, 600, TEXT_LIMIT)
# Of a step, in the summary: names of hosts, with their number.
HOST_LISTS = ("unfinished", "unreached", "unreachable", "untouched", "made")
# Seconds from SIGTERM until the child is killed. Less than the pod's grace period of 30 s, to leave time for the summary.
STOP_SECONDS = 20
STOPPED = 143
# How often a write is tried again that failed because the disk is full, in seconds.
FULL_SECONDS = 0.5
# The path of a Unix socket has at most 108 bytes. ssh appends '/', a hash of 10 characters and a suffix of 17 to the folder.
CONTROL_PATH_LIMIT = 75
# ssh's configuration, in the folder of its sockets.
SSH_CONFIGURATION = "config"
# How long the entrypoint waits for the output of processes that outlive their step.
DRAIN_SECONDS = 5
# One line is written at a time.
WRITING = threading.Lock()


class Refused(Exception):
    """The run can't continue. The text gives people the reason."""


def cut(text, limit=TEXT_LIMIT):
    return text if len(text) <= limit else text[: limit - 1] + "…"


def shorten(text, limit=TEXT_LIMIT):
    """`text` with at most `limit` characters. Of several lines the last one stays, too: of a traceback, it is the error."""
    text = text.strip()
    before, _, last = text.rpartition("\n")
    last = cut(last, limit // 2)
    return f"{cut(before, limit - len(last) - 1)}\n{last}" if before and len(text) > limit else cut(text, limit)


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
    """Writes everything. What can't be written is dropped: the run doesn't fail because of its log."""
    with WRITING:
        while data:
            try:
                data = data[os.write(1, data):]
            except BlockingIOError:
                select.select([], [1], [])
            except OSError as error:
                if not is_full(error):
                    return
                time.sleep(FULL_SECONDS)


# The callback plugin has the same two functions. A file for both would be one more in the snapshot of every run.


def is_full(error):
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def when_there_is_room(write, *arguments):
    """The result of `write`. Repeats it while the disk is full: then the run waits and doesn't fail."""
    while True:
        try:
            return write(*arguments)
        except OSError as error:
            if not is_full(error):
                raise
            time.sleep(FULL_SECONDS)


# -- events ----------------------------------------------------------------------------------------------------------------


def emit(token, kind, **fields):
    """Writes an event of the run itself. Its number continues those of the callback plugin, which uses the same file of counters."""
    body = {"n": when_there_is_room(next_event), "at": int(time.time() * 1000), "type": kind, **fields}
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    write_out(b"\x1e" + token.encode("ascii") + b" " + text.encode("utf-8", "replace") + b"\n")


def next_event():
    fd = os.open(RECORD + "/counters", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        numbers = os.pread(fd, 100, 0).split()
        event, play, task = (int(number) for number in numbers) if len(numbers) == 3 else (0, 0, 0)
        os.pwrite(fd, b"%20d %20d %20d\n" % (event + 1, play, task), 0)
    finally:
        os.close(fd)
    return event + 1


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

    def run(self, command, environment, directory, polite, arguments, output):
        """Runs a command in its own process group and waits for it. Returns the exit code as a shell reports it.

        `arguments` are written to its stdin; None leaves that empty. `output` gets what it prints.
        """
        stdin = subprocess.DEVNULL if arguments is None else subprocess.PIPE
        # A new session: no process in it can prompt on a terminal, and a signal reaches all of them at once.
        process = subprocess.Popen(command, env=environment, cwd=directory, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        self.child = (process, polite)
        if self.requested:
            self.signal_child()
        reader = Reader(process.stdout, output)
        reader.start()
        if arguments is not None:
            give(process.stdin, arguments)
        code = process.wait()
        reader.wait_for_end()
        if reader.error:
            write_line(f"\n== Part of the output is missing: it could not be passed on ({type(reader.error).__name__}).")
        self.child = None
        self.signalled = False
        return code if code >= 0 else 128 - code


class Reader(threading.Thread):
    """Passes on the output of a step."""

    def __init__(self, pipe, output):
        super().__init__(daemon=True)
        self.pipe, self.output, self.busy, self.error = pipe, output, False, None

    def run(self):
        while data := os.read(self.pipe.fileno(), 65536):
            self.busy = True
            self.pass_on(self.output.take, data)
            self.busy = False
        self.pass_on(self.output.finish)

    def pass_on(self, write, *data):
        try:
            write(*data)
        except Exception as error:  # noqa: BLE001 - whatever it is, the command must not wait for its output to be read
            self.error = error

    def wait_for_end(self):
        """After the step's command has ended. What a process in the background prints later may be lost."""
        deadline = time.monotonic() + DRAIN_SECONDS
        while self.is_alive():
            has_more = select.select([self.pipe], [], [], 0.2)[0] and time.monotonic() < deadline
            if not has_more and not self.busy:
                return
            self.join(0.05)


def give(pipe, arguments):
    try:
        with pipe:
            pipe.write(json.dumps(arguments).encode("ascii"))
    except BrokenPipeError:
        pass  # the process has ended; its exit code tells more


# -- how ansible is called ---------------------------------------------------------------------------------------------------


def usable_home():
    home = os.environ.get("HOME", "")
    return home if home not in ("", "/") and os.access(home, os.W_OK) else WORK


def quoted_for_ssh(path):
    """ssh replaces %-tokens in paths."""
    return '"' + path.replace("%", "%%") + '"'


def host_key_options():
    """Checks host keys strictly if there are confirmed ones; otherwise trusts the first key seen in this run. An inventory may override this."""
    confirmed = CONF + "/known_hosts"
    strict = os.path.exists(confirmed)
    file = confirmed if strict else WORK + "/known_hosts"
    mode = "yes" if strict else "accept-new"
    return [f"StrictHostKeyChecking={mode}", f"UserKnownHostsFile={quoted_for_ssh(file)}", "GlobalKnownHostsFile=/dev/null", "UpdateHostKeys=no"]


def is_trusted(path):
    try:
        found = os.stat(path)
    except OSError:
        return False
    return found.st_uid in (0, os.getuid()) and not found.st_mode & 0o022


def write_ssh_configuration(folder):
    """Key and host keys for jump hosts too: ssh gives the connection to a jump host (ProxyJump) this file, and no other option."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    key = AUTH + "/ssh-privatekey"
    options = [option.replace("=", " ", 1) for option in host_key_options()]
    if os.path.exists(key):
        options.append(f"IdentityFile {quoted_for_ssh(key)}")
    # ssh doesn't read these two by itself if it is given a file. It refuses an included file that others could have written.
    options += [f"Include {quoted_for_ssh(path)}" for path in (os.path.expanduser("~/.ssh/config"), "/etc/ssh/ssh_config") if is_trusted(path)]
    with open(folder + "/" + SSH_CONFIGURATION, "w", encoding="utf-8") as file:
        file.write("".join(option + "\n" for option in options))


def control_path_folder():
    folder = WORK + "/cp"
    # ssh gives the path of its configuration to a shell without quotes.
    if len(folder.encode()) <= CONTROL_PATH_LIMIT and re.fullmatch(r"[A-Za-z0-9/._+,=@-]+", folder):
        return folder, None
    # An isolated run of standalone mode can't write to the folder that contains the data directory, which may be /tmp.
    for parent in ("/tmp", "/var/tmp", "/dev/shm"):
        try:
            short = tempfile.mkdtemp(prefix="kubeonkube-", dir=parent)
        except OSError:
            continue
        return short, short
    raise Refused("There is no folder for the sockets of SSH: this run can't write to /tmp, /var/tmp or /dev/shm.")


def close_connections(control_path):
    """Closes the connections that ssh keeps open for the next task. Otherwise the ssh processes stay for a minute, and outside of a
    container they can't be matched to a run: ssh overwrites its environment with its process title."""
    for name in os.listdir(control_path) if os.path.isdir(control_path) else []:
        if name == SSH_CONFIGURATION:
            continue
        socket = f"{control_path}/{name}".replace("%", "%%")
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        try:
            # ssh requires a host name, but uses only the socket.
            subprocess.run(["ssh", "-F", "none", "-S", socket, "-O", "exit", "machine"], timeout=5, **quiet)
        except (OSError, subprocess.TimeoutExpired):
            pass


def ansible_environment(control_path):
    host_keys = [word for option in host_key_options() for word in ("-o", option)]
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
        "ANSIBLE_SSH_ARGS": shlex.join(["-F", control_path + "/" + SSH_CONFIGURATION, *host_keys, *connection]),
        "ANSIBLE_SSH_CONTROL_PATH_DIR": control_path,
    }
    configuration = PLAYBOOKS + "/ansible.cfg"
    if os.path.exists(configuration):
        own["ANSIBLE_CONFIG"] = configuration
    return {**os.environ, **own}


def remove(path):
    if os.path.exists(path):
        os.remove(path)


def holds_variables(path):
    """Whether the file contains variables. ansible refuses a file of extra variables that contains only comments."""
    try:
        lines = read_text(path).splitlines()
    except OSError:
        return False
    return any(not re.match(r"\s*(#.*|---\s*|\.\.\.\s*)?$", line) for line in lines)


# Kubespray's own image has no ping.yml. Unlike `gather_facts`, the task needs no privileges.
PING = """
- name: Reach every machine
  hosts: all
  gather_facts: false
  become: false
  vars:
    ansible_become: false
    ansible_ssh_pipelining: false
  tasks:
    - name: Log in and run Python
      ansible.builtin.ping:
"""


def stand_in(step):
    """A playbook that does the same as one that kubespray's own image doesn't have. None if there is none. Images that kubean builds have both
    playbooks."""
    if not os.path.isfile(PLAYBOOKS + "/cluster.yml"):
        return None
    if step["path"] == "kubespray/facts.yml":
        path = PLAYBOOKS + "/playbooks/facts.yml"
        return path if os.path.isfile(path) else None
    if step["path"] == "kubespray/ping.yml":
        path = RECORD + "/ping.yml"
        with open(path, "w", encoding="utf-8") as file:
            file.write(PING)
        return path
    return None


# On this machine, ansible writes the state of asynchronous tasks to $HOME, but looks for it in the home directory of the user's account.
# Variables of the user take precedence.
ASYNC = """
all:
  vars:
    ansible_async_dir: "{{ lookup('env', 'HOME') if ansible_connection | default('') in ['local', 'ansible.builtin.local'] else '~' }}/.ansible_async"
"""


def async_inventory():
    """The option that makes both the same folder. Not if tasks can become root with sudo: then they are, and $HOME is the account's, too."""
    is_fixed = os.geteuid() == 0 or "NoNewPrivs:\t1" in read_text("/proc/self/status")
    if "ANSIBLE_ASYNC_DIR" in os.environ or not is_fixed:
        return []
    path = RECORD + "/async.yml"
    with open(path, "w", encoding="utf-8") as file:
        file.write(ASYNC)
    return ["-i", path]


def command_for(step):
    path = ROOT + "/" + step["path"]
    if step["kind"] == "shell":
        if not os.path.isfile(path):
            raise Refused(f"The script {step['title']} is missing in the inputs of the run.")
        return ["bash", path, *step.get("args", [])]
    if not os.path.isfile(path):
        other = stand_in(step)
        if not other:
            raise Refused(missing_playbook(step, path))
        write_line(f"The image has no {step['title']}. {os.path.relpath(other, ROOT or '/')} is run instead.")
        path = other
    command = ["ansible-playbook", "-i", CONF + "/hosts.yml", "-b", "--become-user", "root"]
    if holds_variables(CONF + "/group_vars.yml"):
        command += ["-e", "@" + CONF + "/group_vars.yml"]
    if os.path.exists(CONF + "/secret_vars.json"):
        command += ["-e", "@" + CONF + "/secret_vars.json"]
    if os.path.exists(AUTH + "/ssh-privatekey"):
        command += ["--private-key", AUTH + "/ssh-privatekey"]
    return [*command, path, *step.get("args", [])]


def private_command(command, environment, count):
    """A command that does the same without its last `count` arguments on the command line, which all users of the machine can read. It
    gets them in a file or on stdin. Returns the command, its environment, and what to write to its stdin."""
    if count == 0:
        return command, environment, None
    visible, arguments = command[:-count], command[-count:]
    if command[0] == "bash":
        # bash reads this file before the script.
        path = RECORD + "/arguments"
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(f"unset BASH_ENV\nset -- {shlex.join(arguments)}\n")
        return visible, {**environment, "BASH_ENV": path}, None
    program = shutil.which(command[0], path=environment.get("PATH"))
    python = interpreter(program) if program else None
    if python is None:
        return command, environment, None
    return [*python, HERE + "/entrypoint.py", program], environment, command[1:]


def interpreter(program):
    """The Python of a script, as words of a command. None if the script isn't for Python."""
    with open(program, "rb") as file:
        first, second = (file.readline(4096).decode("utf-8", "replace").strip() for _ in range(2))
    if second.startswith("'''exec' "):
        # pip writes this if the path is too long for the first line.
        words = shlex.split(second[3:].replace("exec'", "", 1))[:1]
    else:
        words = first[2:].split() if first.startswith("#!") else []
    return words if words and any("python" in os.path.basename(word) for word in words[:2]) else None


def become(program):
    """Runs a Python script in this process, with the arguments from stdin."""
    arguments = json.load(sys.stdin)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = [program, *arguments]
    sys.path[:] = [os.path.dirname(os.path.realpath(program)), *(folder for folder in sys.path if folder != HERE)]
    runpy.run_path(program, run_name="__main__")


def missing_playbook(step, path):
    where = "the image" if step["path"].startswith("kubespray/") else "its ConfigMap"
    try:
        there = sorted(name for name in os.listdir(os.path.dirname(path)) if name.endswith((".yml", ".yaml")))
    except OSError:
        there = []
    exist = "Available: " + ", ".join(there) + "." if there else "It contains no playbooks."
    return cut(f"There is no playbook {step['title']} in {where}. {exist}", 1000)


# -- what ansible says when it can't go on ---------------------------------------------------------------------------------


class Tail:
    """Passes output on, and keeps the end of it."""

    def __init__(self):
        self.data = bytearray()

    def write(self, data):
        write_out(data)
        self.data += data
        # Not at each write: of a million lines, each would copy all that is kept.
        if len(self.data) > 2 * TAIL_BYTES:
            del self.data[:-TAIL_BYTES]

    def lines(self, token):
        """The lines after the last event, as a terminal shows them. Since 2.19, ansible prints errors of tasks like its own, and then the
        plugin reports the result."""
        *before, last = self.data.decode("utf-8", "replace").split(f"\x1e{token} ")
        # The plugin adds this event when ansible has printed its error.
        if before and '"type":"given_up"' in last.partition("\n")[0]:
            last = before.pop()
        lines = last.split("\n")
        return [masking.INVISIBLE.sub("", line) for line in (lines[1:] if before else lines)]


def said_by_ansible(lines):
    """The error with which ansible ended, with its place: "play.yml, line 3: …". "" if there is none."""
    at = max((number for number, line in enumerate(lines) if line.startswith(ERRORS)), default=None)
    if at is None:
        return ""
    first = next(lines[at][len(prefix):] for prefix in ERRORS if lines[at].startswith(prefix)).strip()
    after = lines[at + 1 : at + 30]
    place = next(filter(None, map(PLACE.search, after)), None)
    if lines[at].startswith(WRAPPED):
        first = unwrapped([first, *itertools.takewhile(str.strip, after)])
    if first.startswith("We were unable to read"):
        first = in_short("\n".join([first, *after]))
    elif first.rstrip(".") == UNREADABLE and after:
        first = after[0]
    elif first.startswith("Completely failed to parse inventory source"):
        first, place = why_not_parsed(lines[:at], first.endswith((".yml", ".yaml", ".json"))) or (first, place)
    first = first.partition(" on the Ansible Controller")[0] if first.startswith("Could not find") else first
    first = re.sub(r"^(the role '.*?' was not found) in .*", r"\1", first).replace(".. ", ". ")
    start, _, end = first.rpartition(". ")
    # ansible repeats the error that caused another.
    first = start if end and re.search(rf"(^|[.:] ){re.escape(end)}([.:] |$)", start) else first
    where = f"{as_known(place[1])}, line {place[2]}: " if place else ""
    return cut(where + as_known(first).strip().rstrip("."), LONGEST_REASON)


def unwrapped(lines):
    """The text that ansible has wrapped, also at hyphens."""
    return re.sub(r"(?<=\w-)\n(?=\w)", "", "\n".join(lines)).replace("\n", " ")


def why_not_parsed(lines, is_yaml):
    """The reason why ansible couldn't read an inventory, and its place. It is in warnings, one for each plugin that tried, and also the
    reason why other inputs can't be read, which ansible reads at the same time."""
    # Before 2.19, warnings are wrapped.
    warnings = unwrapped(lines).split("[WARNING]:")
    found = [warning.groups() for warning in map(NOT_PARSED.search, warnings) if warning]
    if not found:
        return None
    reasons = [(plugin, reason.partition(" Failed to parse inventory with")[0], PLACE.search(reason)) for plugin, reason in found]
    told = next((reason for plugin, reason, _ in reasons if is_yaml and plugin == "yaml"), reasons[-1][1])
    place = next((place for _, reason, place in reasons if place and reason == told), None)
    return in_short(told).removeprefix(UNREADABLE).lstrip(". "), place


def in_short(text):
    """`text`, or the error of YAML in it."""
    syntax = YAML_ERROR.search(text)
    return syntax[1] if syntax else text.partition("\n")[0]


def as_known(text):
    """`text` with files as the user knows them, and without folders of the run."""
    for path, name in (("/hosts.yml", "the inventory"), ("/group_vars.yml", "the variables"), ("/secret_vars.json", "the secret variables")):
        text = re.sub(f"(['\"]?)@?{path_in_text(CONF + path)}(?![\\w-])\\1", name, text)
    text = re.sub(f"{path_in_text(CONF + '/sources/')}[0-9]+/|{path_in_text(PLAYBOOKS + '/')}", "", text)
    # Of all other files, the name is enough.
    text = re.sub(f"(?:{'|'.join(map(path_in_text, (CONF, AUTH, WORK)))})/(?:[^\\s'\"/:]+/)*", "", text)
    return re.sub(path_in_text(ROOT + "/"), "", text) if ROOT else text


def path_in_text(path):
    """A pattern for a path that is not the end of a longer one. ansible may have wrapped it."""
    return r"(?<![\w./~-])" + r"\s?".join(map(re.escape, path))


def tasks_started():
    """How many tasks the callback plugin has counted in all steps so far."""
    try:
        return int(read_text(RECORD + "/counters").split()[2])
    except (OSError, ValueError, IndexError):
        return 0


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


def why_failed(step, code, recap, has_hosts, tasks):
    """The reason for the log, or "". Exit code 0 doesn't prove success: an inventory without hosts gives it, too."""
    title = step["title"]
    if step["kind"] == "playbook" and recap is None:
        if code == 0 and has_hosts:
            return f"{title} ran no task."
        return f"{title} matched no host and did nothing." if code == 0 else f"{title} ended with exit code {code} {progress_of(tasks)}."
    if recap and (recap.get("failed") or recap.get("unreachable")):
        return f"{title}: {bad_hosts(recap)}" + (", although ansible exited with 0." if code == 0 else ".")
    return f"{title} ended with exit code {code}." if code != 0 else ""


def progress_of(tasks):
    return f"after {tasks} task{'' if tasks == 1 else 's'}" if tasks else "before any task ran"


def bad_hosts(recap):
    kinds = (("failed", "failed task"), ("unreachable", "unreachable host"))
    return " and ".join(f"{recap[key]} {word}{'' if recap[key] == 1 else 's'}" for key, word in kinds if recap.get(key))


class Run:
    def __init__(self):
        self.steps, self.failures, self.failed_hosts = [], [], 0
        # Set only if recap, failures and running task don't explain the result.
        self.message = ""
        self.code = 0
        self.complete = False
        self.control_path = self.temporary = None
        # Known once the inputs are read. Before, only texts of this file are written.
        self.masker = self.secret_result = None
        self.stop = Stop(self.leave_provisional_message)

    def stopped(self):
        """Whether the run was stopped. A request after the last step has succeeded is too late."""
        return self.stop.requested and not self.complete

    def leave_provisional_message(self):
        """Written as soon as the stop is requested, in case the process is killed before its orderly end."""
        if self.stopped():
            self.code = STOPPED
            try:
                self.leave_message()
            except OSError:
                pass  # The disk is full. The message is written again at the end.

    def leave_message(self):
        document = {"v": 1, "rc": self.code, "cancelled": self.stopped(), "steps": self.steps}
        # The plugin has masked these two.
        document["failures"] = [shorten_failure(failure, message=MESSAGE_LIMITS[0]) for failure in self.failures]
        document["failed_hosts"] = self.failed_hosts
        document["running"] = self.stop.flight
        document["message"] = cut(self.shown(self.message), 1000)
        data = fit(document)
        # Written in place, with one write: in a pod the file is a bind mount, which can't be replaced by renaming. Cut to its length
        # afterwards: an emptied file would give its room on a full disk away.
        fd = os.open(TERMINATION_LOG, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            if os.write(fd, data) < len(data):
                raise OSError(errno.ENOSPC, "only a part was written")
            os.ftruncate(fd, len(data))
        finally:
            os.close(fd)

    def execute(self):
        when_there_is_room(begin_once)
        self.masker = masking.Masker.of_run(ROOT)
        plan = read_json(CONF + "/steps.json", None)
        if plan is None:
            raise Refused("The file steps.json is missing, so the run has no steps. Submit the operation again.")
        token = read_text(CONF + "/token").strip()
        self.control_path, self.temporary = when_there_is_room(control_path_folder)
        environment = {**ansible_environment(self.control_path), "KUBEONKUBE_CLUSTER": plan.get("cluster", "")}
        if os.path.exists(CONF + "/secret-result.json"):
            from kubeonkube_secret_result import SecretResult

            self.secret_result = when_there_is_room(SecretResult, CONF + "/secret-result.json", WORK + "/secret-result")
            environment["KUBEONKUBE_SECRET_RESULT"] = self.secret_result.folder
        for number, step in enumerate(plan["steps"], 1):
            if self.stop.requested:
                break
            self.code = self.step(token, number, len(plan["steps"]), step, environment)
            if self.code != 0:
                break
        else:
            self.complete = True
        if self.secret_result:
            self.hand_over(token, environment)

    def hand_over(self, token, environment):
        """Passes what the steps left as secret result on to the controller."""
        program = shutil.which("ansible-playbook", path=environment.get("PATH"))
        fields = self.secret_result.take((program and interpreter(program)) or [sys.executable])
        emit(token, "secret_result", **fields)
        if "error" in fields:
            write_line("\n== " + self.shown(fields["error"]))

    def tidy_up(self):
        if self.secret_result:
            self.secret_result.remove()
        if self.control_path:
            close_connections(self.control_path)
        if self.temporary:
            shutil.rmtree(self.temporary, ignore_errors=True)

    def step(self, token, number, of, step, environment):
        words = {"pre": "hook before", "main": "action", "post": "hook after"}
        title = self.shown(step["title"])
        write_line(f"\n== step {number} of {of}, {words[step['role']]}: {title}")
        emit(token, "step_start", step=number, role=step["role"], title=title)
        for name in ("result.json", "flight"):
            remove(RECORD + "/" + name)
        self.steps.append({"role": step["role"], "title": cut(title, 100), "kind": step["kind"], "rc": -1, "recap": None})
        try:
            code, why = self.attempt(token, step, environment)
            self.steps[-1]["rc"] = code
        except Refused as refusal:
            code, why = 1, str(refusal)
            self.steps[-1]["rc"], self.message = code, why
        if why and not self.stop.requested:
            write_line("\n== " + self.shown(why))
            code = code or 1
        emit(token, "step_end", step=number, rc=code)
        return code

    def shown(self, text):
        return self.masker.value(text) if self.masker else text

    def attempt(self, token, step, environment):
        command = command_for(step)
        if step["kind"] == "playbook":
            command[1:1] = when_there_is_room(async_inventory)
        when_there_is_room(write_ssh_configuration, self.control_path)
        command, environment, arguments = when_there_is_room(private_command, command, environment, len(step.get("args", [])))
        tail, tasks = Tail(), tasks_started()
        output = masking.Output(self.masker, token, tail.write)
        directory = PLAYBOOKS if os.path.isdir(PLAYBOOKS) else WORK
        polite = signal.SIGINT if step["kind"] == "playbook" else signal.SIGTERM
        try:
            code = self.stop.run(command, environment, directory, polite, arguments, output)
        except FileNotFoundError:
            raise Refused(f"{command[0]} is not installed in the image of this operation.") from None
        finally:
            remove(RECORD + "/arguments")
        result = read_json(RECORD + "/result.json", {"recap": None, "failures": []})
        recap = totals(result["recap"]) if step["kind"] == "playbook" else None
        self.steps[-1]["recap"] = recap
        self.steps[-1].update({key: result[key] for key in (*HOST_LISTS, "reached", "unmatched", "unmatched_plays", "made_changes", "would_change") if key in result})
        self.failures, self.failed_hosts = result["failures"], result.get("failed_hosts", 0)
        why = why_failed(step, code, recap, "unreached" in result, tasks_started() - tasks)
        is_told = recap and (recap.get("failed") or recap.get("unreachable") or result["failures"])
        if step["kind"] == "playbook" and not is_told and why and not self.stop.requested:
            reason = said_by_ansible(tail.lines(token))
            if reason:
                self.message = f"{reason} ({why.rstrip('.')})."
            elif code != 0:
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

    for message in MESSAGE_LIMITS[1:]:
        if len(size()) > TERMINATION_BYTES:
            document["failures"] = [shorten_failure(failure, message=message) for failure in document["failures"]]
    for limit in (150, 60, 20):
        if len(size()) <= TERMINATION_BYTES:
            break
        document["failures"] = [shorten_failure(failure, limit, 3) for failure in document["failures"]]
        document["message"] = cut(document["message"], limit * 3)
        if document["running"]:
            document["running"] = {"task": cut(document["running"]["task"], limit), "hosts": [cut(h, limit) for h in document["running"]["hosts"][:3]]}
        for step in document["steps"]:
            step["title"] = cut(step["title"], limit)
            for key in HOST_LISTS:
                if key in step:
                    step[key] = shorten_hosts(step[key], limit, 3)
            step["unmatched"] = [shorten_play(play, limit) for play in step.get("unmatched", [])[:1]]
            if step["recap"]:
                step["recap"] = {key: count for key, count in step["recap"].items() if count or key == "hosts"}
    while len(size()) > TERMINATION_BYTES and document["steps"]:
        # There are too many hooks. Keep the action and the last steps, which show how the run ended: a failed step is always last.
        spare = [number for number, step in enumerate(document["steps"]) if step["role"] != "main" and step["rc"] == 0]
        document["steps"].pop(spare[0] if spare else 0)
        document["dropped"] = document.get("dropped", 0) + 1
    return size()


def shorten_failure(failure, limit=TEXT_LIMIT, names=5, message=None):
    limits = {"message": message or limit}
    return {key: shorten_hosts(value, limit, names) if key == "hosts" else shorten(value, limits.get(key, limit)) for key, value in failure.items()}


def shorten_hosts(hosts, limit, names):
    return {**hosts, "hosts": [cut(host, limit) for host in hosts["hosts"][:names]]}


def shorten_play(play, limit):
    return {key: [cut(name, limit) for name in value[:1]] if key == "names" else cut(value, limit) for key, value in play.items()}


def main():
    run = Run()
    try:
        try:
            run.execute()
        except Refused as refusal:
            run.code, run.message = 1, str(refusal)
            write_line("== " + run.shown(run.message))
        except (OSError, ValueError, KeyError, TypeError) as error:
            run.code, run.message = 1, f"The run could not be prepared: {type(error).__name__}: {error}."
            write_line("== " + run.shown(run.message))
        run.sum_up()
        when_there_is_room(run.leave_message)
    finally:
        # Last, because it takes seconds for many machines, and the message must be written in time.
        run.tidy_up()
    return run.code


if __name__ == "__main__":
    # With an argument, it is the process that private_command() describes.
    sys.exit(become(sys.argv[1]) if len(sys.argv) == 2 else main())
