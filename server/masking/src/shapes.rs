//! Secrets that are recognised by their form, whatever name they have.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::parts::hidden;
use crate::pattern::pattern;

/// What may be a login in a URL. A password may contain `@`.
pub(crate) static LOGIN: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"\b(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<login>[^\s/@]+(?:@[^\s/@"',]*)*)@"#));

/// A kubeadm bootstrap token, and the key that encrypts a cluster's certificates. JSON writes the end of the line before as `\n`.
pub(crate) static KUBEADM: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?:\b|\\[nrt])(?P<token>[a-z0-9]{6}\.(?P<secret>[a-z0-9]{16}))\b",
        r"|--certificate-key[ =](?P<key>[0-9a-f]{64})",
    ))
});

/// A token of a service account or of OpenID Connect.
pub(crate) static JWT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?:\b|\\[nrt])(?P<token>eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)"));

/// How tokens of services begin, and what follows. The lengths are those of their documentation, so that no other text matches.
const SERVICES: [(&str, &str); 28] = [
    ("ghp_", "[A-Za-z0-9]{36,}"),
    ("gho_", "[A-Za-z0-9]{36,}"),
    ("ghu_", "[A-Za-z0-9]{36,}"),
    ("ghs_", "[A-Za-z0-9]{36,}"),
    ("ghr_", "[A-Za-z0-9]{36,}"),
    ("github_pat_", "[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    ("glpat-", "[A-Za-z0-9_-]{20,}"),
    ("gldt-", "[A-Za-z0-9_-]{20,}"),
    ("glrt-", "[A-Za-z0-9_-]{20,}"),
    ("glptt-", "[A-Za-z0-9_-]{40,}"),
    ("xoxa-", "[0-9][A-Za-z0-9-]{15,}"),
    ("xoxb-", "[0-9][A-Za-z0-9-]{15,}"),
    ("xoxe-", "[0-9][A-Za-z0-9-]{15,}"),
    ("xoxp-", "[0-9][A-Za-z0-9-]{15,}"),
    ("xoxr-", "[0-9][A-Za-z0-9-]{15,}"),
    ("xoxs-", "[0-9][A-Za-z0-9-]{15,}"),
    ("hvs.", "[A-Za-z0-9_-]{24,}"),
    ("hvb.", "[A-Za-z0-9_-]{24,}"),
    ("sk_live_", "[A-Za-z0-9]{20,}"),
    ("rk_live_", "[A-Za-z0-9]{20,}"),
    ("npm_", "[A-Za-z0-9]{36,}"),
    ("AIza", "[A-Za-z0-9_-]{35}"),
    ("pypi-AgE", "[A-Za-z0-9_-]{50,}"),
    ("AGE-SECRET-KEY-1", "[0-9A-Z]{58}"),
    ("SG.", r"[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    ("dop_v1_", "[0-9a-f]{64}"),
    ("doo_v1_", "[0-9a-f]{64}"),
    ("dor_v1_", "[0-9a-f]{64}"),
];

/// How URLs begin that end with a secret.
const WEBHOOKS: [&str; 7] = [
    "api.telegram.org/bot",
    "api.telegram.org/file/bot",
    "hooks.slack.com/services/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    "outlook.office.com/webhook/",
    "webhook.office.com/webhookb2/",
];

/// What every match of [`SERVICE`] contains. Quicker to search for.
pub(crate) static SERVICE_STARTS: LazyLock<Vec<&str>> =
    LazyLock::new(|| SERVICES.iter().map(|(start, _)| *start).chain(WEBHOOKS).collect());

/// A token of a service, or the secret at the end of a URL.
pub(crate) static SERVICE: LazyLock<Regex> = LazyLock::new(|| {
    let tokens: Vec<_> = SERVICES.iter().map(|(start, rest)| literal(start) + rest).collect();
    pattern(&format!(
        r"(?:\b|\\[nrt])(?P<token>{})|(?:{})(?P<path>[A-Za-z0-9:@/_-]{{16,}})",
        tokens.join("|"),
        webhooks()
    ))
});

/// A pattern of the starts of the URLs that end with a secret.
pub(crate) fn webhooks() -> String {
    WEBHOOKS.map(literal).join("|")
}

fn literal(text: &str) -> String {
    text.replace('.', r"\.")
}

/// What every match of [`FORM`] contains. Quicker to search for.
pub(crate) const FORM_PARTS: [&str; 11] =
    ["$1", "$2", "$5", "$6", "$7", "$y", "$gy", "$apr1", "$argon2", ":AA", "/hooks/"];

/// The hash of a password, as `/etc/shadow`, htpasswd and others have it; the token of a bot of Telegram; and the secret at the end of the
/// URL of a webhook of Mattermost or Rocket.Chat. Compose files double the `$`, and other texts escape it.
pub(crate) static FORM: LazyLock<Regex> = LazyLock::new(|| {
    // `@` is what separates the parts of a hash.
    let hashes = [
        "2[abxy]@[0-9]{2}@[./A-Za-z0-9]{53}",
        "(?:1|apr1)@[./A-Za-z0-9]{0,8}@[./A-Za-z0-9]{22}",
        "5@(?:rounds=[0-9]{1,9}@)?[./A-Za-z0-9]{0,16}@[./A-Za-z0-9]{43}",
        "6@(?:rounds=[0-9]{1,9}@)?[./A-Za-z0-9]{0,16}@[./A-Za-z0-9]{86}",
        "7@[./A-Za-z0-9]{11,97}@[./A-Za-z0-9]{43}",
        "g?y@[./A-Za-z0-9]{1,16}@[./A-Za-z0-9]{0,86}@[./A-Za-z0-9]{43}",
        "argon2(?:id|i|d)@v=[0-9]{1,3}@m=[0-9]{1,9},t=[0-9]{1,9},p=[0-9]{1,9}@[A-Za-z0-9+/]{8,128}@[A-Za-z0-9+/]{16,}",
    ];
    let hashes = hashes.join("|").replace('@', r"\\{0,4}\$\$?");
    pattern(&format!(
        r"(?P<hash>\$\$?(?:{hashes}))|(?:\b|\\[nrt])(?P<bot>[0-9]{{8,10}}:AA[A-Za-z0-9_-]{{33}})|/hooks/(?P<hook>{})\b",
        "[a-z0-9]{26}|[A-Za-z0-9]{17,24}/[A-Za-z0-9]{40,}"
    ))
});

/// Base64 as long as a line of a private key, which may be printed without its first line.
pub(crate) static LONG: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?P<newline>\\n)?(?P<run>[A-Za-z0-9+/]{60,}={0,2})"));
/// Shorter runs of letters and digits don't match [`LONG`].
const LONGEST_WORD: usize = 60;

/// How public keys of SSH begin.
pub(crate) const PUBLIC_KEY_STARTS: [&str; 3] = ["AAAAB3NzaC1", "AAAAC3NzaC1", "AAAAE2VjZHNh"];

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
    let parts = parts(&text);
    hidden(text, parts, mark)
}

/// Where the secrets are in `text`, except for private keys.
pub(crate) fn parts(text: &str) -> Vec<Range<usize>> {
    let mut parts = if text.contains("://") { logins(text) } else { Vec::new() };
    if text.contains("eyJ") {
        parts.extend(JWT.captures_iter(text).filter_map(|found| range(&found, "token")));
    }
    parts.extend(SERVICE.captures_iter(text).filter_map(|found| range(&found, "token").or(range(&found, "path"))));
    if FORM_PARTS.iter().any(|part| text.contains(part)) {
        let found = FORM.captures_iter(text);
        parts.extend(
            found.filter_map(|found| ["hash", "bot", "hook"].into_iter().find_map(|group| range(&found, group))),
        );
    }
    // Without a digit it is a name with a dot, such as that of a systemd unit.
    let is_name = |found: &Captures<'_>| {
        found.name("secret").is_some_and(|secret| !secret.as_str().contains(|c: char| c.is_ascii_digit()))
    };
    let of_kubeadm = KUBEADM.captures_iter(text).filter(|found| !is_name(found));
    parts.extend(of_kubeadm.filter_map(|found| range(&found, "token").or(range(&found, "key"))));
    parts
}

fn range(found: &Captures<'_>, group: &str) -> Option<Range<usize>> {
    Some(found.name(group)?.range())
}

fn logins(text: &str) -> Vec<Range<usize>> {
    let secret = LOGIN.captures_iter(text).filter_map(|found| {
        let login = found.name("login")?;
        Some(login.start() + public_part(&found)?.len()..login.end())
    });
    secret.collect()
}

/// Where `text` has base64 that may be part of a private key. A path or a hexadecimal number is none.
pub(crate) fn long_parts(text: &str) -> Vec<Range<usize>> {
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    if text.as_bytes().split(|byte| !is_base64(byte)).all(|run| run.len() < LONGEST_WORD) {
        return Vec::new();
    }
    let runs = LONG.captures_iter(text).filter_map(|found| found.name("run"));
    let of_key = runs.filter(|run| {
        let has = |kind: fn(&u8) -> bool| run.as_str().as_bytes().iter().any(kind);
        let is_base64 = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit);
        is_base64 && !PUBLIC_KEY_STARTS.iter().any(|start| run.as_str().starts_with(start))
    });
    of_key.map(|run| run.range()).collect()
}

/// `text` with each match of `pattern` replaced.
pub(crate) fn replaced(pattern: &Regex, text: String, with: impl Fn(&Captures<'_>) -> String) -> String {
    match pattern.replace_all(&text, |found: &Captures<'_>| with(found)) {
        Cow::Owned(changed) => changed,
        Cow::Borrowed(_) => text,
    }
}
