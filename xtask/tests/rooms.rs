//! The dependencies between our crates point one way (ARCHITECTURE.md). The test reads them from cargo's metadata.

use std::collections::BTreeMap;
use std::process::Command;

/// For each of our crates, the ones that it may depend on. Development dependencies (tests) don't count.
const ARROWS: &[(&str, &[&str])] = &[
    ("kubeonkube-api", &[]),
    ("kubeonkube-app", &["kubeonkube-api"]),
    ("kubeonkube-frontend", &["kubeonkube-app"]),
    ("kubeonkube-artifacts", &["kubeonkube-api", "kubeonkube-masking", "kubeonkube-operation"]),
    ("kubeonkube-connections", &["kubeonkube-disk"]),
    ("kubeonkube-crd", &[]),
    ("kubeonkube-disk", &[]),
    ("kubeonkube-hosted", &["kubeonkube-crd"]),
    ("kubeonkube-managed", &["kubeonkube-api", "kubeonkube-crd", "kubeonkube-disk"]),
    ("kubeonkube-masking", &[]),
    // Only for tests.
    ("kubeonkube-mutation", &[]),
    ("kubeonkube-inventory", &["kubeonkube-api", "kubeonkube-masking"]),
    ("kubeonkube-operation", &["kubeonkube-api", "kubeonkube-crd", "kubeonkube-masking"]),
    (
        "kubeonkube-controller",
        &[
            "kubeonkube-api",
            "kubeonkube-crd",
            "kubeonkube-disk",
            "kubeonkube-inventory",
            "kubeonkube-masking",
            "kubeonkube-operation",
            "kubeonkube-private-key",
        ],
    ),
    (
        "kubeonkube-console",
        &[
            "kubeonkube-api",
            "kubeonkube-crd",
            "kubeonkube-inventory",
            "kubeonkube-managed",
            "kubeonkube-masking",
            "kubeonkube-operation",
            "kubeonkube-private-key",
        ],
    ),
    ("kubeonkube-private-key", &[]),
    ("kubeonkube-runlog", &["kubeonkube-api", "kubeonkube-crd", "kubeonkube-disk", "kubeonkube-masking"]),
    ("kubeonkube-standalone", &["kubeonkube-connections", "kubeonkube-disk"]),
    // It serves the logs of the embedded API's pods, and names pods as that API does.
    ("kubeonkube-runner", &["kubeonkube-disk", "kubeonkube-standalone"]),
    (
        "kubeonkube",
        &[
            "kubeonkube-api",
            "kubeonkube-app",
            "kubeonkube-artifacts",
            "kubeonkube-connections",
            "kubeonkube-console",
            "kubeonkube-controller",
            "kubeonkube-crd",
            "kubeonkube-disk",
            "kubeonkube-hosted",
            "kubeonkube-operation",
            "kubeonkube-runlog",
            "kubeonkube-runner",
            "kubeonkube-standalone",
        ],
    ),
    ("kubeonkube-lab", &[]),
    ("xtask", &[]),
];

/// Crates that must not become part of the wasm.
const NOT_IN_WASM: &[&str] = &["kube", "k8s-openapi", "schemars", "serde-saphyr", "regex", "chrono", "jiff", "tokio"];

fn metadata() -> serde_json::Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo writes JSON")
}

/// The normal dependencies of each workspace member, by package name.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    let metadata = metadata();
    let members: Vec<_> =
        metadata["workspace_members"].as_array().expect("members").iter().map(|m| m.as_str().expect("id")).collect();
    let packages = metadata["packages"].as_array().expect("packages");
    packages
        .iter()
        .filter(|package| members.contains(&package["id"].as_str().expect("id")))
        .map(|package| {
            let dependencies = package["dependencies"].as_array().expect("dependencies");
            let names = dependencies
                .iter()
                .filter(|d| d["kind"].is_null())
                .map(|d| d["name"].as_str().expect("name").to_owned());
            (package["name"].as_str().expect("name").to_owned(), names.collect())
        })
        .collect()
}

#[test]
fn crates_depend_only_on_those_they_may() {
    let dependencies = dependencies();
    for (room, known) in &dependencies {
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| name == room) else {
            panic!("{room} is a new crate: add what it may depend on here and in ARCHITECTURE.md");
        };
        for other in known.iter().filter(|name| dependencies.contains_key(*name)) {
            assert!(allowed.contains(&other.as_str()), "{room} must not depend on {other}");
        }
    }
    assert_eq!(dependencies.len(), ARROWS.len(), "a crate was removed: remove it from ARROWS");
}

#[test]
fn the_wasm_contains_no_server_crates() {
    let dependencies = dependencies();
    for room in ["kubeonkube-api", "kubeonkube-app", "kubeonkube-frontend"] {
        for heavy in NOT_IN_WASM {
            assert!(!dependencies[room].iter().any(|name| name == heavy), "{room} must not depend on {heavy}");
        }
    }
}
