//! Installing ansible-core on first use. Needs a Python package index, so it runs only where `KUBEONKUBE_TEST_INSTALL` is set, as
//! on CI.

#[path = "../../tests/skipped/mod.rs"]
mod skipped;

use std::process::Command;

use kubeonkube_runner::Ansible;

#[tokio::test]
async fn ansible_is_installed_once_for_all_who_wait_and_found_again_later() {
    if std::env::var_os("KUBEONKUBE_TEST_INSTALL").is_none() {
        return skipped::skip(
            "ansible_is_installed_once_for_all_who_wait_and_found_again_later",
            "KUBEONKUBE_TEST_INSTALL doesn't allow to ask the package index",
        );
    }
    let data = tempfile::tempdir().unwrap();
    let ansible = Ansible::new(data.path(), None);
    let mut progress = ansible.progress();
    let said = async {
        let mut said = Vec::new();
        while progress.changed().await.is_ok() {
            let sentence = progress.borrow_and_update().clone();
            if sentence.is_empty() {
                break;
            }
            said.push(sentence);
        }
        said
    };
    let (first, second, said) = tokio::join!(ansible.installed(), ansible.installed(), said);
    let first = first.unwrap();
    assert_eq!(first, second.unwrap());
    assert!(said.iter().any(|sentence| sentence.contains("Installing ansible-core")), "{said:?}");
    let version = Command::new(first.bin.join("ansible-playbook")).arg("--version").output().unwrap();
    assert!(String::from_utf8_lossy(&version.stdout).contains(&first.version));
    let folders = || std::fs::read_dir(data.path().join("ansible")).unwrap().count();
    assert_eq!(folders(), 2, "one environment and current.json");

    let later = Ansible::new(data.path(), None);
    assert_eq!(later.installed().await.unwrap(), first);

    // An environment that doesn't work any more is replaced.
    std::fs::remove_file(first.bin.join("python3")).unwrap();
    let repaired = Ansible::new(data.path(), None).installed().await.unwrap();
    assert_ne!(repaired.bin, first.bin);
    assert_eq!(folders(), 2);
}
