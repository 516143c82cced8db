# SPDX-License-Identifier: Apache-2.0
"""Whether this machine's Kubernetes API is ready and uses the certificate in its file. Changes nothing. Returns `uses_it` and `message`."""

import ssl
import subprocess

CERTIFICATE = "/etc/kubernetes/pki/apiserver.crt"


def der(pem):
    """The first certificate of a PEM text."""
    end = "-----END CERTIFICATE-----"
    return ssl.PEM_cert_to_DER_cert(pem[: pem.index(end) + len(end)].strip())


def look(port, kubectl):
    """Why it isn't so; empty if it is."""
    try:
        served = ssl.get_server_certificate(("127.0.0.1", port))
        with open(CERTIFICATE, encoding="ascii") as file:
            wanted = file.read()
    except (OSError, ValueError) as error:
        return f"The Kubernetes API doesn't answer: {error}"
    if der(served) != der(wanted):
        return f"The Kubernetes API still uses another certificate than {CERTIFICATE}."
    ready = [*kubectl, f"--server=https://127.0.0.1:{port}", "--tls-server-name=kubernetes", "--request-timeout=5s", "get", "--raw", "/readyz"]
    done = subprocess.run(ready, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return "" if done.stdout.strip() == "ok" else f"The Kubernetes API isn't ready: {done.stderr.strip()}"


def main():
    from ansible.module_utils.basic import AnsibleModule

    options = {"port": {"type": "int", "required": True}, "kubectl": {"type": "str", "required": True}}
    module = AnsibleModule(argument_spec=options, supports_check_mode=True)
    message = look(module.params["port"], module.params["kubectl"].split())
    module.exit_json(changed=False, uses_it=not message, message=message)


if __name__ == "__main__":
    main()
