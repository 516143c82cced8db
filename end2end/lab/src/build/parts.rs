//! The table of parts. A part is rebuilt when one of its files, a part it needs, or its revision changes.

use std::path::Path;

use crate::{
    build::{contents, debian, go, python, release, workshop::Built},
    error::Error,
};

/// One part.
pub(crate) struct Part {
    pub(crate) name: &'static str,
    /// The files and folders it is made from, in the repository. Their content is its key.
    pub(crate) files: &'static [&'static str],
    /// Parts it is made from.
    pub(crate) needs: &'static [&'static str],
    /// Raised when the way it is made changes without a change in its files.
    pub(crate) revision: u32,
    /// What its making waits for: parts of different lanes are made at the same time.
    pub(crate) lane: Lane,
    pub(crate) make: fn(&Part, &Built, &Path) -> Result<(), Error>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// The Go compiler: processors.
    Compile,
    /// Debian packages and Python wheels: network and disk.
    Install,
}

/// All parts; each stands behind what it needs.
pub(crate) const PARTS: &[Part] = &[
    go_part("tools", &["end2end/lab/parts/tools", GO_TOOLCHAIN]),
    go_part("runc", &["end2end/lab/parts/runc", GO_TOOLCHAIN]),
    go_part("etcd-3.6", &["end2end/lab/parts/etcd-3.6", GO_TOOLCHAIN]),
    go_part("kubernetes-1.34", &["end2end/lab/parts/kubernetes-1.34", GO_TOOLCHAIN]),
    go_part("coredns-1.12.1", &["end2end/lab/parts/coredns-1.12.1", GO_TOOLCHAIN]),
    go_part("etcdctl", &["end2end/lab/parts/etcdctl", GO_TOOLCHAIN]),
    go_part("etcd-3.5", &["end2end/lab/parts/etcd-3.5", GO_TOOLCHAIN]),
    go_part("kubernetes-1.33", &["end2end/lab/parts/kubernetes-1.33", GO_TOOLCHAIN]),
    go_part("coredns-1.12.0", &["end2end/lab/parts/coredns-1.12.0", GO_TOOLCHAIN]),
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
        files: &["end2end/lab/parts/runner-root", "end2end/lab/parts/ansible"],
        needs: &[],
        revision: 1,
        lane: Lane::Install,
        make: python::runner_root,
    },
    Part {
        name: "images",
        files: &["deploy/runner/playbooks"],
        needs: &["tools", "coredns-1.12.1", "runner-root"],
        revision: 1,
        lane: Lane::Install,
        make: contents::cluster_images,
    },
    release_part(
        "release-1.34",
        &["tools", "kubernetes-1.34", "etcd-3.6", "etcdctl", "coredns-1.12.1", "machine-root"],
    ),
    release_part(
        "release-1.33",
        &["tools", "kubernetes-1.33", "etcd-3.5", "etcdctl", "coredns-1.12.0", "machine-root"],
    ),
];

/// Holds the version of the Go toolchain that compiles all of them.
pub(crate) const GO_TOOLCHAIN: &str = "end2end/lab/parts/go-toolchain.txt";

/// What machines alone need.
pub(crate) const FOR_MACHINES: &[&str] = &["tools", "runc", "machine-root"];
/// What the Kubernetes of the lab needs besides.
pub(crate) const FOR_CLUSTER: &[&str] = &["kubernetes-1.34", "etcd-3.6", "images"];

const fn go_part(name: &'static str, files: &'static [&'static str]) -> Part {
    Part { name, files, needs: &[], revision: 1, lane: Lane::Compile, make: go::build }
}

const fn release_part(name: &'static str, needs: &'static [&'static str]) -> Part {
    Part { name, files: &[], needs, revision: 1, lane: Lane::Install, make: release::assemble }
}

pub(crate) fn part(name: &str) -> Option<&'static Part> {
    PARTS.iter().find(|part| part.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_stands_behind_what_it_needs() {
        for (at, part) in PARTS.iter().enumerate() {
            for need in part.needs {
                assert!(PARTS[..at].iter().any(|earlier| earlier.name == *need), "{} needs {need}", part.name);
            }
        }
    }

    #[test]
    fn every_file_of_a_part_is_there() {
        for part in PARTS {
            for file in part.files {
                assert!(crate::layout::workspace().join(file).exists(), "{}: {file}", part.name);
            }
        }
    }
}
