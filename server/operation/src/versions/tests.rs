use std::{fs, path::Path};

use super::*;

fn version(text: &str) -> Version {
    text.parse().unwrap()
}

fn repository(file: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    fs::read_to_string(&file).unwrap_or_else(|why| panic!("{}: {why}", file.display()))
}

#[test]
fn the_catalogue_is_complete_and_in_order() {
    let is_day = |day: &str| day.len() == 10 && day.split('-').map(str::len).eq([4, 2, 2]);
    assert!(is_day(as_of()));
    for minor in minors() {
        let all = minor.run.into_iter().chain([minor.newest, minor.components.of]);
        assert!(all.clone().all(|version| version.series() == minor.minor), "{minor:?}");
        assert!(all.max() == Some(minor.newest), "{minor:?}");
        assert!(is_day(&minor.released) && is_day(&minor.end_of_support) && minor.released < minor.end_of_support);
    }
    // No minor version is missing in between, because an upgrade can't skip one.
    assert!(minors().windows(2).all(|pair| pair[1].newest.is_next_minor_of(pair[0].newest)));
    assert!(kubespray_releases().windows(2).all(|pair| pair[0].to < pair[1].to && pair[0].from < pair[1].from));
    assert!(is_proven(default_version()), "the default is a tested version");
}

#[test]
fn the_playbooks_have_the_default_of_the_catalogue() {
    let line = format!("kube_version: {}\n", default_version());
    assert!(repository("deploy/runner/playbooks/roles/variables/defaults/main.yml").contains(&line), "{line}");
    let spec = repository("deploy/runner/playbooks/roles/variables/meta/argument_specs.yml");
    let kube_version = spec.split("      kube_version:\n").nth(1).unwrap().split("description").next().unwrap();
    assert!(kube_version.contains(&format!("default: {}\n", default_version())), "{kube_version}");
}

#[test]
fn the_versions_that_the_lab_runs_are_the_tested_ones() {
    let parts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../end2end/lab/parts");
    let names = fs::read_dir(parts).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let releases = names.filter(|name| name.starts_with("kubernetes-"));
    let mut run: Vec<Version> = releases
        .map(|name| {
            let module = repository(&format!("end2end/lab/parts/{name}/go.mod"));
            let line = module.lines().find_map(|line| line.trim().strip_prefix("k8s.io/kubernetes "));
            version(line.unwrap().split(' ').next().unwrap())
        })
        .collect();
    run.sort_unstable();
    assert_eq!(run, minors().iter().filter_map(|minor| minor.run).collect::<Vec<_>>());
    let release = repository("end2end/lab/src/build/release.rs");
    for minor in minors().iter().filter(|minor| minor.run.is_some()) {
        let Components { etcd, coredns, pause, .. } = &minor.components;
        let of_lab = release.split(&format!("minor: \"{}\"", minor.minor)).nth(1).unwrap().split("},").next().unwrap();
        for tag in [etcd.clone(), format!("coredns-{}", coredns.trim_start_matches('v')), pause.clone()] {
            assert!(of_lab.contains(&format!("\"{tag}\"")), "{tag} in {of_lab}");
        }
    }
}

#[test]
fn the_docs_show_the_catalogue() {
    let docs = repository("docs/engine.md");
    for Minor { minor, run, newest, released, end_of_support, components } in minors() {
        let run = run.map_or("no".to_owned(), |version| version.to_string());
        let Components { of: _, etcd, coredns, pause } = components;
        let row =
            format!("| {minor} | {run} | {newest} | {released} | {end_of_support} | {etcd} | {coredns} | {pause} |\n");
        assert!(docs.contains(&row), "docs/engine.md lacks:\n{row}");
    }
    for KubesprayRelease { release, from, to, takes_v: _ } in kubespray_releases() {
        let row = format!("| {release} | {from} to {to} |\n");
        assert!(docs.contains(&row), "docs/engine.md lacks:\n{row}");
    }
    for (name, Plugin { version, images, .. }) in plugins() {
        let row = format!("| `{name}` | {version} | {} |\n", images.join(", "));
        assert!(docs.contains(&row), "docs/engine.md lacks:\n{row}");
    }
    for (name, program) in [("containerd", containerd()), ("runc", runc())] {
        let row = format!("| {name} | {} |\n", program.version);
        assert!(docs.contains(&row), "docs/engine.md lacks:\n{row}");
    }
    assert!(docs.contains(as_of()));
}

#[test]
fn plugins_and_programs_have_checksums() {
    let spec = repository("deploy/runner/playbooks/roles/variables/meta/argument_specs.yml");
    let names: Vec<&str> = plugins().map(|(name, _)| name).collect();
    assert!(spec.contains(&format!("choices: [bridge, {}]\n", names.join(", "))), "{names:?}");
    let is_sum = |sum: &str| sum.len() == 64 && sum.chars().all(|c| c.is_ascii_hexdigit());
    assert!(plugins().all(|(_, plugin)| is_sum(&plugin.sha256) && !plugin.images.is_empty()));
    for processor in ["amd64", "arm64"] {
        assert!([helm(), containerd(), runc()].iter().all(|program| is_sum(&program.sha256[processor])));
        for program in ["kubeadm", "kubelet", "kubectl"] {
            assert!(checksum(default_version(), processor, program).is_some_and(is_sum), "{program} for {processor}");
        }
    }
    assert_eq!(checksum(default_version(), "s390x", "kubeadm"), None);
}

#[test]
fn the_tested_and_the_newest_patches_are_offered() {
    let offered = offered(Engine::Kubeonkube, "kubeonkube-runner");
    let labels: Vec<String> = offered.iter().map(OfferedVersion::label).collect();
    assert!(offered.windows(2).all(|pair| pair[0].version > pair[1].version), "{labels:?}");
    assert!(labels.contains(&"1.36.4 (tested, default)".into()), "{labels:?}");
    assert!(labels.contains(&"1.37.2 (tested, newest patch)".into()), "{labels:?}");
    assert!(labels.contains(&"1.35.9 (not tested, newest patch)".into()), "{labels:?}");
    assert_eq!(newest_patch(version("1.36.0")), Some(version("1.36.5")));
    assert_eq!(newest_patch(version("1.20.0")), None);
}

#[test]
fn a_kubespray_image_offers_the_newest_of_its_release() {
    let of = |image: &str| kubespray_release(image).map(|release| release.release.as_str());
    assert_eq!(of("quay.io/kubespray/kubespray:v2.28.1"), Some("v2.28"));
    assert_eq!(of("localhost:5000/kubespray:v2.28.0-own@sha256:00"), Some("v2.28"));
    assert_eq!((of("localhost:5000/kubespray"), of("kubespray:latest"), of("kubespray:v2.280.1")), (None, None, None));
    let versions =
        |image: &str| offered(Engine::Kubespray, image).iter().map(OfferedVersion::label).collect::<Vec<_>>();
    assert_eq!(versions("quay.io/kubespray/kubespray:v2.31.0"), ["1.35.4 (not tested)"]);
    assert!(versions("ghcr.io/kubean-io/spray-job:v0.37.0").is_empty());
}
