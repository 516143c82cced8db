//! Secrets that are recognised by their form, whatever name they have.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::pattern;

/// What may be a login in a URL. A password may contain `@`.
static LOGIN: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"\b(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<login>[^\s/@]+(?:@[^\s/@"',]*)*)@"#));

/// A kubeadm bootstrap token, and the key that encrypts a cluster's certificates.
static KUBEADM: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b[a-z0-9]{6}\.(?P<secret>[a-z0-9]{16})\b|(?P<flag>--certificate-key[ =])[0-9a-f]{64}"));

/// Whether `text` contains a URL with a login.
pub(crate) fn has_login(text: &str) -> bool {
    LOGIN.captures_iter(text).any(|found| public_part(&found).is_some())
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
    let text = replaced(&LOGIN, text, |found| match public_part(found) {
        Some(public) => format!("{}://{public}{mark}@", &found["scheme"]),
        None => found[0].to_owned(),
    });
    replaced(&KUBEADM, text, |found| match (found.name("secret"), found.name("flag")) {
        // Without a digit it is a name with a dot, such as that of a systemd unit.
        (Some(secret), _) if !secret.as_str().contains(|c: char| c.is_ascii_digit()) => found[0].to_owned(),
        (_, flag) => format!("{}{mark}", flag.map_or("", |flag| flag.as_str())),
    })
}

/// `text` with each match of `pattern` replaced.
pub(crate) fn replaced(pattern: &Regex, text: String, with: impl Fn(&Captures<'_>) -> String) -> String {
    match pattern.replace_all(&text, |found: &Captures<'_>| with(found)) {
        Cow::Owned(changed) => changed,
        Cow::Borrowed(_) => text,
    }
}
