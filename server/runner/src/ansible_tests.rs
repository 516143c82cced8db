//! Tests with a fake Python: how it is called, and which folders remain.

#[path = "../../tests/skipped/mod.rs"]
mod skipped;

use super::*;
use crate::run_dir::{Cause, Exit, RunDir, Start};

/// A fake Python 3.11 that copies itself into its virtual environments. It fails when called as in the shell pattern `breaks`.
fn python(folder: &Path, breaks: &str) -> PathBuf {
    let path = folder.join("python");
    let script = format!(
        "#!/bin/sh
         case \"$*\" in
           '' | {breaks}) exit 1 ;;
           *version_info*) echo 3 11 ;;
           '-I -m venv '*) mkdir -p \"$4/bin\" && cp '{}' \"$4/bin/python3\" ;;
         esac",
        path.display()
    );
    executable(&path, &script);
    path
}

/// Writes a program by another process. A child that another test starts meanwhile would inherit a file that is open for writing here, and
/// the kernel doesn't execute such a file.
fn executable(path: &Path, text: &str) {
    let write = "cat > \"$0\" && chmod 700 \"$0\"";
    let mut shell = std::process::Command::new("sh");
    let mut shell = shell.args(["-c", write]).arg(path).stdin(std::process::Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut shell.stdin.take().unwrap(), text.as_bytes()).unwrap();
    assert!(shell.wait().unwrap().success());
}

/// Installs with that Python, as a restarted server.
async fn installed(data: &Path, breaks: &str) -> (Ansible, Installed) {
    let ansible = Ansible::new(data, None, python(data, breaks));
    let installed = ansible.installed().await.unwrap();
    (ansible, installed)
}

/// Makes the installation look like that of an older kubeonkube: another version, which works.
fn age(data: &Path) {
    let path = data.join("ansible/current.json");
    let mut current: Current = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    current.version = "2.16.0".into();
    std::fs::write(path, serde_json::to_vec(&current).unwrap()).unwrap();
}

fn run_with(data: &Path, installed: &Installed) -> RunDir {
    let run = RunDir::of(data, "a-run");
    run.make().unwrap();
    let env = vec![("PATH".to_owned(), format!("{}:/usr/bin", installed.bin.display()))];
    let (uid, command, directory) = ("a-run".into(), vec!["x".into()], data.into());
    let start = Start { uid, command, env, directory, log_limit: 1, confinement: None };
    run.save_start(&start).unwrap();
    run
}

#[tokio::test]
async fn an_older_installation_stays_while_a_run_uses_it() {
    let data = tempfile::tempdir().unwrap();
    let (_, old) = installed(data.path(), "never").await;
    age(data.path());
    let run = run_with(data.path(), &old);

    let (ansible, new) = installed(data.path(), "never").await;
    assert_ne!(new.bin, old.bin);
    assert!(new.bin.to_string_lossy().contains(&new.version), "{}", new.bin.display());
    assert!(old.bin.join("python3").exists(), "a run still uses it");
    ansible.remove_unused().await;
    assert!(old.bin.join("python3").exists(), "a run still uses it");

    let now = jiff::Timestamp::now();
    run.save_exit(&Exit { code: 0, cause: Cause::Exited, started_at: None, finished_at: now }).unwrap();
    ansible.remove_unused().await;
    assert!(!old.bin.exists(), "no run uses it any more");
    assert!(new.bin.join("python3").exists());
}

#[tokio::test]
async fn a_working_installation_stays_if_a_newer_one_fails() {
    let data = tempfile::tempdir().unwrap();
    let (_, old) = installed(data.path(), "never").await;
    age(data.path());
    let (_, still) = installed(data.path(), "'-I -m venv '*").await;
    assert_eq!((still.bin, still.version.as_str()), (old.bin.clone(), "2.16.0"));
    let (_, still) = installed(data.path(), "*version_info*").await;
    assert_eq!(still.bin, old.bin, "without a system Python");
    let left = std::fs::read_dir(data.path().join("ansible")).unwrap().count();
    assert_eq!(left, 2, "a failed attempt left something behind");
}

#[tokio::test]
async fn progress_names_the_version() {
    let data = tempfile::tempdir().unwrap();
    let ansible = Ansible::new(data.path(), None, python(data.path(), "never"));
    let mut progress = ansible.progress();
    let sentence = async {
        progress.changed().await.unwrap();
        progress.borrow_and_update().clone()
    };
    let (sentence, _) = tokio::join!(sentence, ansible.installed());
    assert!(sentence.starts_with("Installing ansible-core 2.18.19 for first use"), "{sentence}");
}

#[tokio::test]
async fn an_existing_installation_is_used_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ansible-playbook"), "").unwrap();
    let ansible = Ansible::new(folder.path(), Some(folder.path().to_owned()), "python3");
    assert_eq!(ansible.installed().await.unwrap().bin, folder.path());
}

#[tokio::test]
async fn a_wrong_folder_is_named_in_the_error() {
    let folder = tempfile::tempdir().unwrap();
    let ansible = Ansible::new(folder.path(), Some(folder.path().join("nothing")), "python3");
    assert!(ansible.installed().await.unwrap_err().to_string().contains("nothing contains no ansible-playbook"));
}

#[tokio::test]
async fn a_failed_attempt_gives_the_reason_and_is_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let ansible = Ansible::new(folder.path(), None, folder.path().join("python"));
    let error = ansible.installed().await.unwrap_err().to_string();
    assert!(error.contains("Python 3 was not found"), "{error}");
    std::os::unix::fs::symlink("/bin/false", folder.path().join("python")).unwrap();
    assert!(ansible.installed().await.is_err());
    std::fs::remove_file(folder.path().join("python")).unwrap();
    executable(&folder.path().join("python"), "#!/bin/sh\necho 3 7\n");
    let error = ansible.installed().await.unwrap_err().to_string();
    assert!(error.contains("Python 3.7"), "{error}");
}

/// Installs. If the package index didn't answer, it is asked once more.
async fn installed_from_index(ansible: &Ansible) -> Installed {
    let mut attempt = ansible.installed().await;
    if let Err(AnsibleError::NotInstalled(_)) = attempt {
        attempt = ansible.installed().await;
    }
    attempt.unwrap_or_else(|error| panic!("infrastructure: {error}"))
}

/// Needs a Python package index, so it runs only if `KUBEONKUBE_TEST_INSTALL` is set, as on CI.
#[tokio::test]
async fn ansible_is_installed_once_and_found_again_later() {
    if std::env::var_os("KUBEONKUBE_TEST_INSTALL").is_none() {
        return skipped::skip(
            "ansible_is_installed_once_and_found_again_later",
            "KUBEONKUBE_TEST_INSTALL is not set, so the package index may not be used",
        );
    }
    let data = tempfile::tempdir().unwrap();
    let ansible = Ansible::new(data.path(), None, "python3");
    let mut progress = ansible.progress();
    let sentences = async {
        let mut sentences = Vec::new();
        while progress.changed().await.is_ok() {
            let sentence = progress.borrow_and_update().clone();
            if sentence.is_empty() {
                break;
            }
            sentences.push(sentence);
        }
        sentences
    };
    let (first, second, sentences) =
        tokio::join!(installed_from_index(&ansible), installed_from_index(&ansible), sentences);
    assert_eq!(first, second);
    assert!(sentences.iter().any(|sentence| sentence.contains("Installing ansible-core")), "{sentences:?}");
    let version = std::process::Command::new(first.bin.join("ansible-playbook")).arg("--version").output().unwrap();
    assert!(String::from_utf8_lossy(&version.stdout).contains(&first.version));
    let folders = || std::fs::read_dir(data.path().join("ansible")).unwrap().count();
    assert_eq!(folders(), 2, "one environment and current.json");

    let later = Ansible::new(data.path(), None, "python3");
    assert_eq!(later.installed().await.unwrap(), first);

    // A broken environment is replaced.
    std::fs::remove_file(first.bin.join("python3")).unwrap();
    let repaired = installed_from_index(&Ansible::new(data.path(), None, "python3")).await;
    assert_ne!(repaired.bin, first.bin);
    assert_eq!(folders(), 2);
}
