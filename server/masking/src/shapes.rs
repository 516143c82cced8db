//! Secrets that are recognised by their form, whatever name they have.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::pattern::pattern;

/// What may be a login in a URL. A password may contain `@`.
pub(crate) static LOGIN: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"\b(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<login>[^\s/@]+(?:@[^\s/@"',]*)*)@"#));

/// A kubeadm bootstrap token, and the key that encrypts a cluster's certificates.
pub(crate) static KUBEADM: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b[a-z0-9]{6}\.(?P<secret>[a-z0-9]{16})\b|(?P<flag>--certificate-key[ =])[0-9a-f]{64}"));

/// A token of a service account or of OpenID Connect.
pub(crate) static JWT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"));

/// Base64 as long as a line of a private key, which may be printed without its first line.
pub(crate) static LONG: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?P<newline>\\n)?(?P<run>[A-Za-z0-9+/]{60,}={0,2})"));
/// Shorter runs of letters and digits don't match [`LONG`].
const LONGEST_WORD: usize = 60;

/// How public keys of SSH begin.
pub(crate) const PUBLIC_KEYS: [&str; 3] = ["AAAAB3NzaC1", "AAAAC3NzaC1", "AAAAE2VjZHNh"];

/// Where the last URL with a login begins in `text`.
pub(crate) fn last_login(text: &str) -> Option<usize> {
    let logins = LOGIN.captures_iter(text).filter(|found| public_part(found).is_some());
    Some(logins.last()?.get(0)?.start())
}

/// The part of a login that isn't secret. `None` if nothing in it is: `root` in `ssh://root@host`.
fn public_part<'t>(found: &Captures<'t>) -> Option<&'t str> {
    let part = |name| found.name(name).map_or("", |part| part.as_str());
    let scheme = part("scheme").to_lowercase();
    match part("login").split_once(':') {
        // A token may be the user, with an empty or a fixed password.
        _ if scheme.ends_with("http") || scheme.ends_with("https") => Some(""),
        Some((_, "")) => Some(""),
        Some((user, _)) => Some(&part("login")[..=user.len()]),
        None => None,
    }
}

/// `text` with `mark` in place of the secrets that it contains. Private keys are left to [`crate::private_key`].
pub(crate) fn masked(text: String, mark: &str) -> String {
    let text = if text.contains("://") { logins_masked(text, mark) } else { text };
    let text = if text.contains("eyJ") { replaced(&JWT, text, |_| mark.to_owned()) } else { text };
    replaced(&KUBEADM, text, |found| match (found.name("secret"), found.name("flag")) {
        // Without a digit it is a name with a dot, such as that of a systemd unit.
        (Some(secret), _) if !secret.as_str().contains(|c: char| c.is_ascii_digit()) => found[0].to_owned(),
        (_, flag) => format!("{}{mark}", flag.map_or("", |flag| flag.as_str())),
    })
}

fn logins_masked(text: String, mark: &str) -> String {
    replaced(&LOGIN, text, |found| match public_part(found) {
        Some(public) => format!("{}://{public}{mark}@", &found["scheme"]),
        None => found[0].to_owned(),
    })
}

/// `text` with `mark` in place of base64 that may be part of a private key. A path or a hexadecimal number is none.
pub(crate) fn long_masked(text: String, mark: &str) -> String {
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    if text.as_bytes().split(|byte| !is_base64(byte)).all(|run| run.len() < LONGEST_WORD) {
        return text;
    }
    replaced(&LONG, text, |found| {
        let run = &found["run"];
        let newline = found.name("newline").map_or("", |newline| newline.as_str());
        let has = |kind: fn(&u8) -> bool| run.as_bytes().iter().any(kind);
        let is_base64 = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit);
        let is_public = PUBLIC_KEYS.iter().any(|start| run.starts_with(start));
        if is_base64 && !is_public { format!("{newline}{mark}") } else { found[0].to_owned() }
    })
}

/// `text` with each match of `pattern` replaced.
pub(crate) fn replaced(pattern: &Regex, text: String, with: impl Fn(&Captures<'_>) -> String) -> String {
    match pattern.replace_all(&text, |found: &Captures<'_>| with(found)) {
        Cow::Owned(changed) => changed,
        Cow::Borrowed(_) => text,
    }
}
