//! The table of parts. A part is rebuilt when one of its files, a part it needs, or its revision changes.

use crate::build::part::{GO_TOOLCHAIN, Lane, Part};
use crate::build::{contents, debian, dockerfile, go, python, release, runtime};

/// All parts. Each comes after the parts it needs.
pub(crate) const PARTS: &[Part] = &[
    go_part("tools", &["end2end/lab/parts/tools", GO_TOOLCHAIN]),
    go_part("runc", &["end2end/lab/parts/runc", GO_TOOLCHAIN]),
    go_part("containerd", &["end2end/lab/parts/containerd", GO_TOOLCHAIN]),
    go_part("etcd-3.6", &["end2end/lab/parts/etcd-3.6", GO_TOOLCHAIN]),
    go_part("kubernetes-1.36", &["end2end/lab/parts/kubernetes-1.36", GO_TOOLCHAIN]),
    go_part("coredns-1.14.2", &["end2end/lab/parts/coredns-1.14.2", GO_TOOLCHAIN]),
    go_part("etcdctl-3.6", &["end2end/lab/parts/etcdctl-3.6", GO_TOOLCHAIN]),
    go_part("etcd-3.7", &["end2end/lab/parts/etcd-3.7", GO_TOOLCHAIN]),
    go_part("kubernetes-1.37", &["end2end/lab/parts/kubernetes-1.37", GO_TOOLCHAIN]),
    go_part("coredns-1.14.6", &["end2end/lab/parts/coredns-1.14.6", GO_TOOLCHAIN]),
    go_part("etcdctl-3.7", &["end2end/lab/parts/etcdctl-3.7", GO_TOOLCHAIN]),
    Part {
        name: "machine-root",
        files: &["end2end/lab/parts/machine-root"],
        needs: &[],
        revision: 1,
        lane: Lane::Install,
        make: debian::machine_root,
    },
    Part {
        name: "runner-root",
        files: &[dockerfile::RUNNER, "deploy/runner/packages.lock", python::REQUIREMENTS],
        needs: &[],
        revision: 2,
        lane: Lane::Install,
        make: python::runner_root,
    },
    Part {
        name: "server-root",
        files: &[dockerfile::SERVER, "deploy/packages.lock"],
        needs: &[],
        revision: 1,
        lane: Lane::Install,
        make: debian::server_root,
    },
    Part {
        name: "images",
        files: &["deploy/runner/playbooks"],
        needs: &["tools", "coredns-1.14.2", "runner-root"],
        revision: 1,
        lane: Lane::Install,
        make: contents::cluster_images,
    },
    Part {
        name: "runtime",
        files: &[],
        needs: &["containerd", "runc"],
        revision: 1,
        lane: Lane::Install,
        make: runtime::assemble,
    },
    release_part(
        "release-1.36",
        &["tools", "kubernetes-1.36", "etcd-3.6", "etcdctl-3.6", "coredns-1.14.2", "machine-root"],
    ),
    release_part(
        "release-1.37",
        &["tools", "kubernetes-1.37", "etcd-3.7", "etcdctl-3.7", "coredns-1.14.6", "machine-root"],
    ),
];

/// The parts that machines need.
pub(crate) const FOR_MACHINES: &[&str] = &["tools", "runc", "machine-root"];
/// The part that the lab serves to machines beside releases.
pub(crate) const FOR_RELEASES: &str = "runtime";
/// The parts that the lab's own Kubernetes needs in addition.
pub(crate) const FOR_CLUSTER: &[&str] = &["kubernetes-1.36", "etcd-3.6", "containerd", "images"];

const fn go_part(name: &'static str, files: &'static [&'static str]) -> Part {
    Part { name, files, needs: &[], revision: 1, lane: Lane::Compile, make: go::build }
}

const fn release_part(name: &'static str, needs: &'static [&'static str]) -> Part {
    Part { name, files: &[], needs, revision: 2, lane: Lane::Install, make: release::assemble }
}

pub(crate) fn part(name: &str) -> Option<&'static Part> {
    PARTS.iter().find(|part| part.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_comes_after_the_parts_it_needs() {
        for (at, part) in PARTS.iter().enumerate() {
            for need in part.needs {
                assert!(PARTS[..at].iter().any(|earlier| earlier.name == *need), "{} needs {need}", part.name);
            }
        }
    }

    #[test]
    fn every_file_of_a_part_exists() {
        for part in PARTS {
            for file in part.files {
                assert!(crate::layout::workspace().join(file).exists(), "{}: {file}", part.name);
            }
        }
    }
}
