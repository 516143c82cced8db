//! Keys in the formats of OpenSSL: which ones ssh reads, and why not.

use kubeonkube_private_key::{Fault, pasted, stored};

const RSA: &str = include_str!("keys/rsa.pem");
const EC: &str = include_str!("keys/ec.pem");

fn why(text: &str) -> Option<Fault> {
    let fault = stored(text.as_bytes()).err();
    assert_eq!(pasted(text).err(), fault, "{text}");
    fault
}

fn body(key: &str) -> String {
    key.lines().filter(|line| !line.starts_with('-')).collect()
}

#[test]
fn all_formats_that_ssh_reads_are_accepted() {
    for key in [
        RSA,
        EC,
        include_str!("keys/rsa-pkcs8.pem"),
        include_str!("keys/ec-pkcs8.pem"),
        include_str!("keys/ec-explicit-curve.pem"),
        include_str!("keys/ec-without-public-key.pem"),
        include_str!("keys/ec-with-parameters.pem"),
        include_str!("keys/dsa.pem"),
        include_str!("keys/dsa-pkcs8.pem"),
    ] {
        assert_eq!(why(key), None, "{key}");
    }
}

/// `openssl ecparam -genkey` writes the curve above the key.
#[test]
fn only_the_key_is_kept_of_a_pasted_file() {
    let key = pasted(include_str!("keys/ec-with-parameters.pem")).unwrap_or_else(|fault| panic!("{fault}"));
    assert!(key.text.starts_with("-----BEGIN EC PRIVATE KEY-----\n"));
    assert_eq!(key.text.matches("-----BEGIN").count(), 1);
}

#[test]
fn keys_of_kinds_that_ssh_lacks_are_refused() {
    assert_eq!(why(include_str!("keys/ed25519-pkcs8.pem")), Some(Fault::Pkcs8Ed25519));
    for key in [include_str!("keys/ed448.pem"), include_str!("keys/rsa-pss.pem"), include_str!("keys/ec-secp256k1.pem")]
    {
        assert_eq!(why(key), Some(Fault::Kind), "{key}");
    }
    let short = Some(Fault::RsaTooShort { bits: 1023, least: 1024 });
    assert_eq!(why(include_str!("keys/rsa-1023-bits.pem")), short);
}

#[test]
fn a_key_that_lost_a_line_is_refused() {
    for key in [RSA, EC, include_str!("keys/rsa-pkcs8.pem"), include_str!("keys/ec-pkcs8.pem")] {
        let lines: Vec<&str> = key.split_inclusive('\n').collect();
        for lost in 1..lines.len() - 1 {
            let text = [&lines[..lost], &lines[lost + 1..]].concat().concat();
            assert_eq!(why(&text), Some(Fault::Broken), "{text}");
        }
        let only_first = [lines[0], lines[1], lines[lines.len() - 1]].concat();
        assert_eq!(why(&only_first), Some(Fault::Broken), "{key}");
    }
}

#[test]
fn the_fitting_label_of_a_key_is_named() {
    let pkcs8 = include_str!("keys/rsa-pkcs8.pem");
    let label = |key: &str, label: &str| format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", body(key));
    let wrong = |found, right| Some(Fault::Label { found, right });
    let (rsa, ec, openssh) = ("RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY");
    assert_eq!(why(&label(EC, rsa)), wrong(rsa, ec));
    assert_eq!(why(&label(RSA, ec)), wrong(ec, rsa));
    assert_eq!(why(&label(RSA, "PRIVATE KEY")), wrong("PRIVATE KEY", rsa));
    assert_eq!(why(&label(RSA, openssh)), wrong(openssh, rsa));
    assert_eq!(why(&label(pkcs8, ec)), wrong(ec, "PRIVATE KEY"));
    assert_eq!(why(&label(pkcs8, rsa)), None);
    let encoded = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmU=";
    assert_eq!(why(&label(encoded, rsa)), wrong(rsa, openssh));
}
