//! Which values are harmless under a secret name. The rule in words is in the crate's documentation.

use std::sync::LazyLock;

use regex::Regex;

use crate::name::{
    OF_CLOUD_KEYS, OF_LOCATIONS, OF_OBJECTS, ends_with_one, is_known_community, is_of_certificate, may_be_word,
};
use crate::pattern::pattern;

/// Switches and empty values.
pub(crate) const HARMLESS: [&str; 13] =
    ["", "true", "false", "yes", "no", "on", "off", "null", "none", "~", "{}", "[]", "omit"];

/// What encrypted values start with.
pub(crate) const VAULT: &str = "$ANSIBLE_VAULT";

/// A file in a hidden directory of a home directory (`~/.ssh/…`), or below a top-level directory of Linux or of a run's pod. A leading `/` alone doesn't prove a path:
/// one of 64 base64 values starts with it.
pub(crate) static FILE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:/(?:auth|boot|data|dev|etc|home|lib|media|mnt|opt|proc|root|run|srv|sys|tmp|usr|var)(?:/[\w.@-]+)*",
        r"|~/\.[a-z]+(?:/[\w.@-]+)+)/?$"
    ))
});

/// The name of a label with its prefix: `node-role.kubernetes.io/control-plane`. Tolerations and the like have it as `key`.
pub(crate) static LABEL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+/[A-Za-z0-9][\w.-]{0,62}$")
});

/// The name of a file, such as that of a key or a certificate.
pub(crate) static FILE_NAME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^(?:[\w.@-]*/)*[\w.@-]+\.(?:pem|key|crt|cer|csr|p12|pfx|jks|pub|json|ya?ml|txt|conf|env|gpg)$")
});

/// Ordinary words, perhaps joined: `created_at`, `createdAt`, `kube-word`.
pub(crate) static WORDS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[a-z]+(?:[A-Z_.:/-][a-z]+)*[_.:/-]?$"));

/// The hash of a password: `$6$salt$…`.
pub(crate) static HASH: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^\$(?:1|5|6|7|y|gy|2[abxy]?|apr1|argon2(?:id?|d)|scrypt|pbkdf2[\w-]*)\$[\w./+$,=-]{8,}")
});

/// What programs report about a secret instead of the secret: `password: required`, `passwd: password unchanged`.
pub(crate) static STATE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:[Tt]he )?(?:(?:[Pp]ass(?:word|phrase)|[Tt]oken|[Kk]ey|[Ss]ecret|[Cc]redential|[Cc]ertificate)s? )?",
        r"(?:(?:is|are|was|were|has|have|been|already|not|successfully) )*",
        r"(?:[Ee]nabled|[Dd]isabled|[Rr]equired|[Oo]ptional|[Ee]xpired|[Ii]nvalid|[Uu]nchanged|[Cc]hanged|[Uu]pdated|[Mm]issing|",
        r"[Uu]nset|[Cc]reated|[Rr]emoved|[Aa]ccepted|[Rr]ejected|[Ii]ncorrect)(?: successfully)?[.!]?$",
    ))
});

/// Public keys of SSH, one in each line, perhaps with options before and a comment after. Not with `environment="…"` or `command="…"`,
/// which may contain a secret.
pub(crate) static PUBLIC_KEYS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"^(?:(?:(?:(?:no-[a-z0-9-]+|restrict|cert-authority|from="[\w.:*?!/,-]*")[, ])+)?"#,
        r"(?:sk-)?(?:ssh-[a-z0-9]+|ecdsa-sha2-[a-z0-9]+)(?:@openssh\.com)? ",
        r"AAAA[A-Za-z0-9+/]+={0,2}(?: [^\n]*)?(?:\n|$))+$",
    ))
});

/// What a `key` names instead of being one: a secret (`tls.key`, `password`), a taint (`CriticalAddonsOnly`) or a host.
pub(crate) static KEY_NAME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:(?:[A-Za-z]+[_.-])?(?:password|passwd|token|secret|username)|[A-Za-z]+\.(?:key|crt|cert)|CriticalAddonsOnly",
        r"|value|name|key|crt|cert",
        r"|\d{1,3}(?:\.\d{1,3}){3})$",
    ))
});

/// Certificates, which are public, with their lines as they are or as JSON writes them.
pub(crate) static CERTIFICATES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:(?:\\n|\s)*-----BEGIN (?:TRUSTED )?CERTIFICATE-----(?:[A-Za-z0-9+/=\s]|\\n)*",
        r"-----END (?:TRUSTED )?CERTIFICATE-----)+(?:\\n|\s)*$",
    ))
});

/// The name of a resource of AWS, such as a key or a secret: `arn:aws:kms:eu-central-1:123456789012:key/…`.
pub(crate) static ARN: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^arn:aws[a-z-]*:[a-z0-9-]+:[a-z0-9-]*:[0-9]*:[\w/:.+@-]+$"));

/// The name of an object, perhaps with its namespace: `ingress/default-tls`, `k8s-nodes`, `web01`. A longer word with several digits may be a
/// password: `hunter22`. Only one of the alternatives matches a word, because Python would try all combinations for a long value.
pub(crate) static OBJECT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:[a-z]+|[a-z]{4,}0?[0-9]|[a-z]{1,3}[0-9]{1,4}[a-z]*)",
        r"(?:[._/-](?:[a-z]+|[a-z]{4,}0?[0-9]|[a-z]{0,3}[0-9]{1,4}[a-z]*)?)*$",
    ))
});

/// A URL without a login or a query. A template may be its start. A long part of letters and digits may be a token, as in the URL of a
/// webhook or of a private repository, unless it is the fingerprint of a key.
pub(crate) static URL: LazyLock<Regex> = LazyLock::new(|| {
    // Only one of these matches a word: Python would try all combinations for a long URL.
    let word = "(?:[A-Za-z0-9]{1,15}|[A-Za-z][a-z]{15,19}|[0-9A-F]{16}|[0-9A-F]{40})";
    let part = format!("[._~:+-]*{word}(?:[._~:+-]+{word})*[._~:+-]*");
    pattern(&format!(r"^(?:https?://[A-Za-z0-9.-]+(?::[0-9]+)?|\{{\{{ ?[a-z][a-z0-9_]* ?\}}\}}/{part})(?:/{part})*/?$"))
});

/// The fingerprint or the ID of an OpenPGP key.
pub(crate) static KEY_ID: LazyLock<Regex> =
    LazyLock::new(|| pattern("^(?:0x)?(?:[0-9A-F]{8}|[0-9A-F]{16}|[0-9A-F]{40})$"));

/// The ID of a key that a cloud keeps.
pub(crate) static CLOUD_KEY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:mrk-[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
        r"|alias/[\w/-]+|projects/[\w/.-]+)$",
    ))
});

/// Names whose value may be the name of a label.
pub(crate) const OF_LABELS: [&str; 2] = ["key", "topologykey"];

/// Whether a value may be shown although its name is secret.
pub(crate) fn is_harmless(name: &str, value: &str) -> bool {
    // Quotes, a comma of JSON over several lines, or the quote that ends the arguments of a command.
    let plain = value.trim().trim_end_matches(['"', '\'', ',']).trim_start_matches(['"', '\'']).trim();
    let plain = Some(plain).filter(|plain| !plain.is_empty()).unwrap_or(value.trim());
    HARMLESS.iter().any(|word| plain.eq_ignore_ascii_case(word))
        || FILE.is_match(plain)
        || STATE.is_match(plain)
        || PUBLIC_KEYS.is_match(plain)
        || CERTIFICATES.is_match(plain)
        || ARN.is_match(plain)
        || (OF_LABELS.iter().any(|key| name.eq_ignore_ascii_case(key))
            && (LABEL.is_match(plain) || KEY_NAME.is_match(plain) || URL.is_match(plain)))
        || is_known_community(name, plain)
        || (WORDS.is_match(plain) && may_be_word(name))
        || (OBJECT.is_match(plain)
            && (ends_with_one(name, &OF_OBJECTS) || (is_of_certificate(name) && plain.contains('/'))))
        || ((URL.is_match(plain) || KEY_ID.is_match(plain)) && ends_with_one(name, &OF_LOCATIONS))
        || (CLOUD_KEY.is_match(plain) && ends_with_one(name, &OF_CLOUD_KEYS))
}
