//! The judgement of stored keys is that of ssh itself. Needs ssh-keygen.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use kubeonkube_private_key::{Fault, stored};

#[path = "../../tests/skipped/mod.rs"]
mod skipped;

fn keygen(arguments: &[&str], file: &Path) -> Output {
    Command::new("ssh-keygen").args(arguments).arg("-f").arg(file).output().expect("ssh-keygen starts")
}

fn generate(folder: &Path, number: usize, arguments: &[&str]) -> String {
    let file = folder.join(number.to_string());
    let made = keygen(&[&["-q", "-C", "me"], arguments].concat(), &file);
    assert!(made.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&made.stderr));
    fs::read_to_string(file).unwrap()
}

/// Whether ssh can use this file as it is, without a passphrase.
fn ssh_uses(folder: &Path, text: &str) -> bool {
    let file = folder.join("tried");
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    keygen(&["-y", "-P", ""], &file).status.success()
}

/// The text with lines changed, by the name of the change.
fn variants(key: &str) -> Vec<(&'static str, String)> {
    let body = key.lines().filter(|line| !line.starts_with('-')).collect::<String>();
    let (first, last) = (key.lines().next().unwrap(), key.lines().last().unwrap());
    let cut = |width: usize| {
        let lines = body.as_bytes().chunks(width).map(|line| String::from_utf8_lossy(line).into_owned() + "\n");
        format!("{first}\n{}{last}\n", lines.collect::<String>())
    };
    vec![
        ("unchanged", key.to_owned()),
        ("no last line end", key.trim_end().to_owned()),
        ("blank lines below", format!("{key}\n\n")),
        ("blank line above", format!("\n{key}")),
        ("BOM", format!("\u{feff}{key}")),
        ("CR LF", key.replace('\n', "\r\n")),
        ("CR", key.replace('\n', "\r")),
        ("CR LF in the body", key.replace('\n', "\r\n").replace("-----\r\n", "-----\n")),
        ("one line", key.replace('\n', " ")),
        ("two characters for a line end", key.replace('\n', "\\n")),
        ("indented", key.replace('\n', "\n  ")),
        ("first line indented", format!("  {key}")),
        ("spaces at the ends", key.replace('\n', " \n")),
        ("quoted", format!("\"{key}\"")),
        ("blank lines between", key.replace('\n', "\n\n")),
        ("body in one line", cut(usize::MAX)),
        ("lines of 64", cut(64)),
        ("lines of 76", cut(76)),
        ("lines of 10", cut(10)),
        ("body joined to the first line", key.replacen("-----\n", "-----", 1)),
        ("last line joined to the body", key.replacen("\n-----END", "-----END", 1)),
        ("cut", key[..key.len() / 2].to_owned()),
    ]
}

fn has_keygen(test: &str) -> bool {
    let has = Command::new("ssh-keygen").arg("-?").output().is_ok();
    if !has {
        skipped::skip(test, "ssh-keygen is not installed");
    }
    has
}

#[test]
fn a_stored_key_is_accepted_if_and_only_if_ssh_can_use_it() {
    if !has_keygen("a_stored_key_is_accepted_if_and_only_if_ssh_can_use_it") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let kinds: [&[&str]; 6] = [
        &["-t", "ed25519", "-N", ""],
        &["-t", "rsa", "-b", "2048", "-N", ""],
        &["-t", "ecdsa", "-b", "384", "-N", ""],
        &["-t", "rsa", "-b", "2048", "-m", "PEM", "-N", ""],
        &["-t", "ecdsa", "-m", "PEM", "-N", ""],
        &["-t", "ecdsa", "-m", "PKCS8", "-N", ""],
    ];
    for (number, kind) in kinds.into_iter().enumerate() {
        let key = generate(folder.path(), number, kind);
        for (name, text) in variants(&key) {
            let judged = stored(text.as_bytes()).err();
            assert_eq!(judged.is_none(), ssh_uses(folder.path(), &text), "{kind:?} {name}: {judged:?}");
        }
    }
    let encrypted: [&[&str]; 3] = [
        &["-t", "ed25519", "-N", "hunter2"],
        &["-t", "rsa", "-b", "2048", "-m", "PEM", "-N", "hunter2"],
        &["-t", "ecdsa", "-m", "PKCS8", "-N", "hunter2"],
    ];
    for (number, kind) in encrypted.into_iter().enumerate() {
        let key = generate(folder.path(), 10 + number, kind);
        assert_eq!(stored(key.as_bytes()).err(), Some(Fault::Passphrase), "{kind:?}");
    }
}

/// The secret number of every second key of this curve is a byte shorter.
#[test]
fn the_public_key_of_each_ecdsa_key_is_known() {
    if !has_keygen("the_public_key_of_each_ecdsa_key_is_known") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for number in 0..10 {
        let key = generate(folder.path(), number, &["-t", "ecdsa", "-b", "521", "-N", ""]);
        let public = fs::read_to_string(folder.path().join(format!("{number}.pub"))).unwrap();
        let read = stored(key.as_bytes()).unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(read.public.as_deref(), Some(public.trim_end()));
    }
}
