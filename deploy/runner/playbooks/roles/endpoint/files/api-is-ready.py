# SPDX-License-Identifier: Apache-2.0
"""Exits with 0 if the API server of this machine is ready. keepalived runs it every two seconds. Argument: the port of the API server.

While the file AWAY exists, another control plane shall have the address: this one is about to be upgraded.
"""

import http.client
import os
import ssl
import sys

SECONDS = 2
AWAY = "/run/kubeonkube-address/away"


def is_ready(port):
    # It only asks its own machine and sends nothing secret, so the certificate doesn't matter.
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=SECONDS, context=context)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(0 if not os.path.exists(AWAY) and is_ready(int(sys.argv[1])) else 1)
