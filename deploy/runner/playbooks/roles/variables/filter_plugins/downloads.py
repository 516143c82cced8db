# SPDX-License-Identifier: Apache-2.0
"""Explains why a file could not be downloaded."""


def failed_download(result, folder, source):
    """The message of a failed get_url, perhaps with a loop. Its items have a `url`, or are names of files in `folder`. `source` is the variable that names
    the server."""
    failed = next((one for one in result.get("results", []) if one.get("failed")), result)
    item = failed.get("item") or ""
    url = item["url"] if isinstance(item, dict) else f"{folder}/{item}"
    # get_url reports the server's answer as `response`, and the address as `url`: that of the program, or of the file with its checksum.
    why = str(failed.get("response") or failed.get("msg") or "no reason given").strip()
    again = "Write the folder of files_repo again with “kubeonkube artifacts” of this version." if source == "files_repo" else f"Check {source}, or set files_repo."
    # ansible's sentence names a temporary file.
    if "checksum" in why and "did not match" in why:
        return f"{url} has another checksum than expected: it is damaged, or not the right file. {again}"
    if "HTTP Error 404" in why:
        return f"{failed.get('url', url)} can't be downloaded: {why}. {again}"
    if failed.get("response") or "Request failed" in why or "Connection failure" in why:
        return f"{failed.get('url', url)} can't be downloaded: {why}. Check {source}, and whether the machine reaches the server."
    return f"{url} can't be downloaded: {why}."


class FilterModule:
    def filters(self):
        return {"failed_download": failed_download}
