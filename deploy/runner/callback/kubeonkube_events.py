# SPDX-License-Identifier: Apache-2.0
"""Writes numbered one-line events between ansible's own output.

Every event is one write to stdout: the RFC 7464 record separator, the run's token, a space, compact JSON, a newline. The
plugin needs the standard library only and works with every ansible-core from 2.14 on, so it can be mounted into any image.
"""

from __future__ import annotations

import atexit
import collections
import errno
import importlib.util
import inspect
import json
import os
import re
import select
import sys
import threading
import time

from ansible import constants, context
from ansible.errors import AnsibleError
from ansible.executor.play_iterator import IteratingStates, PlayIterator
from ansible.inventory.manager import split_host_pattern
from ansible.plugins.callback import CallbackBase
from ansible.plugins.loader import lookup_loader
from ansible.template import Templar

DOCUMENTATION = """
    name: kubeonkube_events
    type: notification
    short_description: numbered machine-readable events of a run
    description:
      - Writes one JSON event per line for plays, tasks, results of hosts and items, retries, the recap or what is left, and outcomes.
      - Stays silent outside of a kubeonkube run, where the token file is missing.
    requirements:
      - set as one of ANSIBLE_CALLBACKS_ENABLED
"""

# Enough for a list; the log contains the full text.
MESSAGE_LIMIT = 1000
ITEM_LIMIT = 200
# Of the output of a module that crashed, this many of the last lines.
CRASH_LINES = 6
# Of the lines that say why a command failed, at most this many.
REASONS = 5
# kubeadm prints it before the failed checks and whatever else prevents the start.
REFUSED = "[preflight] Some fatal errors occurred:"
# How other programs mark such a line: apt; curl; haproxy; etcdctl; Python; "dd: error writing", "error: unable to drain".
REASON = re.compile(r"E: |W: (Failed|GPG|An error)|curl: \(|\[ALERT\]|\S+ is unhealthy: |([\w./-]+: )?(fatal )?error\b|\w+(Error|Exception): ",
                    re.IGNORECASE)
# How the client of etcd, in etcdctl and kubeadm, begins a line about what it couldn't do.
LOGGED = ('{"level":"warn"', '{"level":"error"', '{"level":"fatal"')
# What ssh prints at the end of a task that had a terminal. All that the task printed is in stdout then.
CLOSED = re.compile(r"^(Shared c|C)onnection to \S+ closed\.\s*$", re.MULTILINE)
UNSTARTED = "Error executing command."
# What ansible says of a value that it can't decrypt, and how such a variable looks in the inputs.
UNDECRYPTED = "no vault secrets"
FAILED_WHEN = "The condition of failed_when is true"
# What `assert` says of a task without a `fail_msg`.
ASSERTION = "Assertion failed"
# kubeadm prints this advice after the reason.
ADVICE = ("To see the stack trace of this error", "[preflight] If you know what you are doing")
# Failures for different reasons, hosts of one of them or that no task ran on, and plays without hosts: more don't help a person.
REMEMBERED_FAILURES = 3
REMEMBERED_HOSTS = 5
REMEMBERED_PLAYS = 3
# Hosts that failed, after each of which the summary is saved, in case ansible is killed.
SAVED_FAILURES = 50
# Where ansible says that an error is, and the error of YAML, as in the entrypoint. Since 2.19, it says the place only in the log.
PLACE = re.compile(r"The error appears to be in '([^<].{0,500}?)': line ([0-9]+)")
YAML_ERROR = re.compile(r"Syntax Error while loading YAML\.\s+(.{1,500}?)(?:\. |\s*\n|\s\s|\s+in \"|\s+The error appears)")
# What ansible puts around an error of its own, and how those begin that are about the task's text.
BEFORE_ERROR = re.compile(r"^((Task|Action) failed: |Finalization of task args for '.*?' failed: |Unexpected AnsibleActionFail error: "
                          r"|Ansible(Error|UndefinedVariable): )+")
AFTER_ERROR = re.compile(r"(\nSearched in:|\n\nThe error appears to be in '| on the Ansible Controller\b).*", re.DOTALL)
OF_TASK = re.compile(r"^(Task failed: )?(Finalization|Action failed|Error while|Syntax error|template error|Ansible\w+: |object of type"
                     r"|'.*' is undefined|The conditional check '|the role ')|\nSearched in:| on the Ansible Controller\b", re.IGNORECASE)
# Since 2.19, the reason of these two is not in the message.
UNKNOWN = "Action failed: Unknown error."
NO_FOLDER = "Unable to change directory before execution."
# Colours and their ends that have lost the escape character: "[31mERROR[0m".
COLOUR = re.compile(r"(?<!\w)(?:\[[0-9]{1,3}(?:;[0-9]{1,3}){0,5}m)+(?!\])")
RESET = re.compile(r"(?:\[0{1,2}m)+(?!\])")
TEMPLATE = re.compile(r"{{.*?}}|{%.*?%}", re.DOTALL)
LOOKUP = re.compile(r"\b(lookup|query|q)\b")
# Lookups without effects, which are as quick as reading a file. Others would run twice: `pipe`, `password`, `url`.
READERS = ("csvfile", "dict", "env", "file", "first_found", "ini", "unvault", "vars")
NAME = re.compile(r"[^\W\d]\w*")
# Variables that contain many others.
MAGIC = ("vars", "hostvars", "groups", "ansible_facts")
WILDCARD = re.compile(r"^~|[*?\[]")
SUBSCRIPT = re.compile(r"\[[0-9:-]*\]$")
# Tasks whose messages are those of the playbook's author.
SPEAKERS = ("fail", "assert")
OF_TEMPLATE = re.compile(r"^(Task failed: )?(Finalization of task args for|Error while (resolving|evaluating) |The conditional check ')")
# Tasks whose result contains variables.
SETTERS = ("set_fact", "include_vars", "add_host")
# What a registered variable with a secret name may be the value of.
RESULTS = ("stdout", "content", "msg")
# How often a write is tried again that failed because the disk is full, in seconds.
FULL_SECONDS = 0.5
# Tasks that run on the controller, so that their results don't prove that the machine was reached.
CONTROLLER_ONLY = {"add_host", "assert", "debug", "fail", "group_by", "import_playbook", "import_role", "import_tasks", "include_role",
                   "include_tasks", "include_vars", "meta", "pause", "set_fact", "set_stats", "validate_argument_spec"}
INCLUDES = ("include_role", "include_tasks")
# Tasks that make groups and hosts, and the arguments that name these.
MAKERS = {"add_host": ("name", "hostname", "host", "groups", "group", "groupname"), "group_by": ("key", "parents")}
# What modules add to their result. The last one is the output of a module that crashed.
OF_MODULES = ("invocation", "rc", "ansible_facts", "module_stdout")
# With these strategies each host runs through the tasks at its own speed, and ansible announces a task once per host.
UNORDERED_STRATEGIES = ("free", "host_pinned", "ansible.builtin.free", "ansible.builtin.host_pinned")
# The names of the one action whose result may publish outcomes.
SET_STATS = ("set_stats", "ansible.builtin.set_stats", "ansible.legacy.set_stats")


# The entrypoint has the same two functions. A file for both would be one more in the snapshot of every run.


def is_full(error):
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def when_there_is_room(write, *arguments):
    """The result of `write`. Repeats it while the disk is full: then the playbook waits, and its success isn't lost."""
    while True:
        try:
            return write(*arguments)
        except OSError as error:
            if not is_full(error):
                raise
            time.sleep(FULL_SECONDS)


def write_fully(fd, data):
    """Writes everything, even to a pipe in non-blocking mode."""
    while data:
        try:
            data = data[when_there_is_room(os.write, fd, data):]
        except BlockingIOError:
            select.select([], [fd], [])


def encode(value):
    """Compact JSON in UTF-8. Lone surrogates (from bytes that weren't UTF-8) become '?', because strict JSON parsers reject them."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode("utf-8", "replace")


def plain(value):
    """A copy made of builtin types. ansible 2.19 passes tagged and lazily templated subclasses."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain(entry) for entry in value]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        # JSON has no NaN and infinity.
        return float(value) if value - value == 0 else None
    return str(value)


def cut(text, limit):
    text = str(text).strip()
    return text if len(text) <= limit else text[: limit - 1] + "…"


def without_rests(text):
    """`text` without the rests of escape sequences, if it has both colours and their ends."""
    has_both = RESET.search(text) and any(RESET.sub("", colour) for colour in COLOUR.findall(text))
    return RESET.sub("", COLOUR.sub("", text)) if has_both else text


def shorten(text, limit):
    """`text` with at most `limit` characters. Of several lines the last one stays, too: of a traceback, it is the error."""
    text = text.strip()
    before, _, last = text.rpartition("\n")
    last = cut(last, limit // 2)
    return f"{cut(before, limit - len(last) - 1)}\n{last}" if before and len(text) > limit else cut(text, limit)


def last_lines(text, count):
    lines = [line.rstrip() for line in str(text or "").splitlines() if line.strip()]
    return "\n".join(lines[-count:])


def logged_error(line):
    """The error in a line of JSON that the client of etcd logged, or None."""
    try:
        error = json.loads(line).get("error") if line.startswith(LOGGED) else None
    except (ValueError, RecursionError):
        return None
    return " ".join(error.split()) if isinstance(error, str) else None


def reason_lines(text):
    """The lines of a command's output that say why it failed: those that are marked so, the first ones and the last; else the last line.
    Before them are errors that the client of etcd logged."""
    _, refused, text = str(text or "").rpartition(REFUSED)
    # kubeadm prints its advice in the line of the last reason.
    lines = [line.strip() for line in (text.partition(ADVICE[1])[0] if refused else text).splitlines()]
    lines = [line for line in lines if line and not line.startswith(ADVICE)]
    logged = [error for error in map(logged_error, lines) if error]
    lines = [line for line in lines if not logged_error(line)]
    marked, in_list = {}, False
    for line in lines:
        # The list after kubeadm's "due to these errors:" or dnf's "Errors during downloading metadata for repository 'x':".
        in_list = line.endswith("errors:") or line.startswith("Errors during ") or in_list and line.startswith("- ")
        if refused or REASON.match(line) or in_list and line.startswith("- "):
            marked[line] = None
    reasons = list(dict.fromkeys([*logged, *(marked or lines[-1:])]))
    return "\n".join(reasons[: REASONS - 1] + reasons[REASONS - 1 :][-1:])


def reason_in_output(result, crashed):
    """Why a command or a module that crashed failed, by what it printed; or an empty text."""
    names = ("module_stderr", "module_stdout", "stderr", "stdout") if crashed else ("stderr", "stdout")
    texts = sorted((str(result.get(name) or "") for name in names), key=lambda text: bool(CLOSED.search(text)))
    texts = [CLOSED.sub("", text) for text in texts]
    # The last lines of a crashed module's output are the end of a traceback. A JSON result that ansible refused doesn't help.
    details = (last_lines(text, CRASH_LINES) if crashed else reason_lines(text) for text in texts)
    return next((detail for detail in details if detail and not (crashed and detail.startswith("{"))), "")


def host_key_refusal(message):
    """A short text for ssh's message of ten lines, or None."""
    if "REMOTE HOST IDENTIFICATION HAS CHANGED" in message:
        return "The host key of this machine is not the confirmed one. It was reinstalled, or the connection may be intercepted."
    if "Host key verification failed" in message or "host key is known" in message:
        return "The host key of this machine has not been confirmed."
    return None


def failure_message(result, shown=str):
    """The most helpful sentence about why a task failed. `shown` masks it, before it is cut."""
    message = str(next((result[name] for name in ("msg", "reason", "censored", "message") if result.get(name)), "")).strip()
    if not message and result.get("failed_when_result"):
        message = FAILED_WHEN
    if message == ASSERTION and result.get("assertion") is not None:
        message = f"{ASSERTION}: {result['assertion']}"
    if message == UNSTARTED and isinstance(result.get("rc"), int) and result["rc"] in errno.errorcode:
        # Before 2.19, the error stood in the message. Now its number is the exit code.
        message = f"{UNSTARTED.rstrip('.')}: {os.strerror(result['rc'])}: {result.get('cmd') or ''}"
    invocation = result.get("invocation")
    arguments = invocation.get("module_args") if isinstance(invocation, dict) else None
    if message == NO_FOLDER and isinstance(arguments, dict):
        message = f"{NO_FOLDER.rstrip('.')}: {arguments.get('chdir')}"
    crashed = "MODULE FAILURE" in message or "See stdout/stderr" in message
    if crashed or message in ("", "non-zero return code", FAILED_WHEN):
        detail = reason_in_output(result, crashed)
        message = message.splitlines()[0] if crashed else message
        if detail and detail not in message:
            message = message + ("\n" if crashed else ": ") + detail if message else detail
    # get_url has the reason beside its message, and copy as the end of a traceback.
    beside = result.get("response") if message == "Request failed" else last_lines(result.get("traceback"), 1)
    if beside and str(beside) not in message:
        message = f"{message}: {beside}"
    return host_key_refusal(message) or shorten(shown(message) or "failed without a message", MESSAGE_LIMIT)


def is_meta(task):
    """Whether it runs on no host, such as `flush_handlers`."""
    return str(task.action).rpartition(".")[2] == "meta"


def is_local(connection):
    """Whether the connection needs no network. Templates may be local."""
    return str(connection).rpartition(".")[2] == "local" or "{" in str(connection)


def runs_here(task, play):
    """Whether the task, or its play, is meant to run on the controller."""
    # The connection of an item is `ansible.builtin.local` if that is how its host is reached.
    return task.connection == "local" or is_local({**(play.vars if play else {}), **task.get_vars()}.get("ansible_connection", ""))


def is_from_machine(result, outcome, play):
    """Whether the result proves that the machine was reached, and wasn't made by ansible on the controller."""
    task, values = result._task, result._result
    if str(task.action).rpartition(".")[2] in CONTROLLER_ONLY or runs_here(task, play):
        return False
    # An item that didn't reach the machine counts as failed.
    if outcome == "unreachable" or values.get("unreachable"):
        return False
    # A module that can't check, or finds what it would create, is skipped on the machine.
    if outcome == "skipped":
        return not any(is_skipped_here(entry) for entry in values.get("results") or [values])
    # A failure without all of these is that of a template.
    return outcome in ("ok", "changed") or any(name in values for name in OF_MODULES)


def is_skipped_here(values):
    """Whether ansible skipped the task, or an item of it, without a look at the machine: because of `when`, or of a loop without items."""
    return not isinstance(values, dict) or "skip_reason" in values or "skipped_reason" in values


def delegate_of(result):
    """The machine that the task runs on instead of its host. Of a loop, ansible keeps the template."""
    name = str(result._task.delegate_to or "")
    return "" if name == result._host.get_name() else name


def is_machine(delegate):
    """Whether the delegate is known, and not the controller."""
    return "{" not in delegate and delegate not in constants.LOCALHOST


def is_encrypted(value):
    """Whether ansible-vault encrypted the value, or one in it. Doesn't decrypt it."""
    if isinstance(value, dict):
        return any(map(is_encrypted, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(is_encrypted, value))
    # The types before and since ansible-core 2.19.
    return type(value).__name__ in ("AnsibleVaultEncryptedUnicode", "EncryptedString")


def parts_of(pattern):
    """The parts of a play's pattern of hosts."""
    patterns = [pattern] if isinstance(pattern, str) else pattern
    return [part for pattern in patterns for part in split_host_pattern(str(pattern))]


def is_matched(inventory, part):
    """Whether a part of a pattern matches something, so that ansible prints no warning."""
    name = part.lstrip("!&")
    name = name if name.startswith("~") else SUBSCRIPT.sub("", name)
    return name == "all" or any(inventory._match_list(names, name) for names in (inventory.groups, inventory.hosts))


def makes(action, arguments):
    """Patterns for the names of groups and hosts that a task may make. Values of templates may be anything."""
    named_by = MAKERS.get(str(action).rpartition(".")[2], ())
    if named_by and not {"_raw_params", "_variable_params"}.isdisjoint(arguments):
        # A template gives all arguments.
        return {".*"}
    values = [arguments.get(name) or () for name in named_by]
    texts = [str(text) for value in values for text in (value if isinstance(value, (list, tuple)) else [value])]
    names = [name.strip() for text in texts for name in TEMPLATE.sub("\0", text).split(",")]
    # Blanks in names of groups become hyphens.
    return {".*".join(re.escape(part.replace(" ", "-")) for part in name.split("\0")) for name in names}


def planned(inventory, pattern):
    """The hosts of a play in all batches. ansible makes up a localhost if the inventory has none."""
    hosts = inventory.get_hosts(pattern, ignore_restrictions=True)
    return [host.get_name() for host in hosts if not getattr(host, "implicit", False)]


def tasks_in(blocks):
    """The tasks of blocks and of those within them, without those that only run after a failure."""
    for entry in blocks:
        yield from tasks_in([*entry.block, *entry.always]) if hasattr(entry, "always") else [entry]


def has_tasks_for_each(play):
    """Whether the play has tasks for each of its hosts, among those that the tags choose."""
    variables = play.get_variable_manager().get_vars(play=play)
    chosen = (block.filter_tagged_tasks(variables) for block in play.compile())
    return any(not is_meta(task) and not task.run_once for task in tasks_in(chosen))


def listed(hosts):
    return {"count": len(hosts), "hosts": hosts[:REMEMBERED_HOSTS]}


def load_masking(root):
    """The module that the entrypoint uses too."""
    found = importlib.util.spec_from_file_location("kubeonkube_masking", root + "/conf/kubeonkube_masking.py")
    masking = importlib.util.module_from_spec(found)
    found.loader.exec_module(masking)
    return masking


def merged(old, new):
    """As ansible combines the values of several `set_stats` tasks."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return new
    return {**old, **{key: merged(old[key], value) if key in old else value for key, value in new.items()}}


class Record:
    """Files in the run's scratch folder. With them the entrypoint continues the numbers and makes the summary, even after ansible was killed."""

    def __init__(self, folder):
        when_there_is_room(os.makedirs, folder, 0o777, True)
        self.folder = folder
        self.counters = when_there_is_room(os.open, os.path.join(folder, "counters"), os.O_RDWR | os.O_CREAT, 0o600)
        self.flight = when_there_is_room(os.open, os.path.join(folder, "flight"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        numbers = os.pread(self.counters, 100, 0).split()
        self.event, self.play, self.task = (int(number) for number in numbers) if len(numbers) == 3 else (0, 0, 0)

    def count(self):
        # Fixed width and one write, so that a reader never sees half a number.
        when_there_is_room(os.pwrite, self.counters, b"%20d %20d %20d\n" % (self.event, self.play, self.task), 0)

    def forget_flight(self):
        os.ftruncate(self.flight, 0)
        os.lseek(self.flight, 0, os.SEEK_SET)

    def note_flight(self, entry):
        write_fully(self.flight, encode(entry) + b"\n")

    def save(self, name, value):
        when_there_is_room(self.replace, os.path.join(self.folder, name), encode(value))

    @staticmethod
    def replace(path, data):
        with open(path + ".new", "wb") as file:
            file.write(data)
        os.replace(path + ".new", path)


class Templates:
    """What templates result in with the variables of a host. Lookups that may have effects fail, also those in the variables of other hosts."""

    # Of this thread. Another one may get the result of a task meanwhile.
    asked = threading.local()

    @classmethod
    def guard_lookups(cls):
        find = lookup_loader.get

        def find_reader(name, *args, **kwargs):
            if getattr(cls.asked, "is_now", False) and name.removeprefix("ansible.builtin.").removeprefix("ansible.legacy.") not in READERS:
                raise AnsibleError(f"{name} may have effects")
            return find(name, *args, **kwargs)

        lookup_loader.get = find_reader

    def __init__(self, loader, variables):
        self.variables, self.templar, self.results = variables, Templar(loader=loader, variables=variables), {}

    def result_of(self, template):
        """None if it has none, or none yet: ansible reports the reason when it needs the variable."""
        text = str(template)
        if text not in self.results:
            self.asked.is_now = True
            try:
                self.results[text] = self.templar.template(template)
            except Exception:  # noqa: BLE001 - of any kind, from filters and lookups
                self.results[text] = None
            finally:
                self.asked.is_now = False
        return self.results[text]

    def names(self):
        """The names in the templates so far, and in the variables that they name."""
        names, texts = set(), list(self.results)
        while texts:
            found = set(NAME.findall(texts.pop())) - names
            names |= found
            texts += [text for name in found.difference(MAGIC) for text in texts_in(self.variables.get(name)) if "{{" in text or "{%" in text]
        return names


def texts_in(value):
    """The texts in dicts and lists, which may contain themselves. Without encrypted ones."""
    left, seen = [value], set()
    while left:
        value = left.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, (dict, list, tuple)) and id(value) not in seen:
            seen.add(id(value))
            left += value.values() if isinstance(value, dict) else value


def is_registered(value):
    """Whether the value of a variable is the result of a task."""
    return isinstance(value, dict) and "changed" in value and ("failed" in value or "results" in value)


def secret_result(result):
    """What of the result of a task may be the secret that its name announces: texts of one word."""
    found = {key: str(result.get(key) or "").strip() for key in RESULTS}
    return {key: value for key, value in found.items() if value and not value.split()[1:]}


def is_equal(one, other):
    try:
        return bool(one == other)
    except Exception:  # noqa: BLE001 - encrypted values without a password
        return False


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "kubeonkube_events"
    CALLBACK_NEEDS_ENABLED = True
    CALLBACK_NEEDS_WHITELIST = True

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.root = root = os.environ.get("KUBEONKUBE_ROOT", "")
        try:
            with open(root + "/conf/token", encoding="ascii") as file:
                self.token = file.read().strip()
            self.record = Record(root + "/work-kubeonkube/run")
        except (OSError, ValueError):
            self.disabled = True
            return
        # Of its files, the user knows the names.
        self.folders = re.compile(r"(?<![\w./~-])" + re.escape(root) + "/(?:conf/sources/[0-9]+|kubespray)/")
        self.masking = load_masking(root)
        self.masker = self.masking.Masker.of_run(root)
        Templates.guard_lookups()
        self.hosts = set()  # (folder, host) whose variables have been searched for secrets
        self.roles = {}  # path -> whether it has templates under secret names, the names of its variables
        self.named = {}  # host -> names in the templates under its secret names
        self.related = set()  # hosts of which a template names other hosts or groups
        self.of_play = {}  # the variables of the play and its roles
        self.read_roles = set()  # (host, path of a role) that were searched together
        self.unread = set()  # hosts whose variables have changed since they were searched
        self.names = set()  # of hosts and groups
        self.unordered = False
        self.tasks = {}  # task uuid -> (number, name) in this play
        self.running = {}  # (task number, host) -> start of the task or of its current item
        self.failures = {}  # host -> its last failure, which counts if the host failed in the end
        self.reached = set()  # hosts that a result came from
        self.here = set()  # hosts with tasks of their own that are meant to run on the controller
        self.has_delegated = False  # whether a result came from another machine than the task's host
        self.lost = set()  # hosts with a failure that counts
        self.planned_for = None  # the numbers of hosts and groups when the plays were planned
        self.unreachable = set()  # hosts that were not reached, which their task ignores
        self.gone = {}  # (task number, host) -> for each item that was unreachable: its delegate, or ""
        self.misled = collections.Counter()  # host -> tasks whose delegate was unreachable, which ansible counts as unreachability of the host
        self.plays = {}  # play uuid -> the play
        self.plans = {}  # play uuid -> (its hosts in all batches, those of the batches that have begun), both in the inventory's order
        self.iterator = None  # of ansible, for the newest batch: which tasks each host has to come
        self.done = (0, set())  # (task number, hosts): hosts without further tasks, when this task failed on another host
        self.started = set()  # hosts that a task has started on
        self.is_saved = True  # whether result.json has the end of all playbooks so far
        self.makes = set()  # patterns for the names of groups and hosts that tasks so far may have made
        self.unmatched = []  # plays of the user without hosts, each with the reason
        self.play = None
        self.removed = {}  # host -> how often the play had removed it after the last failure
        self.rescued = None  # the first failure that a `rescue` took over from on one host only
        self.pretended = collections.Counter()  # host -> changes of tasks that only check, in a run that isn't a check
        self.made = collections.Counter()  # host -> changes of tasks that don't only check, in a run that is a check
        self.outcomes = {}  # host, or None for the run -> what was published
        atexit.register(lambda: self.is_saved or self.save_unfinished())

    # -- writing -----------------------------------------------------------------------------------------------------

    def emit(self, kind, **fields):
        self.record.event += 1
        event = {"n": self.record.event, "at": int(time.time() * 1000), "type": kind, **fields}
        self.record.count()
        sys.stdout.flush()  # ansible's own line comes before its event
        write_fully(1, b"\x1e" + self.token.encode("ascii") + b" " + encode(event) + b"\n")

    def shown(self, text):
        """`text` without secrets, and without what a terminal doesn't show: colours, and what a line was before a carriage return. Characters
        that reverse the text are shown by their number."""
        masked = self.masker.value(self.visible(text))
        plain = without_rests(masked)
        return self.masking.unreversed(masked if plain == masked else self.masker.value(plain))

    def visible(self, text):
        lines = (line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
        return self.masking.INVISIBLE.sub("", "\n".join(lines))

    def message_of(self, result, task, delegate):
        """The sentence about a failed result of the task, or of one of its items."""
        # Of gathering facts.
        modules = result.get("failed_modules")
        first = next(iter(modules.values()), None) if isinstance(modules, dict) else None
        if isinstance(first, dict):
            result = first
        if str(result.get("msg")).endswith(UNKNOWN) and result.get("message"):
            result = {**result, "msg": f"Action failed: {result['message']}"}
        # Mask before anything is cut.
        texts = {key: self.shown(value) if isinstance(value, str) else value for key, value in result.items()}
        for key in ("msg", "reason", "message"):
            if isinstance(texts.get(key), str):
                is_own = self.is_own_text(texts[key], result, task)
                texts[key] = self.folders.sub("", texts[key]) if is_own else self.as_known(texts[key], task)
        message = failure_message(texts, self.shown)
        is_named = result.get("unreachable") and delegate and "{" not in delegate
        return cut(f"{self.shown(delegate)} was unreachable: {message}", MESSAGE_LIMIT) if is_named else message

    def is_own_text(self, text, result, task):
        """Whether the text of a result is that of the playbook's author or of a module, and not an error of ansible."""
        if str(task.action).rpartition(".")[2] in SPEAKERS:
            return not PLACE.search(text) and not OF_TEMPLATE.search(text)
        return any(name in result for name in ("invocation", "rc")) and "\nSearched in:" not in text and "on the Ansible Controller" not in text

    def as_known(self, text, task):
        """An error without the folders of the run and those that were searched. With its place, if it is about the task's text."""
        found = PLACE.search(text)
        place = f"{found[1]}:{found[2]}" if found else OF_TASK.search(text) and task.get_path()
        path, _, line = (place or "").rpartition(":")
        syntax = YAML_ERROR.search(text)
        text = f"Syntax Error while loading YAML: {syntax[1]}" if syntax else BEFORE_ERROR.sub("", AFTER_ERROR.sub("", text))
        text = re.sub(r"^(the role '.*?' was not found) in .*", r"\1", text, flags=re.IGNORECASE).replace("variable.. ", "variable. ")
        return self.folders.sub("", f"{path}, line {line}: {text}" if path else text)

    def name_encrypted(self, message, task, host):
        """`message` with the names of the encrypted variables: those in the task's templates, or all that the host has. None if the text of
        the task is encrypted."""
        if is_encrypted(task.args):
            return message
        try:
            variables = self.variables_of(host, task)
        except Exception:  # noqa: BLE001 - see learn_variables()
            return message
        # `vars` has all of them again.
        names = [name for name, value in variables.items() if name != "vars" and is_encrypted(value)]
        templates = " ".join(re.findall(r"{{.*?}}", str(task.args)) + [str(test) for test in task.when])
        named = [name for name in names if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", templates)] or names
        return cut(f"{', '.join(named[:REMEMBERED_HOSTS])}: {message}" if named else message, MESSAGE_LIMIT)

    # -- secrets -------------------------------------------------------------------------------------------------------

    def learn(self, values):
        """Masks these values from now on, here and in all output of ansible."""
        new = self.masker.add(values)
        if new:
            names = self.masking.names_with(self.masker.rule, new, self.names)
            self.masker.names |= frozenset(names)
            sys.stdout.flush()
            write_fully(1, b"\x1e" + self.token.encode("ascii") + b" " + encode({"secrets": new, "names": names}) + b"\n")

    def learn_variables(self, read, host=None):
        """Masks the secrets in the variables that `read` returns, for a host with what their templates result in. If they can't be read,
        ansible reports the reason when it needs them. Returns whether templates are left, because there is no host to ask for."""
        unasked = []
        try:
            variables = read()
            templates = Templates(self.play._loader, variables) if host else None
            searched = self.without_results(variables) if host else variables
            values = self.masking.secrets_of(self.masker.rule, searched, templates.result_of if host else unasked.append)
            if host:
                self.note_names(host, templates.names())
        except Exception:  # noqa: BLE001 - of any kind, from plugins and templates
            return False
        self.learn(values)
        return bool(unasked)

    def without_results(self, variables):
        """Variables, with only the secret of what tasks have registered under secret names. The rest counts under no name."""
        results = {name: value for name, value in variables.items() if is_registered(value) and self.masker.rule.is_secret(name)}
        return {**variables, **{name: secret_result(value) for name, value in results.items()}, "": list(results.values())}

    def note_names(self, host, names):
        self.named[host] = self.named.get(host, frozenset()) | names
        if not names.isdisjoint(("hostvars", "groups")):
            self.related.add(host)

    def learn_play(self, play):
        """Variables of the play, and of each host: of the inventory, of files beside the playbook, and encrypted ones."""
        try:
            manager = play.get_variable_manager()
            hosts = manager._inventory.get_hosts(play.hosts)
            self.names.update(manager._inventory.hosts, manager._inventory.groups)
            folder, has_files = play._loader.get_basedir(), bool(play.get_vars_files())
            changed = self.changed_by(play)
        except Exception:  # noqa: BLE001 - see learn_variables()
            return
        self.learn_variables(lambda: manager.get_vars(play=play))
        has_templates = self.learn_variables(lambda: {name: self.of_play[name] for name in changed if name in self.of_play})
        for host in hosts:
            # They differ in another play only if it is in another folder, reads files, or has variables that count for secrets.
            if (folder, host.get_name()) not in self.hosts or has_files or has_templates or not changed.isdisjoint(self.named.get(host, ())):
                self.hosts.add((folder, host.get_name()))
                self.learn_host(host)

    def changed_by(self, play):
        """The names of variables that the play and its roles have, and the play before hadn't, or the other way round."""
        before, self.of_play = self.of_play, {}
        for read in (*(role.get_default_vars for role in play.roles), play.get_vars, *(role.get_vars for role in play.roles)):
            self.of_play.update(read())
        return {name for name in {*before, *self.of_play} if name not in before or name not in self.of_play or not is_equal(before[name], self.of_play[name])}

    def learn_host(self, host, task=None):
        self.unread.discard(host)
        self.learn_variables(lambda: self.variables_of(host, task), host)

    def variables_of(self, host, task=None):
        read = self.play.get_variable_manager().get_vars
        # Before 2.16, ansible would call the lookups of the task's loop.
        options = {"include_delegate_to": False} if "include_delegate_to" in inspect.signature(read).parameters else {}
        return read(play=self.play, host=host, task=task, **options)

    def learn_task(self, task):
        self.learn_variables(task.get_vars)
        self.learn_variables(lambda: task.args)
        role = task._role
        if role is not None and role._role_path not in self.roles:
            has_templates = self.learn_variables(role.get_default_vars) | self.learn_variables(role.get_vars)
            self.roles[role._role_path] = (has_templates, {*role.get_default_vars(), *role.get_vars()})
        # With other strategies, hosts are at other tasks.
        for host in () if self.unordered else tuple(self.unread):
            self.learn_host(host, task)

    def learn_changed(self, host, task):
        """What the host has now, before the task prints it. Not earlier: ansible sets variables after it has reported the result."""
        path = task._role and task._role._role_path
        has_templates, names = self.roles.get(path, (False, ()))
        is_new = (has_templates or not self.named.get(host, frozenset()).isdisjoint(names)) and (host, path) not in self.read_roles
        if is_new or host in self.unread:
            self.read_roles.add((host, path))
            self.learn_host(host, task)

    def learn_result(self, result, names=frozenset()):
        """Variables that the task has set, and those with these `names`, which ansible has set."""
        task, values = result._task, result._result
        action, facts = str(task.action).rpartition(".")[2], values["ansible_facts"] if isinstance(values.get("ansible_facts"), dict) else {}
        is_setter = action in SETTERS
        if is_setter and self.learn_variables(lambda: plain([facts, values.get("add_host")])):
            self.unread.add(result._host)
        if task.register and self.masker.rule.is_secret(str(task.register)):
            self.learn([value for value in secret_result(values).values() if len(value) >= self.masker.rule.shortest_line])
        names = {*names, *facts, *(["ansible_facts"] if facts else ()), *([str(task.register)] if task.register else ())}
        if action in MAKERS:
            names |= {"groups", "group_names", *self.note_made(result)}
        # The result of a task with `no_log` doesn't say what it has set.
        is_unknown = "censored" in values and bool(is_setter or task.register)
        if not names and not is_unknown:
            return
        for host in self.named if task.run_once or task.delegate_facts else {result._host, *self.related}:
            named = self.named.get(host, frozenset())
            # A template with `vars` may name any variable.
            if (is_unknown and host == result._host) or (named and (is_unknown or "vars" in named or not names.isdisjoint(named))):
                self.unread.add(host)

    def note_made(self, result):
        """Notes hosts that a task has put into groups. Returns the names of variables that it has set."""
        made = result._result.get("add_host")
        made = made if isinstance(made, dict) else {}
        hosts = self.play.get_variable_manager()._inventory.hosts
        host = hosts.get(made.get("host_name")) if made else result._host
        if host:
            self.unread.add(host)
        return made.get("host_vars") or ()

    # -- plays and tasks -----------------------------------------------------------------------------------------------

    def v2_playbook_on_start(self, playbook):
        self.is_saved = False
        self.plays.update((play._uuid, play) for play in playbook.get_plays())
        self.plan_hosts()

    def v2_playbook_on_vars_prompt(self, varname, private=True, prompt=None, encrypt=None, confirm=False, salt_size=None, salt=None, default=None, unsafe=None):
        """Ends the run if it needs an answer: without a terminal, ansible would go on with `None`."""
        if default is None:
            self._display.display(f"ERROR! The playbook asks for the variable '{varname}' (vars_prompt), and a run can't ask. Set it in the variables of the "
                                  "cluster or in the arguments of the operation", stderr=True)
            sys.exit(1)

    def v2_playbook_on_play_start(self, play):
        self.record.play += 1
        self.tasks = {}
        self.running = {}
        self.play = play
        self.iterator = None
        self.removed = {}
        self.unordered = str(play.strategy) in UNORDERED_STRATEGIES
        self.learn_play(play)
        self.begin_batch(play)
        self.emit("play_start", play=self.record.play, name=self.shortly(play.get_name()))

    def plan_hosts(self):
        """Notes the hosts of the plays that haven't begun, as far as they are known: at first, and when the inventory has grown."""
        inventory = next((play.get_variable_manager()._inventory for play in self.plays.values()), None)
        numbers = (len(self.plays), len(inventory.hosts), len(inventory.groups)) if inventory else None
        if numbers == self.planned_for:
            return
        self.planned_for = numbers
        for uuid, play in self.plays.items():
            _, begun = self.plans.setdefault(uuid, ((), {}))
            if begun:
                continue
            try:
                pattern, manager = play.hosts, play.get_variable_manager()
                if LOOKUP.search(str(pattern)):
                    continue  # It may have effects.
                if "{{" in str(pattern):
                    pattern = Templar(loader=play._loader, variables=manager.get_vars(play=play)).template(pattern)
                # ansible would warn of a group that a task makes later.
                is_known = all(is_matched(manager._inventory, part) for part in parts_of(pattern))
                self.plans[uuid] = (planned(manager._inventory, pattern) if is_known else (), begun)
            except Exception:  # noqa: BLE001 - ansible reports it when it needs the hosts
                continue

    def begin_batch(self, play):
        """Notes the hosts of the play's next batch, which are those that ansible has restricted the inventory to."""
        try:
            inventory = play.get_variable_manager()._inventory
            hosts = inventory.get_hosts(play.hosts)
            _, begun = self.plans.get(play._uuid, ((), {}))
            batch = dict.fromkeys(host.get_name() for host in hosts)
            self.plans[play._uuid] = (planned(inventory, play.hosts), {**begun, **batch})
            self.done = (0, self.done[1].difference(batch))
            # A limit leaves hosts out on purpose.
            if not hosts and self.is_own(play) and not inventory.get_hosts(play.hosts, ignore_limits=True, ignore_restrictions=True):
                why = self.why_unmatched(play, inventory)
                self.unmatched += [why] if why else []
        except Exception:  # noqa: BLE001 - see plan_hosts()
            return

    def is_own(self, play):
        """Whether the play is in a file of the user. Those of an image have plays without hosts on purpose."""
        return os.path.realpath(play.get_path()).startswith(os.path.realpath(self.root + "/conf/sources") + "/")

    def why_unmatched(self, play, inventory):
        """A play without hosts, with what it names and the inventory doesn't have. If there is no such name, with its whole pattern. None if
        tasks make such names: "one play per system" has plays without hosts on purpose."""
        missing = [part.lstrip("&") for part in parts_of(play.hosts) if not part.startswith("!") and not is_matched(inventory, part)]
        missing = [name if name.startswith("~") else SUBSCRIPT.sub("", name) for name in missing]
        names = [name for name in missing if not self.may_be_made(name)][:REMEMBERED_PLAYS]
        if missing and not names:
            return None
        shown = {"play": self.shortly(play.get_name()), "names": list(map(self.shortly, names))}
        return shown if names else {**shown, "pattern": self.shortly(",".join(map(str, play.hosts)))}

    def may_be_made(self, name):
        """Whether tasks so far may have made this group or host. Two patterns can't be compared."""
        return bool(self.makes and WILDCARD.search(name)) or any(re.fullmatch(made, name) for made in self.makes)

    def shortly(self, name):
        return cut(self.shown(str(name)), ITEM_LIMIT)

    def find_iterator(self):
        """No callback gets ansible's iterator, but the strategy that calls them has it."""
        frame = sys._getframe()
        while self.iterator is None and frame:
            found = frame.f_locals.get("iterator")
            self.iterator = found if isinstance(found, PlayIterator) else None
            frame = frame.f_back
        return self.iterator

    def note_done(self, task):
        """Notes the hosts without further tasks. The failure of this task may end the play, and then ansible forgets their tasks."""
        number, _ = self.known(task)
        if number == self.done[0] or not self.find_iterator():
            return
        self.done = (number, set())
        # A task that runs once has failed for all of them, and what an include contains is to come.
        if task.run_once or str(task.action).rpartition(".")[2] in INCLUDES:
            return
        try:
            hosts = filter(None, map(self.play.get_variable_manager()._inventory.hosts.get, self.iterator.host_states))
            self.done[1].update(host.get_name() for host in hosts if not self.iterator.is_failed(host) and not self.has_tasks(host))
        except Exception:  # noqa: BLE001 - a strategy may keep its places elsewhere
            return

    def has_tasks(self, host):
        state = self.iterator.get_host_state(host)
        while True:
            state, task = self.iterator._get_next_task_from_state(state, host)
            if task is None or not is_meta(task):
                return task is not None

    def is_unfinished(self, host, done):
        """Whether the newest play isn't done with the host. It is, if `meta` ended the play for the host."""
        state = self.iterator.get_host_state(host)
        if state.run_state == IteratingStates.COMPLETE and not self.iterator.is_failed(host):
            return False
        handlers = [handler for block in self.iterator._play.handlers for handler in block.block]
        is_notified = getattr(state, "handler_notifications", ()) or any(handler.is_host_notified(host) for handler in handlers)
        return bool(is_notified) or host.get_name() not in done

    def hosts_left(self, failed, done=()):
        """The hosts that the playbook isn't done with, without those that failed: the unfinished hosts of its newest batch, those of later
        batches, and those of plays that haven't begun.

        After `any_errors_fatal` in a block with `always`, hosts that ran all of it count as unfinished. Unknown are the hosts of plays whose patterns name what doesn't exist yet, and those of further playbooks of the same command."""
        self.plan_hosts()
        left = set()
        plans = list(self.plans.values())
        last = max((number for number, (_, begun) in enumerate(plans) if begun), default=0)
        # With `meta: end_play`, the play is done with the later batches, too.
        first = last + bool(self.iterator and self.iterator.end_play)
        left.update(host for hosts, begun in plans[first:] for host in hosts if host not in begun)
        try:
            known = self.play.get_variable_manager()._inventory.hosts
            hosts = filter(None, map(known.get, self.iterator.host_states if self.iterator else ()))
            left.update(host.get_name() for host in hosts if self.is_unfinished(host, done))
        except Exception:  # noqa: BLE001 - without a play; see note_done()
            pass
        return self.in_order(left.difference(failed))

    def hosts_passed_over(self, recap):
        """The hosts without a result, although plays that have begun have tasks for them: `meta` ended the play before the first one."""
        if context.CLIARGS.get("start_at_task"):
            return []
        silent = {uuid: set(hosts).difference(recap) for uuid, (hosts, begun) in self.plans.items() if begun}
        try:
            plays = [self.plays[uuid] for uuid, hosts in silent.items() if hosts]
            return self.in_order(set().union(*(silent[play._uuid] for play in plays if has_tasks_for_each(play))))
        except Exception:  # noqa: BLE001 - without a play; see note_done()
            return []

    def in_order(self, hosts):
        """The hosts in the inventory's order, then those that it doesn't have."""
        places = self.places()
        return sorted(hosts, key=lambda host: (places[host], host))

    def places(self):
        """The places of hosts in the inventory, from 1. Hosts that it doesn't have are last."""
        try:
            hosts = list(self.play.get_variable_manager()._inventory.hosts)
        except Exception:  # noqa: BLE001 - without a play; see note_done()
            hosts = []
        return collections.defaultdict(lambda: len(hosts) + 1, zip(hosts, range(1, len(hosts) + 1)))

    def untouched_hosts(self, recap):
        """The hosts that no task needed a connection to: all were skipped, delegated, or of a kind such as `debug`."""
        known = self.reached | self.here | self.unreachable
        silent = [host for host, counts in recap.items() if host not in known and any(counts.values()) and not counts["failed"] + counts["unreachable"]]
        try:
            manager = self.play.get_variable_manager()
            hosts = [manager._inventory.get_host(host) for host in silent]
            return [host.get_name() for host in hosts if not is_local(manager.get_vars(host=host).get("ansible_connection", ""))]
        except Exception:  # noqa: BLE001 - see learn_variables()
            return []

    def save(self, recap, failures, left, begun):
        """The file from which the entrypoint makes the summary."""
        document = {"recap": recap or None, "failures": self.by_reason(failures), "failed_hosts": len(failures)}
        lists = {
            "unfinished": [host for host in left if host in begun],
            "unreached": [host for host in left if host not in begun],
            "unreachable": self.in_order(self.unreachable.difference(self.reached)),
            "untouched": self.in_order(self.untouched_hosts(recap or {})),
            "made": self.in_order(self.made),
        }
        document["reached"] = bool(self.reached or self.has_delegated)
        document.update({name: listed(hosts) for name, hosts in lists.items() if hosts})
        if self.made:
            document["made_changes"] = sum(self.made.values())
        if self.pretended:
            document["would_change"] = sum(self.pretended.values())
        if self.unmatched:
            document.update(unmatched=self.unmatched[:REMEMBERED_PLAYS], unmatched_plays=len(self.unmatched))
        self.record.save("result.json", document)

    def by_reason(self, failures):
        """The first failures. Hosts on which a task failed with the same message are one failure."""
        tasks = list(dict.fromkeys(failure["task"] for failure in failures.values()))
        reasons = {}
        for host in self.in_order(failures):
            reasons.setdefault((tasks.index(failures[host]["task"]), failures[host]["message"]), []).append(host)
        first = sorted(reasons.items(), key=lambda reason: reason[0][0])[:REMEMBERED_FAILURES]
        shown = [({"host": hosts[0], "task": tasks[task], "message": message}, hosts) for (task, message), hosts in first]
        return [{**failure, "hosts": listed(hosts)} if len(hosts) > 1 else failure for failure, hosts in shown]

    def save_unfinished(self):
        """For a run that ansible gives up, which gets no recap."""
        left = self.hosts_left(self.lost)
        self.save(None, self.failures, left, self.started)
        if left or self.lost:
            self.emit("given_up", left=left, failed=sorted(self.lost))

    def v2_playbook_on_task_start(self, task, is_conditional):
        self.announce(task, handler=False)

    def v2_playbook_on_cleanup_task_start(self, task):
        self.announce(task, handler=False)

    def v2_playbook_on_handler_task_start(self, task):
        self.announce(task, handler=True)

    def announce(self, task, handler):
        if is_meta(task):
            # ansible's recap doesn't count it either.
            self.find_iterator()
        else:
            self.start_task(task, handler)

    def start_task(self, task, handler):
        if self.unordered and task._uuid in self.tasks:
            return self.tasks[task._uuid]
        if self.record.play == 0:
            self.record.play = 1
        self.record.task += 1
        self.find_iterator()
        self.learn_task(task)
        self.makes |= makes(task.action, task.args)
        name = self.shortly(task.get_name())
        self.tasks[task._uuid] = (self.record.task, name)
        if not self.running:
            self.record.forget_flight()
        self.record.note_flight(["task", self.record.task, name])
        action = str(task.action)
        self.emit("task_start", task=self.record.task, play=self.record.play, name=name, action=action, handler=handler)
        return self.tasks[task._uuid]

    def known(self, task):
        """Number and name of a task. A task that ansible didn't announce, which happens, is announced now."""
        return self.tasks.get(task._uuid) or self.start_task(task, handler=False)

    # -- hosts -----------------------------------------------------------------------------------------------------------

    def v2_runner_on_start(self, host, task):
        number, _ = self.known(task)
        self.learn_changed(host, task)
        name = host.get_name()
        self.started.add(name)
        self.running[(number, name)] = time.monotonic()
        self.record.note_flight(["start", number, name])
        self.emit("host_start", task=number, host=name)

    def report(self, result, outcome, message=None, item=False, ignored=False):
        number, task_name = self.known(result._task)
        host = result._host.get_name()
        self.started.add(host)
        delegate = delegate_of(result)
        if is_from_machine(result, outcome, self.play):
            if not delegate:
                self.reached.add(host)
            self.has_delegated = self.has_delegated or bool(delegate) and is_machine(delegate)
        elif not delegate and runs_here(result._task, self.play):
            self.here.add(host)
        # Not in the output of a command.
        if message and UNDECRYPTED in message and not any(name in result._result for name in OF_MODULES):
            message = self.name_encrypted(message, result._task, result._host)
        now = time.monotonic()
        fields = {"task": number, "host": host, "result": outcome}
        fields["ms"] = max(0, int((now - self.running.get((number, host), now)) * 1000))
        if message:
            fields["message"] = message
        if item:
            # The next item starts now.
            self.running[(number, host)] = now
            fields["item"] = self.shortly(self._get_item_label(result._result))
        else:
            self.running.pop((number, host), None)
            self.record.note_flight(["end", number, host])
        if ignored:
            fields["ignored"] = True
        if outcome in ("failed", "unreachable") and not item and not ignored:
            self.remember_failure(host, task_name, message)
        self.emit("host_result", **fields)

    def success(self, result):
        if not result._result.get("changed", False):
            return "ok"
        if self.is_pretended(result):
            return "would_change"
        return "made" if self.is_made(result) else "changed"

    def note_change(self, result):
        """ansible counts the change of a task that succeeded, or whose failure is ignored."""
        if result._result.get("changed", False):
            if self.is_pretended(result):
                self.pretended[result._host.get_name()] += 1
            elif self.is_made(result):
                self.made[result._host.get_name()] += 1

    @staticmethod
    def is_pretended(result):
        """Whether a task of a playbook that changes things has only checked, because of its `check_mode`."""
        return bool(getattr(result._task, "check_mode", False)) and not context.CLIARGS.get("check")

    @staticmethod
    def is_made(result):
        """Whether a task of a playbook that only checks has not, because of its `check_mode`."""
        return bool(context.CLIARGS.get("check")) and not getattr(result._task, "check_mode", True)

    def v2_runner_on_ok(self, result):
        self.learn_result(result)
        self.keep_outcome(result)
        self.note_change(result)
        self.report(result, self.success(result))

    def is_rescued(self, host):
        """Whether a `rescue` takes over from the failure that ansible has just counted. Then the play has not removed the host."""
        before = self.removed.get(host, 0)
        self.note_removed()
        return hasattr(self.play, "_removed_hosts") and self.removed[host] == before

    def note_removed(self):
        # A failure of a task with `run_once` removes all hosts.
        self.removed = collections.Counter(getattr(self.play, "_removed_hosts", ()))

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self.learn_result(result, {"ansible_failed_result"})
        # ansible counts the failure to load an include as failed, and removes the host after it has reported that.
        is_unloaded = "reason" in result._result and str(result._task.action).rpartition(".")[2] in INCLUDES
        host = result._host.get_name()
        is_rescued = not ignore_errors and not is_unloaded and self.is_rescued(host)
        if is_unloaded:
            self.note_removed()
            self.removed[host] += 1
        if ignore_errors:
            self.note_change(result)
        else:
            self.note_done(result._task)
        outcome, message = ("rescued" if is_rescued else "failed"), self.why_failed(result)
        if is_rescued and self.rescued is None and set(self.removed).difference([host]):
            self.rescued = {host: {"task": self.known(result._task)[1], "message": message}}
        self.report(result, outcome, message, ignored=bool(ignore_errors))

    def v2_runner_on_skipped(self, result):
        self.learn_result(result)
        if is_meta(result._task):
            return
        reason = result._result.get("skip_reason") or result._result.get("skipped_reason") or result._result.get("msg")
        self.report(result, "skipped", cut(self.shown(str(reason)), MESSAGE_LIMIT) if reason else None)

    def v2_runner_on_unreachable(self, result):
        self.learn_result(result)
        self.note_removed()
        self.note_done(result._task)
        ignored = bool(getattr(result._task, "ignore_unreachable", False))
        host, is_other = result._host.get_name(), self.is_other_unreachable(result)
        if ignored and not is_other:
            self.unreachable.add(host)
        if is_other and not ignored:
            self.misled[host] += 1
        self.report(result, "failed" if is_other and not ignored else "unreachable", self.why_failed(result), ignored=ignored)

    def is_other_unreachable(self, result):
        """Whether only a machine was unreachable that the task, or an item of it, was delegated to. ansible calls its host unreachable then."""
        return "" not in self.unreachable_of(result)

    def unreachable_of(self, result):
        """The delegates that were unreachable; "" is the task's own host."""
        number, _ = self.known(result._task)
        return self.gone.get((number, result._host.get_name())) or [delegate_of(result)]

    def v2_runner_item_on_ok(self, result):
        self.learn_result(result)
        self.keep_outcome(result)
        self.report(result, self.success(result), item=True)

    def v2_runner_item_on_failed(self, result):
        self.learn_result(result)
        ignored = bool(getattr(result._task, "ignore_errors", False))
        delegate = delegate_of(result)
        if result._result.get("unreachable"):
            number, _ = self.known(result._task)
            self.gone.setdefault((number, result._host.get_name()), []).append(delegate)
        self.report(result, "failed", self.message_of(result._result, result._task, delegate), item=True, ignored=ignored)

    def v2_runner_item_on_skipped(self, result):
        self.report(result, "skipped", item=True)

    def v2_runner_retry(self, result):
        number, _ = self.known(result._task)
        attempt, retries = result._result.get("attempts", 0), result._result.get("retries", 0)
        self.emit("retry", task=number, host=result._host.get_name(), attempt=int(attempt), retries=int(retries))

    def why_failed(self, result):
        """The message of the first failed item, or of the task. ansible's "One or more items failed" doesn't help."""
        items = result._result.get("results")
        for entry in items if isinstance(items, (list, tuple)) else ():
            if isinstance(entry, dict) and (entry.get("failed") or entry.get("unreachable")):
                delegate = self.unreachable_of(result)[0] if entry.get("unreachable") else ""
                return self.message_of(entry, result._task, delegate)
        return self.message_of(result._result, result._task, delegate_of(result))

    # -- the end of a playbook -----------------------------------------------------------------------------------------

    def remember_failure(self, host, task, message):
        self.lost.add(host)
        self.failures[host] = {"task": task, "message": message or ""}
        if len(self.failures) <= SAVED_FAILURES:
            self.save(None, self.failures, (), ())

    def v2_playbook_on_stats(self, stats):
        hosts = {}
        for host in sorted(stats.processed):
            summary = stats.summarize(host)
            summary["failed"] = summary.pop("failures")
            hosts[host] = {key: int(count) for key, count in summary.items()}
            hosts[host]["changed"] -= self.pretended[host]
            hosts[host]["unreachable"] -= self.misled[host]
            hosts[host]["failed"] += self.misled[host]
        lost = [host for host, counts in hosts.items() if counts["failed"] or counts["unreachable"]]
        # The failure of a task that runs once ends the play for all hosts, but a `rescue` saves only the one that it ran on.
        dropped = set(getattr(self.play, "_removed_hosts", ())).difference(lost)
        # A playbook that ends well is done with the hosts of its last play, even if that has no task for them.
        left = self.hosts_left(lost, self.done[1]) if lost or dropped else []
        passed_over = self.hosts_passed_over(hosts) if hosts and not lost and not left else []
        for host in left + passed_over:
            hosts.setdefault(host, dict.fromkeys(next(iter(hosts.values())), 0))
        self.emit_outcomes()
        places = self.places()
        shown = {host: {**counts, "place": places[host], "reached": host in self.reached} for host, counts in hosts.items()}
        for name, numbers in (("made", self.made), ("would_change", self.pretended)):
            for host, changes in numbers.items():
                shown[host][name] = changes
        for host in left:
            shown[host]["left"] = True
        for host in passed_over:
            shown[host]["passed_over"] = True
        for host in self.unreachable.difference(self.reached).intersection(shown):
            shown[host]["out_of_reach"] = True
        for host in self.untouched_hosts(hosts):
            shown[host]["untouched"] = True
        self.emit("stats", hosts=shown)
        if not hosts:
            left = list(dict.fromkeys(host for planned, begun in self.plans.values() for host in (*planned, *begun)))
        self.record.forget_flight()
        # A failure that a `rescue` recovered from doesn't count.
        failures = {host: failure for host, failure in self.failures.items() if host in lost}
        if not lost and left and self.rescued:
            failures = self.rescued
        self.save(hosts, failures, left + passed_over, self.started)
        self.is_saved = True

    def keep_outcome(self, result):
        """Not from ansible's own custom stats: ansible takes these from the result of any module, and a module's result comes from
        the machine."""
        task = result._task
        stats = result._result.get("ansible_stats")
        if str(getattr(task, "resolved_action", None) or task.action) not in SET_STATS or not isinstance(stats, dict):
            return
        published = plain(stats.get("data") or {}).get("kubeonkube_outcome")
        if isinstance(published, dict):
            scope = result._host.get_name() if stats.get("per_host", True) else None
            old = self.outcomes.get(scope) if stats.get("aggregate") else None
            self.outcomes[scope] = merged(old, published)

    def emit_outcomes(self):
        """`set_stats` with `kubeonkube_outcome: {KEY: VALUE}`; with `per_host: true` the value becomes {HOST: VALUE}."""
        outcomes = {}
        for scope, published in self.outcomes.items():
            for key, value in published.items():
                if scope is None:
                    outcomes[key] = value
                else:
                    hosts = outcomes.setdefault(key, {})
                    if isinstance(hosts, dict):
                        hosts[scope] = value
        for key, value in outcomes.items():
            self.emit("outcome", key=key, value=self.masker.structure(value))
