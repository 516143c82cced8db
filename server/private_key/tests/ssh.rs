//! The judgement of stored keys is that of ssh itself. Needs ssh-keygen.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kubeonkube_private_key::{Fault, pasted, stored};

#[path = "../../tests/skipped/mod.rs"]
mod skipped;

const CERTIFICATE: &str = include_str!("keys/certificate.pem");

/// Keys that ssh-keygen doesn't write, but that every version reads, or none.
const OF_OPENSSL: [(&str, &str); 9] = [
    ("RSA", include_str!("keys/rsa.pem")),
    ("RSA in PKCS #8", include_str!("keys/rsa-pkcs8.pem")),
    ("short RSA", include_str!("keys/rsa-1023-bits.pem")),
    ("RSA-PSS", include_str!("keys/rsa-pss.pem")),
    ("EC without the public key", include_str!("keys/ec-without-public-key.pem")),
    ("EC with all numbers of the curve", include_str!("keys/ec-explicit-curve.pem")),
    ("EC on another curve", include_str!("keys/ec-secp256k1.pem")),
    ("EC in PKCS #8", include_str!("keys/ec-pkcs8.pem")),
    ("ed448", include_str!("keys/ed448.pem")),
];

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
    let label = &first["-----BEGIN ".len()..first.len() - "-----".len()];
    let labelled = |other: &str| key.replace(label, other);
    let decoded = STANDARD.decode(&body).unwrap();
    let with_body = |bytes: &[u8]| format!("{first}\n{}\n{last}\n", STANDARD.encode(bytes));
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
        ("blank line below the first", key.replacen("-----\n", "-----\n\n", 1)),
        ("two blank lines below the first", key.replacen("-----\n", "-----\n\n\n", 1)),
        ("blank line below the first, lines of 76", cut(76).replacen("-----\n", "-----\n\n", 1)),
        ("blank line above the last", key.replace("\n-----END", "\n\n-----END")),
        ("header", key.replacen("-----\n", "-----\nComment: prod\n\n", 1)),
        ("comment above", format!("# prod\n{key}")),
        ("comment above in another encoding", format!("\u{feff}# prod\u{1}\u{fffd}\n{key}")),
        ("comment above with CR", format!("# prod\r{key}")),
        ("comment in the first line", format!("prod: {key}")),
        ("certificate above", format!("{CERTIFICATE}{key}")),
        ("half of a certificate above", format!("{}\n{key}", &CERTIFICATE[..CERTIFICATE.len() / 2])),
        ("comment below", format!("{key}# prod\u{1}\u{fffd}\n")),
        ("comment in the last line", format!("{} prod\n", key.trim_end())),
        ("public key below", format!("{key}ssh-ed25519 AAAA me\n")),
        ("certificate below", format!("{key}{CERTIFICATE}")),
        ("the same key below", format!("{key}{key}")),
        ("half of the key above", format!("{}\n{key}", &key[..key.len() / 2])),
        ("label of RSA", labelled("RSA PRIVATE KEY")),
        ("label of EC", labelled("EC PRIVATE KEY")),
        ("label of DSA", labelled("DSA PRIVATE KEY")),
        ("label of PKCS #8", labelled("PRIVATE KEY")),
        ("label of OpenSSH", labelled("OPENSSH PRIVATE KEY")),
        ("unknown label", labelled("SSH PRIVATE KEY")),
        ("bytes below the key", with_body(&[&decoded[..], &[0; 48]].concat())),
    ]
}

/// The key without one of its lines, for each line.
fn lost_lines(key: &str) -> impl Iterator<Item = String> {
    let lines: Vec<&str> = key.split_inclusive('\n').collect();
    (0..lines.len()).map(move |lost| [&lines[..lost], &lines[lost + 1..]].concat().concat())
}

/// Compares the judgement of all variants of the key with that of ssh. What a correction makes is a key for ssh, too.
fn compare(folder: &Path, kind: &str, key: &str) {
    let lost = lost_lines(key).map(|text| ("a line is lost", text));
    for (name, text) in variants(key).into_iter().chain(lost) {
        let (judged, corrected) = (stored(text.as_bytes()).err(), pasted(&text));
        let uses = ssh_uses(folder, &text);
        assert_eq!(judged.is_none(), uses, "{kind}, {name}: {judged:?}\n{text}");
        match corrected {
            Ok(corrected) => {
                assert!(corrected.text == key || ssh_uses(folder, &corrected.text), "{kind}, {name}\n{text}");
            }
            Err(fault) => assert!(!uses, "{kind}, {name}: {fault}\n{text}"),
        }
    }
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
        compare(folder.path(), &format!("{kind:?}"), &key);
    }
    for (kind, key) in OF_OPENSSL {
        compare(folder.path(), kind, key);
    }
    let parameters = include_str!("keys/ec-with-parameters.pem");
    assert!(stored(parameters.as_bytes()).is_ok() && ssh_uses(folder.path(), parameters));
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
