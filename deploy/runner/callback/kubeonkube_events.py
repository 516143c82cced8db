# SPDX-License-Identifier: Apache-2.0
"""Writes numbered one-line events between ansible's own output.

Every event is one write to stdout: the RFC 7464 record separator, the run's token, a space, compact JSON, a newline. The
plugin needs the standard library only and works with every ansible-core from 2.14 on, so it can be mounted into any image.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
    name: kubeonkube_events
    type: notification
    short_description: numbered machine-readable events of a run
    description:
      - Writes one JSON event per line for plays, tasks, results of hosts and items, retries, the recap and outcomes.
      - Stays silent outside of a kubeonkube run, where the token file is missing.
    requirements:
      - set as one of ANSIBLE_CALLBACKS_ENABLED
"""

# Enough for a list; the log contains the full text.
MESSAGE_LIMIT = 1000
ITEM_LIMIT = 200
# More failures than this don't help a person.
REMEMBERED_FAILURES = 50
# With these strategies each host runs through the tasks at its own speed, and ansible announces a task once per host.
UNORDERED_STRATEGIES = ("free", "host_pinned", "ansible.builtin.free", "ansible.builtin.host_pinned")


def write_fully(fd, data):
    """Writes everything, even to a pipe in non-blocking mode."""
    while data:
        try:
            data = data[os.write(fd, data):]
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


def last_line(text):
    lines = [line.strip() for line in str(text or "").splitlines() if line.strip()]
    return lines[-1] if lines else ""


def host_key_refusal(message):
    """A short text for ssh's message of ten lines, or None."""
    if "REMOTE HOST IDENTIFICATION HAS CHANGED" in message:
        return "The host key of this machine is not the confirmed one. It was reinstalled, or the connection may be intercepted."
    if "Host key verification failed" in message or "host key is known" in message:
        return "The host key of this machine has not been confirmed."
    return None


def failure_message(result):
    """The most helpful sentence about why a task failed."""
    message = str(result.get("msg") or result.get("reason") or result.get("censored") or "").strip()
    if not message or message == "non-zero return code" or message.startswith("MODULE FAILURE"):
        detail = last_line(result.get("stderr")) or last_line(result.get("module_stderr")) or last_line(result.get("stdout"))
        if detail and detail not in message:
            message = f"{message}: {detail}" if message else detail
    return host_key_refusal(message) or cut(message or "failed without a message", MESSAGE_LIMIT)


class Record:
    """Files in the run's scratch folder. With them the entrypoint continues the numbers and makes the summary, even after ansible was killed."""

    def __init__(self, folder):
        os.makedirs(folder, exist_ok=True)
        self.folder = folder
        self.counters = os.open(os.path.join(folder, "counters"), os.O_RDWR | os.O_CREAT, 0o600)
        self.flight = os.open(os.path.join(folder, "flight"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        numbers = os.pread(self.counters, 100, 0).split()
        self.event, self.play, self.task = (int(number) for number in numbers) if len(numbers) == 3 else (0, 0, 0)

    def count(self):
        # Fixed width and one write, so that a reader never sees half a number.
        os.pwrite(self.counters, b"%20d %20d %20d\n" % (self.event, self.play, self.task), 0)

    def forget_flight(self):
        os.ftruncate(self.flight, 0)
        os.lseek(self.flight, 0, os.SEEK_SET)

    def note_flight(self, entry):
        write_fully(self.flight, encode(entry) + b"\n")

    def save(self, name, value):
        path = os.path.join(self.folder, name)
        with open(path + ".new", "wb") as file:
            file.write(encode(value))
        os.replace(path + ".new", path)


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "kubeonkube_events"
    CALLBACK_NEEDS_ENABLED = True
    CALLBACK_NEEDS_WHITELIST = True

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        root = os.environ.get("KUBEONKUBE_ROOT", "")
        try:
            with open(root + "/conf/token", encoding="ascii") as file:
                self.token = file.read().strip()
            self.record = Record(root + "/work-kubeonkube/run")
        except (OSError, ValueError):
            self.disabled = True
            return
        self.unordered = False
        self.tasks = {}  # task uuid -> (number, name) in this play
        self.running = {}  # (task number, host) -> start of the task or of its current item
        self.failures = []

    # -- writing -----------------------------------------------------------------------------------------------------

    def emit(self, kind, **fields):
        self.record.event += 1
        event = {"n": self.record.event, "at": int(time.time() * 1000), "type": kind, **fields}
        self.record.count()
        sys.stdout.flush()  # ansible's own line comes before its event
        write_fully(1, b"\x1e" + self.token.encode("ascii") + b" " + encode(event) + b"\n")

    # -- plays and tasks -----------------------------------------------------------------------------------------------

    def v2_playbook_on_play_start(self, play):
        self.record.play += 1
        self.tasks = {}
        self.running = {}
        self.unordered = str(play.strategy) in UNORDERED_STRATEGIES
        self.emit("play_start", play=self.record.play, name=cut(play.get_name(), ITEM_LIMIT))

    def v2_playbook_on_task_start(self, task, is_conditional):
        self.start_task(task, handler=False)

    def v2_playbook_on_cleanup_task_start(self, task):
        self.start_task(task, handler=False)

    def v2_playbook_on_handler_task_start(self, task):
        self.start_task(task, handler=True)

    def start_task(self, task, handler):
        if self.unordered and task._uuid in self.tasks:
            return self.tasks[task._uuid]
        if self.record.play == 0:
            self.record.play = 1
        self.record.task += 1
        name = cut(task.get_name(), ITEM_LIMIT)
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
        name = host.get_name()
        self.running[(number, name)] = time.monotonic()
        self.record.note_flight(["start", number, name])
        self.emit("host_start", task=number, host=name)

    def report(self, result, outcome, message=None, item=False, ignored=False):
        number, task_name = self.known(result._task)
        host = result._host.get_name()
        now = time.monotonic()
        fields = {"task": number, "host": host, "result": outcome}
        fields["ms"] = max(0, int((now - self.running.get((number, host), now)) * 1000))
        if message:
            fields["message"] = message
        if item:
            # The next item starts now.
            self.running[(number, host)] = now
            fields["item"] = cut(self._get_item_label(result._result), ITEM_LIMIT)
        else:
            self.running.pop((number, host), None)
            self.record.note_flight(["end", number, host])
        if ignored:
            fields["ignored"] = True
        if outcome in ("failed", "unreachable") and not item and not ignored:
            self.remember_failure(host, task_name, message)
        self.emit("host_result", **fields)

    @staticmethod
    def success(result):
        return "changed" if result._result.get("changed", False) else "ok"

    def v2_runner_on_ok(self, result):
        self.report(result, self.success(result))

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self.report(result, "failed", self.loop_failure(result) or failure_message(result._result), ignored=bool(ignore_errors))

    def v2_runner_on_skipped(self, result):
        reason = result._result.get("skip_reason") or result._result.get("skipped_reason") or result._result.get("msg")
        self.report(result, "skipped", cut(reason, MESSAGE_LIMIT) if reason else None)

    def v2_runner_on_unreachable(self, result):
        ignored = bool(getattr(result._task, "ignore_unreachable", False))
        self.report(result, "unreachable", failure_message(result._result), ignored=ignored)

    def v2_runner_item_on_ok(self, result):
        self.report(result, self.success(result), item=True)

    def v2_runner_item_on_failed(self, result):
        ignored = bool(getattr(result._task, "ignore_errors", False))
        self.report(result, "failed", failure_message(result._result), item=True, ignored=ignored)

    def v2_runner_item_on_skipped(self, result):
        self.report(result, "skipped", item=True)

    def v2_runner_retry(self, result):
        number, _ = self.known(result._task)
        attempt, retries = result._result.get("attempts", 0), result._result.get("retries", 0)
        self.emit("retry", task=number, host=result._host.get_name(), attempt=int(attempt), retries=int(retries))

    @staticmethod
    def loop_failure(result):
        """The message of the first failed item. ansible's own "One or more items failed" doesn't help."""
        items = result._result.get("results")
        for entry in items if isinstance(items, (list, tuple)) else ():
            if isinstance(entry, dict) and entry.get("failed"):
                return failure_message(entry)
        return None

    # -- the end of a playbook -----------------------------------------------------------------------------------------

    def remember_failure(self, host, task, message):
        if len(self.failures) < REMEMBERED_FAILURES:
            self.failures.append({"host": host, "task": task, "message": message or ""})
            self.record.save("result.json", {"recap": None, "failures": self.failures})

    def v2_playbook_on_stats(self, stats):
        hosts = {}
        for host in sorted(stats.processed):
            summary = stats.summarize(host)
            summary["failed"] = summary.pop("failures")
            hosts[host] = {key: int(count) for key, count in summary.items()}
        self.emit_outcomes(stats)
        self.emit("stats", hosts=hosts)
        self.record.forget_flight()
        self.record.save("result.json", {"recap": hosts or None, "failures": self.final_failures(hosts)})

    def final_failures(self, hosts):
        """A failure that a `rescue` recovered from doesn't count. Of a host that failed in the end, the last failed task counts."""
        last = {}
        for failure in self.failures:
            last[failure["host"]] = failure
        lost = [host for host, counts in hosts.items() if counts["failed"] or counts["unreachable"]]
        return [failure for failure in self.failures if failure["host"] in lost and last[failure["host"]] is failure]

    def emit_outcomes(self, stats):
        """`set_stats` with `kubeonkube_outcome: {KEY: VALUE}`; with `per_host: true` the value becomes {HOST: VALUE}."""
        outcomes = {}
        for scope, data in stats.custom.items():
            published = data.get("kubeonkube_outcome")
            if not isinstance(published, dict):
                continue
            for key, value in plain(published).items():
                if scope == "_run":
                    outcomes[key] = value
                else:
                    hosts = outcomes.setdefault(key, {})
                    if isinstance(hosts, dict):
                        hosts[str(scope)] = value
        for key, value in outcomes.items():
            self.emit("outcome", key=key, value=value)
