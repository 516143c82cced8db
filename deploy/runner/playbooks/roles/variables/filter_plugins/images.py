# SPDX-License-Identifier: Apache-2.0
"""Which images a version of Kubernetes needs."""

import re


def numbers(tag):
    return [int(number) for number in re.findall(r"[0-9]+", tag)]


def tag_of(images, name):
    """The tag of the image `name`; empty if it isn't among `images`."""
    return next((image.rsplit(":", 1)[1] for image in images if image.rsplit(":", 1)[0].endswith("/" + name)), "")


def engine_images(named, minors, version):
    """The images that kubeadm has named, with the etcd of the catalogue's `minors` for `version` (`v1.36.4`) if that is newer."""
    minor = ".".join(version.lstrip("v").split(".")[:2])
    wanted = next((known["components"]["etcd"] for known in minors if known["minor"] == minor), "")
    own = tag_of(named, "etcd")
    if not own or numbers(wanted) <= numbers(own):
        return list(named)
    return [image.rsplit(":", 1)[0] + ":" + wanted if image.endswith("/etcd:" + own) else image for image in named]


class FilterModule:
    def filters(self):
        return {"engine_images": engine_images, "tag_of": tag_of}
