//! Keys as they come out of password managers, editors and environment files.

use kubeonkube_private_key::{Fault, PrivateKey, pasted, stored};
use ssh_key::rand_core::OsRng;
use ssh_key::{Algorithm, LineEnding};

const BEGIN: &str = "-----BEGIN OPENSSH PRIVATE KEY-----";
const END: &str = "-----END OPENSSH PRIVATE KEY-----";

/// Keys in the formats of OpenSSL.
const OF_OPENSSL: [&str; 6] = [
    include_str!("keys/rsa.pem"),
    include_str!("keys/rsa-pkcs8.pem"),
    include_str!("keys/ec.pem"),
    include_str!("keys/ec-pkcs8.pem"),
    include_str!("keys/dsa.pem"),
    include_str!("keys/dsa-pkcs8.pem"),
];

fn generated() -> String {
    let key = ssh_key::PrivateKey::random(&mut OsRng, Algorithm::Ed25519).unwrap();
    key.to_openssh(LineEnding::LF).unwrap().to_string()
}

/// The base64 of a key, in one piece.
fn body(key: &str) -> String {
    key.lines().filter(|line| !line.starts_with('-')).collect()
}

fn fault(read: Result<PrivateKey, Fault>) -> Fault {
    read.err().expect("it is refused")
}

/// Changes that keep the key: all of it can be found in the result.
fn repairable(key: &str) -> Vec<String> {
    let one_line = key.trim_end().replace('\n', " ");
    vec![
        key.to_owned(),
        key.trim_end().to_owned(),
        format!("\n\n  {key}\n\n"),
        key.replace('\n', "\r\n"),
        key.replace('\n', "\r"),
        key.replace('\n', "\n\n"),
        key.replace('\n', " \n"),
        key.replace('\n', "\n    "),
        key.replace('\n', "\t"),
        one_line.clone(),
        key.trim_end().replace('\n', "\u{a0}"),
        key.replace('\n', ""),
        key.replace('\n', "\\n"),
        key.replace('\n', "\\r\\n"),
        format!("\"{}\"", key.replace('\n', "\\n")),
        format!("'{}'", key.trim_end()),
        format!("`{one_line}`"),
        format!("\u{feff}{key}"),
        // Cut into words of other lengths.
        key.replacen(&body(key)[..5], &format!("{} ", &body(key)[..5]), 1),
    ]
}

/// The key with other text around it.
fn surrounded(key: &str) -> Vec<String> {
    let one_line = key.trim_end().replace('\n', " ");
    let certificate = include_str!("keys/certificate.pem");
    vec![
        format!("my key: {key}"),
        format!("# The key of prod\n\n{key}"),
        format!("# Schl\u{fffd}ssel \u{1}\n{key}"),
        format!("{certificate}{key}"),
        format!("{} {one_line}", certificate.replace('\n', " ")),
        format!("{key}the key of prod"),
        format!("{key}ssh-ed25519 AAAA me\n"),
        format!("{key}{}", generated()),
        format!("{one_line} {one_line}"),
        format!("{{\"key\": \"{}\"}}", key.replace('\n', "\\n")),
        format!("ssh-privatekey: |\n  {}", key.replace('\n', "\n  ")),
    ]
}

/// Changes after which the key can't be used.
fn unusable(key: &str) -> Vec<String> {
    let one_line = key.trim_end().replace('\n', " ");
    let half = key.len() / 2;
    let mut texts = vec![
        String::new(),
        body(key),
        key[half..].to_owned(),
        key[..half].to_owned(),
        format!("{}{}", &key[..half], &key[half + 20..]),
        format!("{}{key}", &key[..half]),
        format!("{}{one_line}", &one_line[..half]),
        key.to_lowercase(),
        key.replace("OPENSSH", "openssh"),
        key.replacen("-----BEGIN", "----BEGIN", 1),
        key.replacen("KEY-----", "KEY----", 1),
        key.replacen("KEY-----", "KEY", 1),
        key.replacen("KEY-----\n", "KEY", 1),
        key.replacen("KEY-----\n", "KEY ", 1),
        key.replace("-----", ""),
        key.replace("-----", "—"),
        key.replace(BEGIN, ""),
        key.replace(END, ""),
        key.replace(END, &format!("-----END {}-----", body(key))),
        key.replace("OPENSSH", &body(key)),
        key.replace(END, "-----END RSA PRIVATE KEY-----"),
        key.replace("OPENSSH", "RSA").replacen("RSA", "EC", 1),
        key.replace("OPENSSH", "ENCRYPTED"),
        key.replacen('\n', "\n\0", 1),
        key.replace("AA", "**"),
        key.replace('\n', ";"),
        format!("ssh-ed25519 {}", body(key)),
        format!("PuTTY-User-Key-File-3: {}", body(key)),
        key.repeat(300),
    ];
    // Joined lines without each of the marks' parts: a one-line field, then a slip of the mouse.
    for part in [BEGIN, END, "-----BEGIN ", "-----END ", " PRIVATE KEY", "-----"] {
        texts.push(one_line.replacen(part, "", 1));
    }
    texts
}

#[test]
fn a_pasted_key_whose_lines_were_changed_is_corrected() {
    let key = generated();
    let public = ssh_key::PrivateKey::from_openssh(&key).unwrap().public_key().to_openssh().unwrap();
    for text in repairable(&key) {
        let read = pasted(&text).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
        assert_eq!((read.text.as_str(), read.public.as_deref()), (key.as_str(), Some(public.as_str())), "{text}");
    }
    for key in OF_OPENSSL {
        for text in repairable(key) {
            let read = pasted(&text).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
            assert!(read.text == key && read.public.is_none(), "{text}");
        }
    }
}

#[test]
fn text_around_a_pasted_key_is_dropped() {
    let key = generated();
    for key in OF_OPENSSL.into_iter().chain([key.as_str()]) {
        for text in surrounded(key) {
            let read = pasted(&text).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
            assert!(read.text == key, "{text}");
        }
    }
}

#[test]
fn no_fault_contains_a_part_of_the_key() {
    let made = generated();
    for key in OF_OPENSSL.into_iter().chain([made.as_str()]) {
        let body = body(key).into_bytes();
        let parts: Vec<&str> = body.windows(8).map(|part| std::str::from_utf8(part).unwrap()).collect();
        let check = |text: &str, fault: &Fault| {
            let said = format!("{fault} {fault:?}");
            let part = parts.iter().find(|part| said.contains(*part));
            assert!(part.is_none() && said.len() < 500 && fault.to_string().ends_with('.'), "{said}\n{text}");
        };
        for text in unusable(key) {
            // Of the other formats, some of these keep the key.
            let read = pasted(&text);
            assert!(read.is_err() || key != made, "{text}");
            for fault in [read.err(), stored(text.as_bytes()).err()].into_iter().flatten() {
                check(&text, &fault);
            }
        }
        for text in repairable(key).into_iter().chain(surrounded(key)) {
            if let Some(fault) = stored(text.as_bytes()).err() {
                check(&text, &fault);
            }
        }
    }
}

#[test]
fn each_fault_is_named() {
    let key = generated();
    let why = |text: &str| fault(pasted(text));
    let (label, half) = ("OPENSSH PRIVATE KEY", key.len() / 2);
    assert_eq!(why(" \n"), Fault::Empty);
    assert_eq!(why("ssh-rsa AAAA me"), Fault::Public);
    assert_eq!(why("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"), Fault::Public);
    assert_eq!(why("PuTTY-User-Key-File-3: ssh-ed25519"), Fault::Putty);
    assert_eq!(why("hunter2"), Fault::NotAKey);
    assert_eq!(why(&key.replacen('\n', "\n\u{1}", 1)), Fault::NotText);
    assert_eq!(why(&key[..half]), Fault::EndMissing { label });
    assert_eq!(why(&format!("{}{key}", &key[..half])), Fault::EndMissing { label });
    let other = key.replace(END, "-----END RSA PRIVATE KEY-----");
    assert_eq!(why(&other), Fault::EndDiffers { begin: label, end: "RSA PRIVATE KEY" });
    assert_eq!(why(&key.replace("AA", "**")), Fault::NotBase64);
    assert_eq!(why(&key.replacen("b3BlbnNz", "AAAAAAAA", 1)), Fault::Broken);
    assert_eq!(why(&format!("{BEGIN}\n{END}\n")), Fault::Broken);
    assert_eq!(why(&"x".repeat(70_000)), Fault::TooLong { bytes: 70_000, limit: 65_536 });
    for (label, header) in [("RSA", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n"), ("ENCRYPTED", "")] {
        let key = format!("-----BEGIN {label} PRIVATE KEY-----\n{header}AAAA\n-----END {label} PRIVATE KEY-----\n");
        assert_eq!(why(&key), Fault::Passphrase);
        assert_eq!(why(&key.replace('\n', " ")), Fault::Passphrase);
    }
}

#[test]
fn a_stored_key_must_have_the_lines_that_ssh_reads() {
    let key = generated();
    let why = |text: &str| stored(text.as_bytes()).err();
    assert_eq!(why(&key), None);
    assert_eq!(why(&format!("{key}\n\n")), None);
    assert_eq!(why(key.trim_end()), Some(Fault::LastLineEnd));
    assert_eq!(why(&key.replace('\n', "\r\n")), Some(Fault::WindowsLineEnds));
    assert_eq!(why(&format!("\n{key}")), Some(Fault::Lines));
    assert_eq!(why(&key.replace('\n', " ")), Some(Fault::Lines));
    assert_eq!(why("replace me"), Some(Fault::NotAKey));
    assert_eq!(fault(stored(b"0\x82\x04\xa4")), Fault::NotText);
    let label = "OPENSSH PRIVATE KEY";
    assert_eq!(why(&format!("# prod\n{key}")), Some(Fault::TextBefore { label }));
    assert_eq!(why(&key.replace(END, &format!("{END} prod"))), Some(Fault::TextAfter { label }));
    // OpenSSL reads these lines.
    for key in OF_OPENSSL {
        assert_eq!((why(key.trim_end()), why(&key.replace('\n', "\r\n"))), (None, None));
        assert_eq!(why(&key.replace('\n', " ")), Some(Fault::Lines));
        assert!(matches!(why(&format!("key: {key}")), Some(Fault::TextBefore { .. })));
        assert!(matches!(why(&format!("{} prod", key.trim_end())), Some(Fault::TextAfter { .. })));
    }
}
