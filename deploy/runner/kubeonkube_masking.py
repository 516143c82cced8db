# SPDX-License-Identifier: Apache-2.0
"""Masks secrets in everything that a run prints or leaves behind, before it is stored anywhere.

The rule is that of server/masking. Its names and patterns are in masking.json, which is generated from there, and
server/masking/tests/in_the_pod.rs compares the results. Here, secrets are known that nothing outside of the pod can know: the private
key, and the variables that ansible decrypts or reads from files of the image.
"""

import ast
import base64
import binascii
import bisect
import functools
import json
import os
import re
import urllib.parse
import warnings

MASK = "••••••"

# Colours as JSON, Python and shells write them within a string.
COLOURS = r"(?:(?<!\\)|(?<=\x1b\\))\\+(?:u001b|x1b|033|e)\[[0-9;:]*m"
# What starts a control string, such as the title of a window.
STRINGS = re.compile("\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f]")
# Colours, and all other escape sequences and control characters: a terminal or a browser doesn't show them, so they may split a secret.
# A string without an end ends with its line.
INVISIBLE = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*(?:[ -/]*[@-~]|[!-/]*)"
    + f"|(?:{STRINGS.pattern})[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\\\|\x9c)?"
    + "|\x1b(?:[ -/]*[0-~]|[!-/]*)|[\0-\x08\x0b-\x1f\x7f-\x9f]|" + COLOURS)
# Characters that reverse the direction of the text that follows. `unreversed` of the server has the same ones.
BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
# For a quick search, as bytes: control characters, and where those above U+007F are.
CONTROLS = bytes(set(range(32)) - {9, 10}) + b"\x7f"
C1 = re.compile(rb"\xc2[\x80-\x9f]")
# Base64 becomes A. Long runs of it may be a private key.
BASE64 = bytes(65 if chr(byte) in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" else 32 for byte in range(256))
WRAPS = (76, 64)
# How often strings are within strings: ansible prints JSON with results of programs, which print JSON, too.
NESTED = 3
# Forms of more bytes are not nested again: each nesting can double a text of quotes.
LARGEST_NESTED = 256 * 1024
# How many notations in_string() writes a text in.
NOTATIONS = 5
LONGEST_QUOTED, LONGEST_ENCODED = 512, 16 * 1024
# Which texts YAML may fold, and how short a line of one may be.
SHORTEST_FOLDED, MOST_FOLDED, SHORTEST_RUN = 48, 48, 24
# Variables of ansible that repeat others, or that describe public keys.
SKIPPED = re.compile("(?:vars|hostvars|groups|group_names|environment|ansible_facts|(?:ansible_)?ssh_host_key_.*)$")
REFERENCES = 5
# How much around a value is looked at to find its word: the name of a host may have 253 characters.
LONGEST_NAME = 256
WORD_BEFORE = {"_-": re.compile(r"[\w-]*\Z"), "_-.": re.compile(r"[\w.-]*\Z")}
WORD_AFTER = {"_-": re.compile(r"[\w-]*"), "_-.": re.compile(r"[\w.-]*")}
# From this many containers on, one that is met again isn't searched again because of the names before it.
MOST_SEARCHED = 200_000
# Flags that may have a value as the next word. A flag begins where its word begins: see Rule.__init__().
FLAGS = re.compile(r"""(?:(?<![\w.-])|(?<=\\[nrt]))--([\w.-]+)(?:[ \t]|\\*["'])""")
# How deeply values are searched.
DEEPEST = 64
# Texts of JSON within each other.
TEXTS = 3
TEMPLATE = re.compile(r"{{|{%")
# Longer texts of Python aren't parsed.
LONGEST_LITERAL = 64 * 1024


def to_bytes(text):
    return text.encode("utf-8", "surrogateescape")


def size(text):
    return len(to_bytes(text))


def has_invisible(text):
    data = to_bytes(text)
    return len(data.translate(None, CONTROLS)) != len(data) or C1.search(data) is not None or ("\\" in text and re.search(COLOURS, text) is not None)


def has_long(text):
    return b"A" * 60 in to_bytes(text).translate(BASE64)


class Rule:
    """Which names and values are secret: see the documentation of server/masking/src/lib.rs."""

    def __init__(self, data):
        self.names, self.harmless, self.pairs = data["names"], data["harmless"], data["pairs"]
        self.shortest, self.shortest_line = data["shortest"], data["shortest_line"]
        self.public_key_starts, self.service_starts, self.form_parts = tuple(data["public_key_starts"]), data["service_starts"], data["form_parts"]
        self.is_secret = functools.lru_cache(maxsize=20_000)(self.judge_name)
        self.template_within, self.budget = data["template_within"], data["budget"]
        patterns = {key: value for key, value in data.items() if isinstance(value, str)}
        # A name without quotes begins where its word begins. Otherwise a long word would be read again from each of its characters.
        patterns["login"] = patterns["login"].replace("\\b(?P<scheme>", "(?<![A-Za-z0-9+.-])(?P<scheme>")
        patterns["assigned"] = patterns["assigned"].replace("(?P<n3>", "(?<![\\w.-])(?P<n3>")
        self.patterns = {key: re.compile(pattern) for key, pattern in patterns.items()}
        self.key = {name: re.compile(pattern) for name, pattern in data["key"].items()}
        names = self.names
        stems = [each["stem"] for each in names["stems"]] + names["edges"] + names["last"] + names["last_after_others"] + [words[0] for words in names["ends"]] + [word for word, _ in names["last_after"]] + ["pw", "auth", "cert"]
        # The value of a secret name can only be after a name with one of these.
        self.stems, self.names_before = stems, re.compile("(?<![\\w.-])([\\w.-]+)[\\\\\"']*[:=]")
        self.file, self.label = re.compile(self.harmless["file"]), re.compile(self.harmless["label"])
        self.ordinary = re.compile(self.harmless["ordinary"])
        self.state, self.key_name = re.compile(self.harmless["state"]), re.compile(self.harmless["key_name"])
        self.hash = re.compile(self.harmless["hash"])
        self.certificates, self.arn = re.compile(self.harmless["certificates"]), re.compile(self.harmless["arn"])
        self.object, self.url, self.key_id, self.cloud_key = (re.compile(self.harmless[kind]) for kind in ("object", "url", "key_id", "cloud_key"))
        self.prose, self.word_of_prose = data["prose"], re.compile(data["prose"]["word"])
        self.message, self.hidden = {kind: re.compile(pattern) for kind, pattern in data["message"].items()}, data["hidden"]
        self.public, self.switches = re.compile(self.harmless["public_keys"]), data["switches"]

    def judge_name(self, name):
        """Whether the value of this variable must not be in a log."""
        lower, names = name.lower(), self.names
        if lower.lstrip("-").replace("-", "_") in names["public"] or ("_" in lower and lower.rsplit("_", 1)[1] in names["pointers"]):
            return False
        words = words_of(name)
        if lower.startswith(names["public_start"]) or ends_with_one(words, [names["public_end"]]):
            return False
        if words and words[-1] in names["references"]:
            return False
        if len(words) > 1 and words[-1] in names["naming"]:
            return False
        if len(words) == 2 and words[0] in names["counting"] and words[1] in names["counted"]:
            return False
        if words and (words[-1] in names["last"] or (words[-1] in names["last_after_others"] and words[-2:-1] not in ([], ["set"]))):
            return True
        if words[-2:-1] != ["version"] and any(words[-1:] == [word] and not set(after).isdisjoint(words[:-1]) for word, after in names["last_after"]):
            return True
        if words in [[name] for name in names["alone"]] or ends_with_one(words, names["ends"]):
            return True
        return any((self.has_stem(word) and not self.is_public(words, at)) or self.is_login(words, at) for at, word in enumerate(words))

    def is_secret_in_dict(self, name, of):
        """Whether the entry `name` of the dict `of` is secret, although its own name doesn't say so: `snmp: {community: …}`."""
        return name.lower() in [word for word, _ in self.names["last_after"]] and self.is_secret(f"{of}_{name}")

    def is_public(self, words, at):
        """Whether the word at `at` is a public key."""
        if at == 0 or words[at] not in ("key", "keys") or words[at - 1] not in self.names["public_words"]:
            return False
        after = words[at + 1:]
        return not after or (len(after) == 1 and after[0] in self.names["of_public_keys"])

    def has_stem(self, word):
        if word.endswith("pw") or any(word.startswith(edge) or word.endswith(edge) for edge in self.names["edges"]):
            return True
        return any(each["stem"] in without(word, each["ordinary"]) for each in self.names["stems"])

    def is_login(self, words, at):
        word, following = words[at], words[at + 1:]
        if following and following[0] not in self.names["contents"]:
            return False
        if word == "cert":
            return not following or following[0] != "manager"
        if word == "authorized":
            return not following or following[0] not in ("key", "keys")
        if word in ("authorization", "authentication"):
            return words[-1] not in self.names["settings"]
        return ("auth" in word and word not in self.names["no_logins"]) or "cert" in without(word, ["certmanager"])

    def holds_secrets(self, name):
        """Whether all values in a dict with this secret name are secret."""
        words = words_of(name) or [""]
        if len(words) > 1 and words[-1] in self.names["collections"]:
            words.pop()
        is_key = "key" in words[-1]
        return (words[-1].endswith("s") and "cert" not in words[-1]) or (self.has_stem(words[-1]) and not is_key) or (is_key and any(word in self.names["keys"] for word in words))

    def describes(self, name, of, is_record):
        """Whether an entry with this name only describes the secrets of its dict, which has the name `of`. In a record, a secret has another
        name."""
        if (words_of(of) or [""])[-1] in self.names["of_accounts"] and not is_record and name.lower() == "user":
            return False
        last = (words_of(name) or [""])[-1]
        return any(last in self.names[kind] for kind in (("pointers", "descriptions", "references") if is_record else ("always_describing",)))

    def is_harmless(self, name, value):
        plain = value.strip().rstrip("\"',").lstrip("\"'").strip() or value.strip()
        if plain.lower() in self.harmless["words"] or self.file.search(plain):
            return True
        if any(kind.search(plain) for kind in (self.state, self.public, self.certificates, self.arn)):
            return True
        if name.lower() in self.harmless["of_labels"] and any(kind.search(plain) for kind in (self.label, self.key_name, self.url)):
            return True
        words = words_of(name)
        if plain in self.harmless["communities"] and any(word.endswith("community") for word in words):
            return True
        if self.object.search(plain) and (ends_with_one(words, self.harmless["of_objects"]) or (words and words[-1].startswith("cert") and "/" in plain)):
            return True
        if (self.url.search(plain) or self.key_id.search(plain)) and ends_with_one(words, self.harmless["of_locations"]):
            return True
        if self.cloud_key.search(plain) and ends_with_one(words, self.harmless["of_cloud_keys"]):
            return True
        return words[-2:] in self.harmless["of_words"] and self.ordinary.search(plain) is not None

    def may_be_value(self, flag, word):
        """Whether the word after a flag may be a secret. Not if it has the name of the flag, as in a description (`--api-key API_KEY`), or
        is the name of a secret of `docker build`."""
        dashed = flag.replace("_", "-")
        first, switches = dashed.split("-")[0], self.switches
        if first in switches["first"] or any(dashed == last or dashed.endswith("-" + last) for last in switches["last"]):
            return False
        if first in switches["doubtful"] and self.patterns["no_value"].search(word):
            return False
        return word != flag.replace("-", "_").upper() and not (flag == "secret" and word.startswith("id="))

    def is_message(self, name, text):
        """Whether the text after a name and a colon is a message, and no secret with this name."""
        of, plain = self.message, text.strip()
        return (
            of["of_keys"].search(name) is not None
            or self.is_prose(text)
            or of["result"].search(f"{name}: {plain}") is not None
            or (self.says_that_it_failed(name, plain) and self.is_plain(plain))
        )

    def says_that_it_failed(self, name, text):
        of = self.message
        if not of["program"].search(name):
            return of["exception"].search(name) is not None
        return of["phrase"].search(text) is not None or (not of["shared"].search(name) and of["failure"].search(text) is not None)

    def is_plain(self, text):
        """Whether a text consists of several plain words, paths, and numbers that it counts."""
        text = self.message["named"].sub("user", text)
        words = [word.lstrip("('\"`").rstrip("()'\"`,.;:!?") for word in text.split(" ")]
        lower = [word.lower() for word in words]
        plain = self.message["plain"]
        return len(words) > 1 and all(plain.search(word) or self.file.search(word) or self.is_counted(lower, at) for at, word in enumerate(words))

    def is_prose(self, text):
        """Whether a text is a sentence that consists of words of messages, and perhaps of paths."""
        words = [word.rstrip(",.;:!?") for word in text.strip(" ").split(" ")]
        if not all(self.word_of_prose.search(word) or self.file.search(word) for word in words):
            return False
        lower = [word.lower() for word in words]
        sentences, messages = self.prose["of_sentences"], self.prose["of_messages"]
        is_file = [self.file.search(word) is not None for word in words]
        if is_file.count(False) < 2 or not any(word in sentences for word in lower):
            return False
        return all(is_file[at] or word in sentences or word in messages or self.is_counted(lower, at) for at, word in enumerate(lower))

    def is_counted(self, lower, at):
        """Whether a word is a number that the words of a sentence count. `lower` are the words in lower case."""
        if not re.fullmatch("[0-9]{1,3}", lower[at]):
            return False
        return lower[at + 1:at + 2] and lower[at + 1] in self.prose["units"] or at > 0 and lower[at - 1] in self.prose["numbered"]

    def lines_with_secrets(self, text, of=""):
        """The lines of a value that may be secret, each without the spaces around it. `of` is the name of the dict that they may be, if it
        is known."""
        lines = text.split("\n")
        is_record = len(lines) > 1 and any(self.names_secret(line.strip()) for line in lines)
        found, column_below = [], 0
        for line in reversed(lines):
            column = len(line) - len(line.lstrip())
            if not self.is_outline(line.strip(), column_below > column, of, is_record):
                found.append(line.strip())
            if line.strip():
                column_below = column
        return found[::-1]

    def is_outline(self, line, has_entries, of, is_record):
        """Whether a line has no secret, so that any file may have it: `data:` above its entries, `kind: Secret`. In a record, another line
        has a secret name."""
        found = self.patterns["outline"].search(line)
        if not found or found["name"] is None:
            return found is not None
        name, value = found["name"], found["value"]
        if value is None:
            return has_entries or found["sign"] != ":"
        # Anyone with the URL of a webhook may call it.
        describes = self.describes(name, of, is_record) and words_of(name)[-1] != "url"
        return name == "apiVersion" or describes or self.is_harmless(name, value)

    def names_secret(self, line):
        found = self.patterns["outline"].search(line)
        return found is not None and found["name"] is not None and self.is_secret(found["name"])

    def may_have_service(self, text):
        return any(start in text for start in self.service_starts)

    def may_have_form(self, text):
        has_dollar = "$" in text
        return any(part in text for part in self.form_parts if has_dollar or not part.startswith("$"))

    def has_assigned(self, text):
        if not self.has_stems(text):
            return False
        return any(map(self.has_stems, self.names_before.findall(text))) or ("--" in text and any(map(self.has_stems, FLAGS.findall(text))))

    def has_stems(self, text):
        lower = text.lower()
        return any(stem in lower for stem in self.stems)

    def references(self, value):
        """The paths that a value consists of: `{{ map.entry }}`, `{{ x | default(entry) }}`."""
        value = value.strip()
        found = [self.reference(value)]
        if value.startswith("{{") and value.endswith("}}") and "{{" not in value[2:]:
            found += [self.reference("{{" + name + "}}") for name in self.patterns["default"].findall(value)]
        return [path for path in found if path]

    def reference(self, value):
        found = self.patterns["reference"].search(value)
        names = tuple(re.findall(r"\w+", self.patterns["no_name"].sub(" ", found[1]))) if found else ()
        before = {"hostvars": 2, "vars": 1}.get(names[0], 0) if names else 0
        return names[min(before, len(names) - 1):] if names else None

    def can_be_searched(self, value):
        return size(value) >= self.shortest and not ("{{" in value and "}}" in value) and not self.is_harmless("", value)

    def is_shown_secret(self, name, value):
        return self.is_secret(name) and self.is_secret_value(name, value)

    def is_secret_value(self, name, value):
        # A title has hidden the secret already: `password=(hidden)`. A value without quotes ends before the last `)`.
        is_marked = (value.startswith(self.hidden) and not value[len(self.hidden):][:1].isalnum()) or value == self.hidden[:-1]
        return size(value) >= self.shortest and value != MASK and not is_marked and not self.is_filled_in(value) and not self.is_harmless(name, value)

    def is_filled_in(self, value):
        plain = value.lstrip("\"'\\")
        is_of_shell = plain.startswith(("$", "`")) and not self.hash.search(plain)
        return is_of_shell or b"{{" in to_bytes(value[: self.template_within])[: self.template_within]


def words_of(name):
    """The words of a name in lower case: `apiKey`, `api_key` and `api-key` have the same two."""
    return re.findall(r"[^\W_]+", re.sub(r"(?<=[^\W\d_A-Z])(?=[A-Z])", " ", name).lower())


def ends_with_one(words, endings):
    return any(words[-len(last):] == last for last in endings)


def without(word, ordinary):
    for start in ordinary:
        if word.startswith(start):
            return word[len(start):]
    return word


# -- the forms of a value ----------------------------------------------------------------------------------------------------


class Budget:
    """How many bytes of forms there may still be."""

    def __init__(self, left):
        self.left = left


def forms(rule, value, budget):
    """All forms of `value` that are long enough to be searched for: as it is, quoted, and encoded. Takes its part of the budget. When that is
    used up, quotes within quotes are left out."""
    found = set()
    for text in sorted({value, value.strip()}, key=to_bytes):
        if size(text) <= LONGEST_QUOTED or "\n" not in text:
            found.update(quoted(text, budget))
        for line in rule.lines_with_secrets(text):
            is_long_enough = size(line) >= rule.shortest_line or (size(line) >= rule.shortest and not is_word(line))
            if is_long_enough and line != text:
                found.update(quoted(line, budget))
        if size(text) <= LONGEST_ENCODED:
            found.update(encoded(rule, text))
        found.update(folded(rule, text, budget))
    # A log is searched line by line.
    return {form for form in found if size(form) >= rule.shortest and "\n" not in form}


def quoted(text, budget):
    """The text as it is, and as YAML, shells, URLs, JSON and Python write it. The last two within each other, too, within the budget."""
    by_shell = (text.replace("'", "'\\''"), text.replace("'", "'\"'\"'"))
    quote, quote_plus = urllib.parse.quote, urllib.parse.quote_plus
    in_url = (quote(text, "/", errors="surrogateescape"), quote_plus(text, "", errors="surrogateescape"), quote(text, "", errors="surrogateescape"))
    found = {text, text.replace("'", "''"), in_html(text), *by_shell, *in_url, *in_yaml(text)}
    inner = found
    for _ in range(NESTED):
        bytes_of_inner = sum(map(size, inner))
        if bytes_of_inner > LARGEST_NESTED or NOTATIONS * bytes_of_inner > budget.left:
            break
        inner = {form for text in inner for form in in_string(text)} - found
        found |= inner
    found.update(in_string(text))
    budget.left = max(0, budget.left - sum(map(size, found)))
    return found


def folded(rule, text, budget):
    """The runs of words that YAML may write in one line: it folds long texts at spaces. None if they are more than the budget."""
    words = text.split(" ")
    if not SHORTEST_FOLDED <= size(text) <= LONGEST_QUOTED or "\n" in text or len(words) > MOST_FOLDED:
        return []
    found = []
    for start in range(len(words)):
        for end in range(start + 1, len(words) + 1):
            run = " ".join(words[start:end])
            # The last line may be short. Without a digit, it may be in other texts.
            is_last = text.endswith(run) and size(run) >= rule.shortest_line and re.search("[0-9]", run) and not is_word(run)
            if run != text and (size(run) >= SHORTEST_RUN or is_last):
                found += run, json.dumps(run, ensure_ascii=False)[1:-1]
    taken = sum(map(size, found))
    if taken > budget.left:
        return []
    budget.left -= taken
    return found


def in_html(text):
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace('"', "&#34;").replace("'", "&#39;")


def in_yaml(text):
    """As YAML writes it that must not have characters above U+FFFF, such as emojis."""
    if all(char <= "\uffff" for char in text):
        return []
    escaped = json.dumps(text, ensure_ascii=False)[1:-1]
    return ["".join(char if char <= "\uffff" else f"\\U{ord(char):08X}" for char in escaped)]


def in_string(text):
    json_text = json.dumps(text, ensure_ascii=False)[1:-1]
    by_go = json_text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    python = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    return json.dumps(text)[1:-1], by_go, json_text, python.replace("'", "\\'"), python


def encoded(rule, text):
    found, data = set(), text.encode("utf-8", "surrogateescape")
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for whole in (data, data + b"\n"):
            whole = encode(whole).decode("ascii")
            found.add(whole)
            for width in WRAPS:
                if width < len(whole):
                    lines = [whole[at:at + width] for at in range(0, len(whole), width)]
                    found.update(line for line in lines if len(line) >= rule.shortest_line)
        for before in range(3):
            part = encode(b"\0" * before + data).decode("ascii")[-(-before * 8 // 6):(before + len(data)) * 8 // 6]
            if len(part) >= rule.shortest_line:
                found.add(part)
    return found


def names_with(rule, values, names):
    """Those of the names that contain a line of a value. There may be thousands of both, so each part of a name is looked up."""
    lines = {line.strip() for value in values for line in value.split("\n")}
    lines = {line for line in lines if rule.shortest <= size(line) <= LONGEST_NAME}
    lengths = sorted(set(map(len, lines)))
    return [name for name in names if any(name[at:at + length] in lines for at in range(len(name)) for length in lengths)]


# -- masking -----------------------------------------------------------------------------------------------------------------


class Masker:
    """Masks the lines of a run, in their order: a private key has several lines."""

    def __init__(self, rule):
        self.rule = rule
        self.values, self.budget = set(), Budget(rule.budget)
        # The forms by their first characters, each list sorted, and how long the longest in it is.
        self.forms, self.longest, self.lengths = {}, {}, ()
        self.starts = None  # finds where a form may begin
        self.words, self.names = set(), frozenset()  # values that are words; names of hosts and groups that stay readable
        self.inside_key = False

    @classmethod
    def of_run(cls, root):
        """With the secrets that the controller found in the inputs of the run, its token, and the private key."""
        masker = cls(Rule(json.loads(read(root + "/conf/masking.json"))))
        masker.add([*json.loads(read(root + "/conf/secrets.json")), read(root + "/conf/token").strip()])
        masker.names = frozenset(json.loads(read(root + "/conf/names.json")))
        try:
            masker.add([read(root + "/auth/ssh-privatekey")])
        except OSError:
            pass  # the cluster has no key, or the run may not read it
        return masker

    def add(self, values):
        """Masks these values from now on. Returns those that are new."""
        new = [value for value in dict.fromkeys(values) if value not in self.values]
        by_start = {}
        for form in {form for value in sorted(new, key=to_bytes) for form in forms(self.rule, value, self.budget)}:
            by_start.setdefault(form[: self.rule.shortest], set()).add(form)
        for start, same in by_start.items():
            # A new list: another thread may be reading the old one.
            self.longest[start] = max(self.longest.get(start, 0), max(map(len, same)))
            self.forms[start] = sorted({*self.forms.get(start, ()), *same})
        self.values.update(new)
        self.words.update(line.strip() for value in new for line in value.splitlines() if is_word(line.strip()))
        # A form of other letters than those of ASCII may have fewer characters than bytes.
        self.lengths = tuple(sorted(set(map(len, self.forms)), reverse=True))
        if new and self.forms:
            # Quick, however many forms there are: alternatives would be tried one by one.
            places = [{start[at] for start in self.forms} for at in range(self.lengths[-1])]
            self.starts = re.compile("(?=" + "".join("[" + "".join(map(re.escape, sorted(chars))) + "]" for chars in places) + ")")
        return new

    def line(self, text):
        before, after = self.inside_key, []

        def mask(text):
            self.inside_key = before
            line = self.key_line(text)
            after.append(self.inside_key)
            return line

        line = through_colours(text, mask)
        self.inside_key = after[0]
        return line

    def value(self, text):
        """A text that is no line of the log, such as a message."""
        if "\n" in text and "PRIVATE KEY-----" not in text:
            return "\n".join(map(self.value, text.split("\n")))
        return through_colours(text, self.masked)

    def structure(self, value):
        """A copy of a JSON value without secrets."""
        if isinstance(value, str):
            return self.value(value)
        if isinstance(value, dict):
            return {key: MASK if isinstance(entry, str) and self.rule.is_shown_secret(key, entry) else self.structure(entry) for key, entry in value.items()}
        return [self.structure(entry) for entry in value] if isinstance(value, list) else value

    def masked(self, text):
        text = self.without_keys(text)
        # Each of them searches the whole text: a known value may also be the name beside another one.
        parts, patterns = list(self.known(text)), self.rule.patterns
        if "://" in text:
            parts += filter(None, map(login, patterns["login"].finditer(text)))
        if "eyJ" in text:
            parts += self.tokens(text)
        if self.rule.may_have_service(text):
            parts += (found.span("token" if found["token"] else "path") for found in patterns["service"].finditer(text))
        if self.rule.may_have_form(text):
            parts += (found.span(found.lastgroup) for found in patterns["form"].finditer(text))
        if may_be_kubeadm(text):
            parts += filter(None, map(kubeadm, patterns["kubeadm"].finditer(text)))
        if has_long(text):
            parts += (found.span("run") for found in patterns["long"].finditer(text) if self.is_of_key(found["run"]))
        if self.rule.has_assigned(text):
            parts += self.assigned(text)
        return hidden(text, parts)

    def next_known(self, text, at=0):
        """Where the next known value begins and ends. Of several, the first and then the longest."""
        for found in self.starts.finditer(text, at) if self.starts else ():
            start = found.start()
            for length in self.lengths:
                same = self.forms.get(text[start:start + length])
                form = longest_at_start(same, text[start:start + self.longest[text[start:start + length]]]) if same else None
                if form and not self.keep(text, start, start + len(form)):
                    return start, start + len(form)
        return None

    def keep(self, text, start, end):
        """Whether the value at this place is part of a name or of a longer word, and stays."""
        if not self.names and text[start:end] not in self.words:
            return False
        value, part, whole = text[start:end], word_around(text, start, end, "_-"), word_around(text, start, end, "_-.")
        if part in self.names or whole in self.names:
            return True
        # `-phunter`: a flag and its value in one word.
        is_flag = len(whole) == len(value) + 2 and whole.startswith("-") and whole.endswith(value)
        return value in self.words and whole != value and not is_flag

    def known(self, text):
        at = 0
        while found := self.next_known(text, at):
            yield found
            at = found[1]

    def tokens(self, text):
        at = 0
        while found := TOKEN_START.search(text, at):
            token = self.rule.patterns["jwt"].match(text, found.start())
            if token:
                yield token.span("token")
            # If no token begins here, none begins later in the same run of characters.
            at = token.end() if token else found.end()

    def assigned(self, text):
        at = word_end = 0
        while found := self.rule.patterns["assigned"].search(text, at):
            groups = {key: value for key, value in found.groupdict().items() if value is not None}
            name_group = next(key for key in groups if key.startswith("n"))
            name, group = groups[name_group], next(key for key in groups if key.startswith("v"))
            start, end = found.span(group)
            # A flag begins after a quote: `--args "--token …"`.
            is_flag = name_group in ("n5", "n6", "n7")
            at = start - is_flag
            if is_flag:
                # A word after a flag may belong to a sentence or a description, or be an argument of its own: `--token string`.
                is_sentence = group in ("v11", "v12", "v14") and groups[group].isalpha()
                if not self.rule.may_be_value(name, groups[group]) or is_sentence or self.rule.patterns["file_name"].search(groups[group]):
                    continue
                name = name.replace("-", "_")
            if not self.rule.is_secret(name):
                continue
            if group == "v7":
                # Names within one word share its end.
                if word_end <= start:
                    ends = self.rule.patterns["word_end"].search(text, start)
                    word_end = ends.start() if ends else len(text)
                end = word_end
            if self.rule.is_filled_in(text[start:min(end, start + self.rule.template_within)]):
                continue
            is_sentence = group == "v8" and self.rule.is_message(name, groups[group])
            if not is_sentence and self.rule.is_secret_value(name, text[start:end]):
                yield start, end
                at = end

    def is_of_key(self, run):
        is_base64 = all(re.search(kind, run) for kind in ("[a-z]", "[A-Z]", "[0-9]"))
        return is_base64 and not run.startswith(self.rule.public_key_starts)

    # -- private keys, which are recognised by their first line --

    def without_keys(self, text):
        return self.rule.key["inline"].sub(MASK, text.replace("\n", "\\n")) if "PRIVATE KEY-----" in text else text

    def key_line(self, text):
        key = self.rule.key
        if self.inside_key:
            if end := key["end"].search(text):
                self.inside_key = False
                return MASK + self.masked(text[end.end():])
            if key["body"].search(text):
                return MASK
            self.inside_key = False
        begins = list(key["begin"].finditer(text))
        if not begins or key["end"].search(text[begins[-1].start():]):
            return self.masked(text)
        begin = begins[-1]
        # An escaped `\n` means that the whole key is a string in this line.
        self.inside_key = "\\n" not in text[begin.end():]
        return self.masked(text[:begin.start()]) + MASK


def hidden(text, parts):
    """The text with a mark in place of these parts. Parts that overlap become one."""
    if not parts:
        return text
    out, last = [], 0
    for start, end in sorted(parts):
        if start >= last:
            out += text[last:start], MASK
        last = max(last, end)
    return "".join([*out, text[last:]])


def longest_at_start(forms, text):
    """The longest of these forms that the text begins with. They are sorted, and there may be very many."""
    while True:
        # If the text begins with a form, all forms that are sorted between the two begin with it, too. So what the text and the last of them
        # have in common begins with it.
        last = bisect.bisect_right(forms, text) - 1
        if last < 0 or text.startswith(forms[last]):
            return forms[last] if last >= 0 else None
        text = os.path.commonprefix((forms[last], text))


def is_word(text):
    """Whether a value is a word, or a number: other words contain it."""
    return text.isalpha() or (text.isascii() and text.isdigit())


def word_around(text, start, end, joining):
    """The word that contains the value: letters, digits and `joining`, which joins but neither begins nor ends a word. A letter after a
    backslash is no part of a word: `\\n`."""
    before = WORD_BEFORE[joining].search(text, max(0, start - LONGEST_NAME), start)[0]
    after = WORD_AFTER[joining].match(text, end, end + LONGEST_NAME)[0]
    at = start - len(before)
    if before and at > 0 and text[at - 1] == "\\":
        before = before[1:]
    return before.lstrip("._") + text[start:end] + after.rstrip(".-_")


def read(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def unreversed(text):
    """`text` with the characters of BIDI by their number: <U+202E>."""
    return BIDI.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)


def through_colours(text, mask):
    """Masks `text` and keeps its colours, except if they split a secret. `mask` gets the text without colours first."""
    if not has_invisible(text):
        return mask(text)
    plain = INVISIBLE.sub("", text)
    masked_plain = mask(plain)
    # A control string may contain a secret that the plain text doesn't have.
    if masked_plain == plain and not STRINGS.search(text):
        return text
    masked = mask(text)
    return masked if INVISIBLE.sub("", masked) == masked_plain else masked_plain


def login(found):
    public = public_part(found["scheme"].lower(), found["login"])
    return None if public is None else (found.start("login") + len(public), found.end("login"))


def public_part(scheme, text):
    """The part of a login in a URL that isn't secret. None if nothing in it is."""
    if scheme.endswith(("http", "https")):
        return ""  # a token may be the user
    user, colon, password = text.partition(":")
    if not colon:
        return None
    return f"{user}:" if password else ""


BOOTSTRAP_TOKEN = re.compile(r"\.[a-z0-9]{16}")
# Where a JSON Web Token may begin, up to its first dot.
TOKEN_START = re.compile(r"(?:\b|\\[nrt])eyJ[A-Za-z0-9_-]*")


def may_be_kubeadm(text):
    return "--certificate-key" in text or BOOTSTRAP_TOKEN.search(text) is not None


def kubeadm(found):
    # Without a digit it is a name with a dot, such as that of a systemd unit.
    if found["secret"] and not re.search("[0-9]", found["secret"]):
        return None
    return found.span("key" if found["key"] else "token")


# -- variables ---------------------------------------------------------------------------------------------------------------


def secrets_of(rule, variables, result_of=None):
    """The secret values in ansible's variables. A secret that refers to another variable makes that one secret, too. `result_of` returns what
    a template results in, or None: that is secret under a secret name."""
    referenced = set()
    for _ in range(REFERENCES):
        search = Search(rule, referenced, result_of)
        search.variables(variables, (), "", False, False, TEXTS)
        found = {path for value in search.values for path in rule.references(value)}
        if found <= referenced:
            break
        referenced |= found
    return [value for value in dict.fromkeys(search.values) if rule.can_be_searched(value)]


class Search:
    """Collects secret values. `Search` in server/masking/src/known.rs is the same for YAML."""

    def __init__(self, rule, referenced, result_of=None):
        self.rule, self.referenced, self.result_of, self.values = rule, referenced, result_of, []
        self.lengths, self.names = set(map(len, referenced)), {name for path in referenced for name in path}
        self.longest = max(self.lengths, default=0)
        # Containers that were read, and how deeply they were: a dict may contain itself.
        self.done, self.depth = {}, 0

    def variables(self, value, path, name, is_secret, holds_secrets, texts):
        if isinstance(value, (dict, list, tuple, set)):
            mark = (id(value), is_secret, holds_secrets, self.before(path))
            # Where it is less deep, more of what it contains is read.
            if self.depth >= DEEPEST or (mark in self.done and self.done[mark][1] <= self.depth):
                return
            self.done[mark] = value, self.depth  # the value is kept, so that no other value gets its id
        self.depth += 1
        try:
            self.inner(value, path, name, is_secret, holds_secrets, texts)
        except Exception:  # noqa: BLE001 - what can't be read doesn't end the search
            return
        finally:
            self.depth -= 1

    def before(self, path):
        """A hash of the names before the entries of a container that may be part of a reference to them. All other names are the same."""
        count = min(self.longest - 1, len(path))
        if count <= 0 or len(self.done) > MOST_SEARCHED:
            return 0
        return hash(tuple(name if name in self.names else "" for name in path[-count:]))

    def inner(self, value, path, name, is_secret, holds_secrets, texts):
        if isinstance(value, dict):
            self.entries(value, path, name, holds_secrets, texts)
        elif isinstance(value, (list, tuple, set)):
            entries = list(value)
            for at, entry in enumerate(entries):
                is_scalar = isinstance(entry, (str, int, float)) and not isinstance(entry, bool)
                follows = at > 0 and is_scalar and isinstance(entries[at - 1], str) and self.follows(entries[at - 1], str(entry), len(entries))
                self.variables(entry, path, name, is_secret or follows, holds_secrets, texts)
        elif value is not None and not isinstance(value, bool):
            # What ansible-vault encrypted is secret under any name. These are the types before and since ansible-core 2.19.
            if is_secret or type(value).__name__ in ("AnsibleVaultEncryptedUnicode", "EncryptedString"):
                try:
                    text = str(value)
                except Exception:  # noqa: BLE001 - it can't be decrypted, so it can't be printed either
                    return
                self.text(text, path, name, texts)
                if self.result_of and TEMPLATE.search(text):
                    self.result(value, path, name, holds_secrets)

    def result(self, template, path, name, holds_secrets):
        """Searches what a secret template results in. That is no template, whatever it looks like."""
        result_of, self.result_of = self.result_of, None
        try:
            self.variables(result_of(template), path, name, True, holds_secrets, TEXTS)
        finally:
            self.result_of = result_of

    def follows(self, before, entry, length):
        """Whether an item of a list is a secret because of the item before: `[--password, …]` or `[DB_PASSWORD, …]`."""
        flag = re.fullmatch(r"--?([\w.-]{2,})", before)
        if flag and self.rule.may_be_value(flag[1], entry) and not entry.startswith("-") and self.rule.is_shown_secret(flag[1].replace("-", "_"), entry):
            return True
        # Not the name of a package, a role or a host, such as `python3-keyring`, or of a file.
        has_its_form = before != before.lower() if "-" in before else "_" in before or "." in before
        if length != 2 or not has_its_form or self.rule.patterns["file_name"].search(before):
            return False
        return not re.search(r"\s", before) and self.rule.is_secret(before) and not are_names(before, entry)

    def entries(self, value, path, name, holds_secrets, texts):
        pairs, lower = self.rule.pairs, {str(key).lower() for key in value}
        key_is_name = is_reference(self.rule, name) or any(key in lower for key in (*pairs["matches"], *pairs["values"]))
        pair = None if any(key in lower for key in pairs["matches"]) else self.secret_pair(value)
        is_record = any(key in lower for key in pairs["values"]) or any(isinstance(key, str) and self.rule.is_secret(key) for key in value)
        for key, entry in value.items():
            key = str(key)
            if SKIPPED.match(key):
                continue
            here = (*path, key)
            belongs = (
                (holds_secrets and not self.rule.describes(key, name, is_record))
                or any(here[-length:] in self.referenced for length in self.lengths)
                or (pair is not None and key.lower() in pairs["values"] and not (isinstance(entry, str) and self.rule.is_harmless(pair, entry)))
                or (key.lower() == "users" and isinstance(entry, dict) and "".join(words_of(name)).endswith("basicauth"))
                or (value.get("kind") == "Secret" and key in pairs["secret_data"])
            )
            is_name = key_is_name and key.lower() in self.rule.harmless["of_labels"]
            is_secret = belongs or self.rule.is_secret_in_dict(key, name) or (self.rule.is_secret(key) and not is_name)
            below = belongs or (holds_secrets and not is_reference(self.rule, key)) or (is_secret and self.rule.holds_secrets(key))
            self.variables(entry, here, key, is_secret, below, texts)

    def secret_pair(self, value):
        """The secret name for which a dict has a value: `{name: DB_PASSWORD, value: …}`. An empty name if the dict says without one that its
        value is secret: `{type: password, default: …}`. Otherwise None."""
        # Not encrypted ones, which can't be read without a password.
        pairs, entries = self.rule.pairs, [(str(key).lower(), entry) for key, entry in value.items() if isinstance(entry, (str, bool))]
        for key, entry in entries:
            is_type = key in pairs["types"] and str(entry).lower() in pairs["secret_types"]
            if is_type or (key in pairs["switches"] and str(entry).lower() in pairs["switched_on"]):
                return ""
        names = (entry for key, entry in entries if key in pairs["names"] and isinstance(entry, str) and not re.search(r"\s", entry))
        return next(filter(self.rule.is_secret, names), None)

    def text(self, text, path, name, texts):
        if self.rule.is_harmless(name, text):
            return
        # The entries of JSON are found one by one. So its braces and the names of users stay readable.
        inner = parsed(text) if texts and text.lstrip().startswith(("{", "[")) else None
        if inner is not None:
            self.variables(inner, path, name, True, True, texts - 1)
            return
        self.values.append(text)
        # What templating turns into a list: `"['one', 'two']"`.
        listed = literal(text) if texts and text.lstrip().startswith(("{", "[")) else None
        if listed is not None:
            self.variables(listed, path, name, True, True, texts - 1)
        # `user:password`, `NAME=value`
        lines = self.rule.lines_with_secrets(text)
        found = [re.search(r"""^(?:export[ \t]+)?[\w.@-]+[ \t]*(?::|=[ \t]*["']?)([^\s"';&]+)["']?\Z""", line) for line in lines]
        assigned = [assignment[1] for assignment in found if assignment]
        self.values += [value for value in assigned if not is_word(value) and not value.startswith("//")]
        if is_plural(name) and listed is None and "{{" not in text:
            items = "\n".join(self.rule.patterns["item_name"].sub("", line) for line in self.rule.lines_with_secrets(text, name))
            items = re.split(r"[\s,;]", items)
            # `one=hunter22,two=…`
            items += [item.partition("=")[2] for item in items]
            self.values += [item for item in items if item and item != text and not is_word(item)]
        decoded = from_base64(text)
        inner = parsed(decoded) if decoded and texts else None
        if inner is not None:
            self.variables(inner, path, name, True, True, texts - 1)
        elif decoded:
            self.values += [decoded, decoded.partition(":")[2].rstrip() if not decoded.startswith("{") else ""]


def are_names(first, second):
    """Whether two texts are names of variables with the same first word: `[smtp_password, smtp_user]`."""
    is_name = re.compile(r"([a-z0-9]+)(?:_[a-z0-9]+)+").fullmatch
    found = is_name(first), is_name(second)
    return all(found) and found[0][1] == found[1][1]


def is_plural(name):
    """Whether the text under this secret name may list several secrets."""
    last = (words_of(name) or [""])[-1]
    return last == "list" or (last.endswith("s") and last != "pass")


def is_reference(rule, name):
    return (words_of(name) or [""])[-1] in rule.names["references"]


def parsed(text):
    """The dict or list that a text of JSON is; None for any other text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, (dict, list)) else None


def literal(text):
    """The dict or list that a text of Python is; None for any other text."""
    text = text.strip()
    # `{{` begins a template. The tree of a long list takes hundreds of megabytes.
    if text.startswith("{{") or len(text) > LONGEST_LITERAL:
        return None
    try:
        # Python warns of unknown escapes such as `\d`.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, (dict, list, tuple)) else None


def from_base64(text):
    """The text that `text` is in base64. None if that is no readable text: then it is base64 by chance."""
    data = "".join(text.split()).rstrip("=")
    if len(data) < 8 or not data.isascii():
        return None
    try:
        decoded = base64.b64decode(data.replace("-", "+").replace("_", "/") + "=" * (-len(data) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        return None
    return decoded if len(decoded.strip()) >= 4 and all(char.isprintable() or char.isspace() for char in decoded) else None


# -- the output of a command -------------------------------------------------------------------------------------------------


class Output:
    """Takes the output of a step as it comes, and passes its lines on without secrets. The callback plugin's events have been masked by the
    plugin and pass as they are; with an event that is not passed on, the plugin reports the secrets that it finds in variables."""

    # A longer line is passed on in parts.
    LONGEST = 1 << 20

    def __init__(self, masker, token, write):
        self.masker, self.mark, self.write = masker, f"\x1e{token} ", write
        self.rest = b""

    def take(self, data):
        whole, newline, rest = (self.rest + data).rpartition(b"\n")
        self.rest = rest
        if newline:
            self.pass_on(whole.decode("utf-8", "surrogateescape"), "\n")
        # Not an event: the secrets that it reports are known only when it is complete.
        if len(self.rest) > self.LONGEST and self.mark.encode() not in self.rest:
            self.pass_on_part()

    def pass_on_part(self):
        """Passes on the start of a long line, up to a place that is in no secret."""
        text = self.rest.decode("utf-8", "surrogateescape")
        longest = max((len(form) for same in self.masker.forms.values() for form in same), default=0)
        cut, at = max(len(text) // 2, len(text) - longest), 0
        while (found := self.masker.next_known(text, at)) and found[0] < cut:
            at = found[1]
            cut = found[0] if found[1] > cut else cut
        self.rest = text[cut:].encode("utf-8", "surrogateescape")
        self.pass_on(text[:cut], "")

    def finish(self):
        self.pass_on(self.rest.decode("utf-8", "surrogateescape"), "")
        self.rest = b""

    def pass_on(self, text, end):
        if self.mark in text:
            # First, because a value may be in an earlier line already.
            lines = [self.reported(line) for line in text.split("\n")]
            text = "\n".join(line for line in lines if line is not None)
            if all(line is None for line in lines):
                return
        self.write((self.lines(text) + end).encode("utf-8", "surrogateescape"))

    def reported(self, line):
        """Learns the secrets that the plugin reports in this line. None if nothing else is in it."""
        text, mark, event = line.partition(self.mark)
        if not mark or not event.startswith('{"secrets":'):
            return line
        reported = json.loads(event)
        self.masker.names |= frozenset(reported.get("names", ()))
        self.masker.add(reported["secrets"])
        return text or None

    def lines(self, text):
        """Masks lines. Most have no secret, so all are searched at once first."""
        masker = self.masker
        if masker.inside_key or "PRIVATE KEY-----" in text:
            return "\n".join(map(self.line, text.split("\n")))
        plain = INVISIBLE.sub("", text) if has_invisible(text) else text
        if plain is not text and STRINGS.search(text):
            # A control string may contain a secret that the plain text doesn't have.
            return "\n".join(map(self.line, text.split("\n")))
        if not self.may_be_secret(plain):
            return text
        lines, plain = text.split("\n"), plain.split("\n")
        return "\n".join(self.line(line) if self.may_be_secret(plain[n]) else line for n, line in enumerate(lines))

    def line(self, line):
        text, mark, event = line.partition(self.mark)
        return (self.masker.line(text) if text or not mark else "") + mark + event

    def may_be_secret(self, text):
        return (
            self.masker.next_known(text) is not None
            or "://" in text
            or "eyJ" in text
            or self.masker.rule.may_have_service(text)
            or (self.masker.rule.may_have_form(text) and self.masker.rule.patterns["form"].search(text) is not None)
            or may_be_kubeadm(text)
            or has_long(text)
            or self.masker.rule.has_assigned(text)
        )
