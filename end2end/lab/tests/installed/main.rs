//! The images are installed in the lab's own Kubernetes, with kubectl and with helm, and run a playbook on a machine of the lab.
//!
//! `cargo xtask test --stage lab` builds the images (`KUBEONKUBE_IMAGES`) and helm (`KUBEONKUBE_TEST_HELM`). One test at a time: they
//! install the same objects.

mod chart;
mod cluster;
mod console;
mod person;
mod plain;
mod policies;
#[path = "../shared/mod.rs"]
mod shared;
