# SPDX-License-Identifier: Apache-2.0
"""Servers of a machine that refuse, each on its own port. They speak the protocols; the programs that fail are the real ones."""

import http.server
import json
import os
import socket
import socketserver
import ssl
import struct
import subprocess
import sys
import threading

FILES = "/root/causes/www"
# What Docker Hub answers to an address that downloads too much.
LIMIT = {"code": "TOOMANYREQUESTS", "message": "You have reached your unauthenticated pull rate limit. https://www.docker.com/increase-rate-limit"}


class Files(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *arguments):
        super().__init__(*arguments, directory=FILES)

    def send_error(self, code, *_):
        """With the words of the standard, as other servers say them."""
        super().send_error(code)

    def log_message(self, *_):
        pass


class Proxy(http.server.BaseHTTPRequestHandler):
    """Refuses every tunnel and download, because it wants a password."""

    def refuse(self):
        self.send_error(407, "Proxy Authentication Required")

    do_CONNECT = do_GET = do_HEAD = refuse

    def log_message(self, *_):
        pass


class Registry(http.server.BaseHTTPRequestHandler):
    """A registry of images. The name of an image says how it answers."""

    def do_GET(self):
        if self.path.startswith("/token"):
            return self.answer(403 if "forbidden" in self.path else 200, {"token": "t"})
        if "limited" in self.path:
            return self.answer(429, {"errors": [LIMIT]})
        if "missing" in self.path:
            return self.answer(404, {"errors": [{"code": "MANIFEST_UNKNOWN", "message": "manifest unknown"}]})
        if "Authorization" in self.headers:
            return self.answer(401, {"errors": [{"code": "DENIED", "message": "denied"}]}, 'Bearer error="insufficient_scope"')
        realm = f"http://{self.headers['Host']}/token"
        scope = "forbidden" if "forbidden" in self.path else "private"
        return self.answer(401, {"errors": [{"code": "UNAUTHORIZED"}]}, f'Bearer realm="{realm}",service="registry",scope="repository:{scope}:pull"')

    do_HEAD = do_GET

    def answer(self, code, body, challenge=None):
        text = json.dumps(body).encode()
        self.send_response(code)
        if challenge:
            self.send_header("WWW-Authenticate", challenge)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    def log_message(self, *_):
        pass


class NoSuchName(socketserver.BaseRequestHandler):
    """A DNS server that knows no name (RFC 1035, 4.1.1: response, recursion available, code 3)."""

    def handle(self):
        query, server = self.request
        server.sendto(query[:2] + b"\x81\x83" + query[4:6] + bytes(6) + query[12:], self.client_address)


class Silent(socketserver.BaseRequestHandler):
    """Accepts a connection and says nothing until the client gives up."""

    def handle(self):
        while self.request.recv(1024):
            pass


class Resets(socketserver.BaseRequestHandler):
    """Resets the connection, as a machine does whose server has just ended."""

    def handle(self):
        self.request.recv(64)
        self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class Threads(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


def serve(server):
    threading.Thread(target=server.serve_forever, daemon=True).start()


def main():
    for port, handler in ((8080, Files), (8081, Proxy), (5000, Registry), (2223, Silent), (2226, Resets)):
        serve(Threads(("", port), handler))
    for port, name in ((8443, "expired"), (8444, "future"), (8445, "unknown")):
        server = Threads(("", port), Files)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"/root/causes/tls/{name}.pem", "/root/causes/tls/key.pem")
        server.socket = context.wrap_socket(server.socket, server_side=True)
        serve(server)
    serve(socketserver.ThreadingUDPServer(("127.0.0.1", 53), NoSuchName))
    # sshd with room for one login, which this connection takes; and one that allows one attempt.
    for port, option in ((2222, "MaxStartups=1:100:1"), (2225, "MaxAuthTries=1")):
        # Without the machine's configuration, whose MaxStartups would win.
        subprocess.run(["/usr/sbin/sshd", "-f", "/dev/null", "-p", str(port), "-o", option, "-o", f"PidFile=/run/sshd-{port}.pid", "-o", "LoginGraceTime=0"], check=True)
    held = socket.create_connection(("127.0.0.1", 2222))
    held.recv(64)
    with open("/root/causes/ready", "w") as file:
        file.write(str(os.getpid()))
    threading.Event().wait()


if __name__ == "__main__":
    sys.exit(main())
