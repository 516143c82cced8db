use super::space::{Place, Use};
use super::*;
use crate::build::parts::{PARTS, part};

/// A computer that lacks nothing.
fn fine() -> Facts {
    Facts {
        os: "linux",
        architecture: "x86_64",
        root: true,
        programs: TO_RUN_PROGRAMS.iter().chain(TO_BUILD_PROGRAMS).map(|(name, ..)| *name).collect(),
        go: Some(OLDEST_GO),
        namespaces: NAMESPACES.iter().map(|(kind, _)| *kind).collect(),
        controllers: CONTROLLERS.iter().map(|(name, _)| (*name).to_owned()).collect(),
        refused: [].into(),
        folder: "/lab".into(),
        pip: true,
        libseccomp: true,
        places: Vec::new(),
        on_overlay: false,
    }
}

/// The only sentence for a computer that lacks one thing. No part is built yet.
fn sentence(without: impl FnOnce(&mut Facts)) -> String {
    let mut facts = fine();
    without(&mut facts);
    let mut lacks = lacks(&facts, &PARTS.iter().collect::<Vec<_>>());
    assert_eq!(lacks.len(), 1, "{lacks:?}");
    lacks.remove(0)
}

#[test]
fn a_computer_that_lacks_nothing_is_not_refused() {
    assert_eq!(lacks(&fine(), &PARTS.iter().collect::<Vec<_>>()), Vec::<String>::new());
}

#[test]
fn another_system_processor_or_user_is_refused() {
    for (said, words) in [
        (sentence(|facts| facts.os = "macos"), ["Linux", "namespaces", "this is macos"]),
        (sentence(|facts| facts.architecture = "aarch64"), ["amd64", "pinned", "aarch64"]),
        (
            sentence(|facts| facts.root = false),
            ["root", "to make and enter namespaces", "sudo -E env \"PATH=$PATH\" cargo"],
        ),
        (sentence(|facts| facts.pip = false), ["`pip`", "ansible-core", "apt-get install python3-pip"]),
        (sentence(|facts| facts.libseccomp = false), ["libseccomp", "runc", "apt-get install libseccomp-dev"]),
        (
            sentence(|facts| facts.go = Some((1, 19))),
            ["Go 1.19 is too old", "1.21 or newer", "cargo xtask doctor --install"],
        ),
    ] {
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    }
}

#[test]
fn a_missing_program_is_reported_with_purpose_and_package() {
    for (name, purpose, installed_by) in TO_RUN_PROGRAMS.iter().chain(TO_BUILD_PROGRAMS) {
        let said = sentence(|facts| assert!(facts.programs.remove(name)));
        assert_eq!(said, format!("`{name}`, which {purpose}, is not installed: {installed_by}"));
    }
}

#[test]
fn build_tools_are_not_required_when_everything_is_built() {
    let mut facts = fine();
    facts.programs.retain(|name| TO_RUN_PROGRAMS.iter().any(|(run, ..)| run == name));
    facts.go = Some((1, 19));
    facts.pip = false;
    facts.libseccomp = false;
    assert_eq!(lacks(&facts, &[]), Vec::<String>::new());
    assert_eq!(lacks(&facts, &[part("tools").unwrap()]).len(), TO_BUILD_PROGRAMS.len() + 2);
}

#[test]
fn all_namespace_kinds_and_cgroup_controllers_are_required() {
    for (kind, option) in NAMESPACES {
        let said = sentence(|facts| assert!(facts.namespaces.remove(kind)));
        assert!(said.contains(&format!("no {kind} namespaces")) && said.contains(option), "{said}");
    }
    for (name, option) in CONTROLLERS {
        let said = sentence(|facts| assert!(facts.controllers.remove(*name)));
        assert!(said.contains(&format!("`{name}`")) && said.contains("kubelet") && said.contains(option), "{said}");
    }
}

#[test]
fn controllers_of_both_cgroup_versions_are_found() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("cgroup.controllers"), "memory pids\n").unwrap();
    let mounts = format!(
        "30 25 0:26 / /sys/fs/cgroup/cpu rw,nosuid shared:5 - cgroup cgroup rw,cpu,cpuacct\n\
         31 25 0:27 / {} rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n\
         32 25 0:28 / /tmp rw - tmpfs tmpfs rw,cpuset\n",
        folder.path().display()
    );
    let found = facts::controllers(&mounts);
    assert!(["cpu", "cpuacct", "memory", "pids"].iter().all(|name| found.contains(*name)), "{found:?}");
    assert!(!found.contains("cpuset"));
}

#[test]
fn a_failed_trial_is_reported_with_reason_and_remedy() {
    for trial in TRIALS {
        let said = sentence(|facts| _ = facts.refused.insert(trial.what, "Not supported".to_owned()));
        let words = [trial.what, "Not supported", trial.purpose, trial.remedy];
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    }
    let remedies: String = TRIALS.iter().map(|trial| trial.remedy).collect();
    for module in ["overlay", "bridge", "veth", "br_netfilter", "nf_tables"] {
        assert!(remedies.contains(module), "{module}");
    }
}

#[test]
fn a_small_or_layered_disk_is_refused() {
    let small = Place { of: Use::Parts, folder: "/parts".into(), device: 1, free: 3 << 30 };
    let said = sentence(|facts| facts.places = vec![small]);
    assert!(said.contains("/parts") && said.contains("has 3 GiB free, but up to 4 "), "{said}");
    assert!(sentence(|facts| facts.on_overlay = true).contains("/lab lies on an overlay file system"));
}

#[test]
fn the_version_of_go_is_parsed() {
    assert_eq!(facts::version_of_go("go version go1.26.8 linux/amd64"), Some((1, 26)));
    assert_eq!(facts::version_of_go("go version go1.21 linux/amd64"), Some((1, 21)));
    assert_eq!(facts::version_of_go("go version devel +abc linux/amd64"), None);
}
