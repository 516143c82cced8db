"""Asks a server five times a second and writes one line for each request: its time in UTC, and "ok" or what went wrong."""

import ssl
import sys
import threading
import time
import urllib.request
from datetime import datetime, timezone


# The API server's certificate is not checked: only whether it answers.
UNVERIFIED = ssl.create_default_context()
UNVERIFIED.check_hostname = False
UNVERIFIED.verify_mode = ssl.CERT_NONE


def ask(url, answers, started):
    try:
        with urllib.request.urlopen(url, timeout=1, context=UNVERIFIED) as answer:
            said = "ok" if answer.status == 200 else f"status {answer.status}"
    except Exception as problem:
        said = repr(problem)
    answers.write(f"{started} {said}\n")


with open(sys.argv[2], "w", buffering=1) as answers:
    due = time.monotonic()
    while True:
        # A slow answer doesn't delay the next request.
        threading.Thread(target=ask, args=(sys.argv[1], answers, datetime.now(timezone.utc).isoformat(timespec="milliseconds"))).start()
        due += 0.2
        time.sleep(max(0, due - time.monotonic()))
