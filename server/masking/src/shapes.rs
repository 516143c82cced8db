//! Secrets that are recognised by their form, whatever name they have.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::pattern;

/// A login in a URL.
static LOGIN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?P<before>\b[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@]*:)[^\s/@]+(?P<after>@)|(?P<scheme>\b[Hh][Tt][Tt][Pp][Ss]?://)[^\s/:@]+(?P<at>@)",
    )
});

/// A kubeadm bootstrap token, and the key that encrypts a cluster's certificates.
static KUBEADM: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b[a-z0-9]{6}\.(?P<secret>[a-z0-9]{16})\b|(?P<flag>--certificate-key[ =])[0-9a-f]{64}"));

/// Whether `text` contains a URL with a login.
pub(crate) fn has_login(text: &str) -> bool {
    LOGIN.is_match(text)
}

/// `text` with `mark` in place of the secrets that it contains. Private keys are left to [`crate::private_key`].
pub(crate) fn masked(text: String, mark: &str) -> String {
    let text = replaced(&LOGIN, text, |found| {
        let part = |name| found.name(name).map_or("", |part| part.as_str());
        format!("{}{}{mark}{}{}", part("before"), part("scheme"), part("after"), part("at"))
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
