//! Which names are secret. The rule in words is in the crate's documentation.

/// Text within a word that makes a name secret, and how ordinary words start that contain the same text. The rest of such a
/// word may still be secret: `bypasspassword`.
pub(crate) const STEMS: [(&str, &[&str]); 8] = [
    ("pass", &["bypass", "compass", "passenger", "passive", "passthrough"]),
    ("pwd", &[]),
    ("kennwort", &[]),
    ("secret", &["secretar"]),
    ("token", &["tokenis", "tokeniz"]),
    ("credential", &[]),
    ("creds", &[]),
    ("key", &["keyboard", "keycloak", "keymap", "keyserver", "keyspace", "keystone", "monkey", "publickey"]),
];

/// Text at the start or the end of a word that makes a name secret. In the middle of a word it is there by chance: `topskills`, `bresenham`.
pub(crate) const EDGES: [&str; 2] = ["psk", "senha"];

/// Last words of names that name a secret, alone or after others: `jwt`, `github_bearer`.
pub(crate) const LAST: [&str; 6] = ["bearer", "jwt", "preshared", "rocommunity", "rwcommunity", "totp"];
/// The same, only after another word: `session_cookie`, `github_pat`. Not `Set-Cookie`, whose cookies are found one by one.
pub(crate) const LAST_AFTER_OTHERS: [&str; 2] = ["cookie", "pat"];
/// The same, only after certain words, but not right after `version`: `snmp_ro_community`, `hsm_pin`. `gpio_pin` is a number, and
/// `galaxy_community` a group of people. In a map, its name may be that word: `snmp: {community: …}`.
pub(crate) const LAST_AFTER: [(&str, &[&str]); 2] = [
    (
        "community",
        &["read", "readonly", "readwrite", "ro", "rw", "snmp", "snmpd", "snmpv1", "snmpv2", "snmpv2c", "trap", "write"],
    ),
    (
        "pin",
        &[
            "bluetooth",
            "card",
            "hsm",
            "login",
            "luks",
            "pairing",
            "piv",
            "pkcs11",
            "sim",
            "smartcard",
            "so",
            "softhsm",
            "tpm",
            "tpm2",
            "unlock",
            "user",
        ],
    ),
];

/// Values under the name of a community that everybody knows.
pub(crate) const OF_COMMUNITIES: [&str; 2] = ["private", "public"];

/// Whole names that name a secret.
pub(crate) const ALONE: [&str; 1] = ["pat"];
/// Last words of names that name a secret only together.
pub(crate) const ENDS: [&[&str]; 5] = [
    &["community", "string"],
    &["otp", "seed"],
    &["recovery", "code"],
    &["recovery", "codes"],
    &["jfrog", "art", "api"],
];

/// Whole words that contain `auth` and say nothing about a login. `authentications` is in `PreferredAuthentications` of ssh.
pub(crate) const NO_LOGINS: [&str; 6] =
    ["author", "authors", "authority", "authentications", "authorizer", "authorizers"];

/// Last words after which `authorization` and `authentication` mean a setting.
pub(crate) const SETTINGS: [&str; 6] = ["authorizers", "config", "mode", "modes", "timeout", "webhook"];

/// Words after `auth` or `cert` that say that the value is the secret itself.
pub(crate) const CONTENTS: [&str; 13] =
    ["b64", "base64", "bearer", "content", "data", "header", "headers", "p12", "pem", "pfx", "pkcs12", "seed", "users"];

/// Names that are secret by their words but aren't.
pub(crate) const PUBLIC: [&str; 3] =
    ["discovery_token_ca_cert_hash", "secrets_encryption_query", "supplementary_addresses_in_ssl_keys"];

/// How names of settings of the kernel begin that limit its keyrings: `kernel.keys.maxbytes`.
pub(crate) const PUBLIC_START: &str = "kernel.keys.";

/// Last words of names of maps that say where a public key is: `docker_repo_key_info: {url: …}`. `api_key_info` may have a secret.
pub(crate) const PUBLIC_END: [&str; 3] = ["repo", "key", "info"];

/// Last words, after an underscore, of names whose value only points at a secret or describes it.
pub(crate) const POINTERS: [&str; 55] = [
    "algorithm",
    "algorithms",
    "audience",
    "authentications",
    "backend",
    "bits",
    "checking",
    "column",
    "columns",
    "count",
    "days",
    "dir",
    "enabled",
    "engine",
    "expiration",
    "expiry",
    "file",
    "fingerprint",
    "fingerprints",
    "group",
    "groups",
    "host",
    "hosts",
    "hours",
    "issuer",
    "length",
    "lifetime",
    "limit",
    "mechanism",
    "method",
    "methods",
    "minutes",
    "mode",
    "name",
    "names",
    "namespace",
    "path",
    "plugin",
    "policy",
    "port",
    "ports",
    "prompt",
    "provider",
    "realm",
    "retries",
    "seconds",
    "size",
    "timeout",
    "ttl",
    "type",
    "types",
    "usage",
    "usages",
    "user",
    "version",
];

/// The same in any spelling: `secretName`, `secret-name`.
pub(crate) const NAMING: [&str; 6] = ["file", "name", "names", "namespace", "path", "provider"];

/// The two words of names that say how many: `max_tokens`. A longer name may begin with that of a program: `max_mind_tokens`.
pub(crate) const COUNTING: [&str; 3] = ["max", "min", "num"];
pub(crate) const COUNTED: [&str; 3] = ["keys", "secrets", "tokens"];

/// Words before `key` that make it one that everybody may know, and words that may follow it then.
pub(crate) const PUBLIC_WORDS: [&str; 3] = ["authorized", "pub", "public"];
pub(crate) const OF_PUBLIC_KEYS: [&str; 5] = ["b64", "base64", "content", "data", "pem"];

/// Last words, in any spelling, of entries that describe a secret instead of being one, in a map with a secret beside them. So
/// are [`POINTERS`].
pub(crate) const DESCRIPTIONS: [&str; 29] = [
    "address",
    "audience",
    "comment",
    "created",
    "description",
    "domain",
    "email",
    "encoding",
    "endpoint",
    "expires",
    "expiry",
    "format",
    "id",
    "issuer",
    "kind",
    "length",
    "login",
    "owner",
    "policy",
    "region",
    "role",
    "scope",
    "scopes",
    "server",
    "state",
    "ttl",
    "url",
    "username",
    "usernames",
];

/// Last words, in any spelling, of names that refer to a secret by its name and key: `secretKeyRef`.
pub(crate) const REFERENCES: [&str; 2] = ["ref", "refs"];

/// Last words of entries that describe a secret in any map that holds secrets: its user, and the settings of an application that
/// has a name such as `sealed_secrets`. Words that may be accounts aren't here: `passwords: {backend: …}`.
pub(crate) const ALWAYS_DESCRIBING: [&str; 25] = [
    "algorithm",
    "chart",
    "checking",
    "dir",
    "enabled",
    "engine",
    "file",
    "image",
    "kind",
    "mechanism",
    "method",
    "methods",
    "mode",
    "name",
    "namespace",
    "path",
    "port",
    "ports",
    "repository",
    "tag",
    "type",
    "user",
    "username",
    "usernames",
    "version",
];

/// Last words of names of maps from accounts to secrets: there, `user` is an account as well.
pub(crate) const OF_ACCOUNTS: [&str; 4] = ["passwds", "passwords", "pwds", "tokens"];

/// Last two words of names whose value may be the name of a field or the start of other names: `sort_key: created`. A value that is
/// no ordinary word is secret under them, too: Azure calls a password `primary_key`.
pub(crate) const OF_WORDS: [[&str; 2]; 5] =
    [["sort", "key"], ["primary", "key"], ["foreign", "key"], ["partition", "key"], ["key", "prefix"]];

/// Last words of names whose value may be the name of a Kubernetes Secret or of a key pair: `existingSecret: db-login`.
pub(crate) const OF_OBJECTS: [&[&str]; 7] = [
    &["existing", "secret"],
    &["existing", "secrets"],
    &["key", "pair"],
    &["keypair"],
    &["pull", "secret"],
    &["pull", "secrets"],
    &["tls", "secret"],
];

/// Last words of names whose value may be the ID of a key that a cloud keeps. Elsewhere a UUID may be a license.
pub(crate) const OF_CLOUD_KEYS: [&[&str]; 2] = [&["kms", "key"], &["kms", "key", "id"]];

/// Last words of names whose value may be the URL or the fingerprint of a key or a certificate.
pub(crate) const OF_LOCATIONS: [&[&str]; 14] = [
    &["apt", "key"],
    &["cert", "url"],
    &["certificate", "url"],
    &["certs", "url"],
    &["gpg", "key"],
    &["gpg", "key", "id"],
    &["gpg", "keys"],
    &["gpgkey"],
    &["gpgkey", "url"],
    &["key", "url"],
    &["keys", "url"],
    &["repo", "key"],
    &["repo", "keys"],
    &["rpm", "key"],
];

/// Last words of names that only say how the secrets are kept: `secret_list`.
pub(crate) const COLLECTIONS: [&str; 4] = ["dict", "items", "list", "map"];

/// Words before `key` in names of secrets. Others, such as `sort_key`, have settings below them.
pub(crate) const KEYS: [&str; 8] = ["access", "api", "deploy", "encryption", "license", "master", "private", "signing"];

/// Whether all values in a map with this secret name are secret: `secrets: {db: …}`. A map under the name of a single key or
/// login has settings, too: `registry_auth: {user: me, password: …}`.
pub(crate) fn holds_secrets(name: &str) -> bool {
    let mut words = words(name);
    if words.len() > 1 && words.last().is_some_and(|last| COLLECTIONS.contains(&last.as_str())) {
        words.pop();
    }
    let Some(last) = words.last() else { return false };
    let is_key = last.contains("key");
    (last.ends_with('s') && !last.contains("cert"))
        || (has_stem(last) && !is_key)
        || (is_key && words.iter().any(|word| KEYS.contains(&&**word)))
}

/// Whether an entry with this name only describes the secrets of its map, which has the name `map`. `is_record` says that the map
/// has a secret under another name: then this entry isn't it.
pub(crate) fn describes(name: &str, map: &str, is_record: bool) -> bool {
    let has_accounts = words(map).last().is_some_and(|last| OF_ACCOUNTS.contains(&last.as_str()));
    if has_accounts && !is_record && name.eq_ignore_ascii_case("user") {
        return false;
    }
    let describing =
        if is_record { [&POINTERS[..], &DESCRIPTIONS, &REFERENCES].concat() } else { ALWAYS_DESCRIBING.to_vec() };
    words(name).last().is_some_and(|last| describing.contains(&last.as_str()))
}

/// Whether the last word of a name says that its value is secret.
pub(crate) fn names_secret_at_end(name: &str) -> bool {
    words(name).last().is_some_and(|last| has_stem(last))
}

/// Whether this is the last word of a name.
pub(crate) fn ends_with(name: &str, word: &str) -> bool {
    words(name).last().is_some_and(|last| last == word)
}

/// Whether the text under this secret name may list several secrets.
pub(crate) fn is_plural(name: &str) -> bool {
    words(name).last().is_some_and(|last| last == "list" || (last.ends_with('s') && last != "pass"))
}

/// Whether an ordinary word may be shown under this name: see [`OF_WORDS`].
pub(crate) fn may_be_word(name: &str) -> bool {
    words(name).last_chunk().is_some_and(|last: &[String; 2]| OF_WORDS.iter().any(|words| last == words))
}

/// Whether the last words of a name are one of these: see [`OF_OBJECTS`], [`OF_CLOUD_KEYS`], [`OF_LOCATIONS`].
pub(crate) fn ends_with_one(name: &str, ends: &[&[&str]]) -> bool {
    let words = words(name);
    ends.iter().any(|last| ends_with_all(&words, last))
}

/// Whether the last word of a name is that of a certificate.
pub(crate) fn is_of_certificate(name: &str) -> bool {
    words(name).last().is_some_and(|last| last.starts_with("cert"))
}

fn ends_with_all(words: &[String], last: &[&str]) -> bool {
    words.len() >= last.len() && words[words.len() - last.len()..].iter().zip(last).all(|(word, last)| word == last)
}

/// Whether a map with this name refers to a secret elsewhere.
pub(crate) fn is_reference(name: &str) -> bool {
    words(name).last().is_some_and(|last| REFERENCES.contains(&last.as_str()))
}

/// Whether a page or a summary hides the value of this variable, unless the value is harmless.
pub(crate) fn is_secret_name(name: &str) -> bool {
    is_secret(name, |_, _| true)
}

/// Whether a log is searched for the value of this variable, unless the value is harmless. `auth` and `cert` are also in the
/// names of many settings, and masking `publickey` or `script` in every line would make logs unreadable. So these two count
/// only where the value is the secret itself.
pub(crate) fn is_secret_in_log(name: &str) -> bool {
    is_secret(name, |words, at| words.get(at + 1).is_none_or(|next| CONTENTS.contains(&next.as_str())))
}

/// `counts` tells whether the word at an index, which contains `auth` or `cert`, makes the name secret.
fn is_secret(name: &str, counts: impl Fn(&[String], usize) -> bool) -> bool {
    let lower = name.to_lowercase();
    let is_pointer = lower.rsplit_once('_').is_some_and(|(_, last)| POINTERS.contains(&last));
    if is_pointer
        || lower.starts_with(PUBLIC_START)
        || PUBLIC.contains(&lower.trim_start_matches('-').replace('-', "_").as_str())
    {
        return false;
    }
    let words = words(name);
    let last_is = |kind: &[&str]| words.last().is_some_and(|last| kind.contains(&last.as_str()));
    let counts_something = words.len() == 2 && COUNTING.contains(&words[0].as_str()) && last_is(&COUNTED);
    let is_about_key = ends_with_all(&words, &PUBLIC_END);
    if last_is(&REFERENCES) || (words.len() > 1 && last_is(&NAMING)) || counts_something || is_about_key {
        return false;
    }
    let is_after_other = words.len() > 1 && words[words.len() - 2] != "set";
    let is_alone = words.len() == 1 && last_is(&ALONE);
    let is_together = ENDS.iter().any(|last| ends_with_all(&words, last));
    if last_is(&LAST)
        || is_after_certain(&words)
        || (is_after_other && last_is(&LAST_AFTER_OTHERS))
        || is_alone
        || is_together
    {
        return true;
    }
    (0..words.len())
        .any(|at| (has_stem(&words[at]) && !is_public(&words, at)) || (may_be_secret(&words, at) && counts(&words, at)))
}

/// Whether the last word of a name is one of [`LAST_AFTER`], after one of its words.
fn is_after_certain(words: &[String]) -> bool {
    let Some((last, before)) = words.split_last() else { return false };
    let is_after = |after: &[&str]| before.iter().any(|word| after.contains(&word.as_str()));
    before.last().is_some_and(|word| word != "version")
        && LAST_AFTER.iter().any(|(word, after)| last == word && is_after(after))
}

/// Whether the entry `name` of the map `map` is secret, although its own name doesn't say so: `snmp: {community: …}`.
pub(crate) fn is_secret_in_map(name: &str, map: &str) -> bool {
    LAST_AFTER.iter().any(|(word, _)| name.eq_ignore_ascii_case(word)) && is_secret_in_log(&format!("{map}_{name}"))
}

/// Whether the entry `name` of the map `map` may be a map from users to their passwords: `basic_auth: {users: {…}}`.
pub(crate) fn lists_logins(name: &str, map: &str) -> bool {
    name.eq_ignore_ascii_case("users") && words(map).concat().ends_with("basicauth")
}

/// Whether this is the value of a community of SNMP that everybody knows.
pub(crate) fn is_known_community(name: &str, value: &str) -> bool {
    OF_COMMUNITIES.contains(&value) && words(name).iter().any(|word| word.ends_with("community"))
}

/// Whether the word at `at` is a public key.
fn is_public(words: &[String], at: usize) -> bool {
    let is_one_of = |at: usize, wanted: &[&str]| words.get(at).is_none_or(|word| wanted.contains(&word.as_str()));
    at > 0
        && is_one_of(at - 1, &PUBLIC_WORDS)
        && is_one_of(at, &["key", "keys"])
        && is_one_of(at + 1, &OF_PUBLIC_KEYS)
        && words.len() <= at + 2
}

/// The words of a name in lower case: `apiKey`, `api_key` and `api-key` have the same two.
fn words(name: &str) -> Vec<String> {
    let (mut words, mut last) = (vec![String::new()], ' ');
    for c in name.chars() {
        if !c.is_alphanumeric() || (last.is_lowercase() && c.is_uppercase()) {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().expect("there is always one").extend(c.to_lowercase());
        }
        last = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

fn has_stem(word: &str) -> bool {
    word.ends_with("pw")
        || EDGES.iter().any(|edge| word.starts_with(edge) || word.ends_with(edge))
        || STEMS.iter().any(|(stem, ordinary)| without(word, ordinary).contains(stem))
}

/// `word` without the ordinary word that it starts with.
fn without<'w>(word: &'w str, ordinary: &[&str]) -> &'w str {
    ordinary.iter().find_map(|start| word.strip_prefix(start)).unwrap_or(word)
}

/// Whether the word at `at` contains `auth` or `cert` and isn't known to be harmless.
fn may_be_secret(words: &[String], at: usize) -> bool {
    let word = words[at].as_str();
    let (next, last) = (words.get(at + 1), words.last());
    if word == "cert" {
        return next.is_none_or(|next| next != "manager");
    }
    if word == "authorized" {
        return next.is_none_or(|next| !matches!(next.as_str(), "key" | "keys"));
    }
    if word == "authorization" || word == "authentication" {
        return last.is_none_or(|last| !SETTINGS.contains(&last.as_str()));
    }
    (word.contains("auth") && !NO_LOGINS.contains(&word)) || without(word, &["certmanager"]).contains("cert")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_recognised() {
        for name in [
            "password",
            "ansible_ssh_pass",
            "ansible_become_password",
            "pass",
            "dbpass",
            "passwd",
            "passphrase",
            "db_pwd",
            "secret",
            "client-secret",
            "secretKey",
            "api_token",
            "tokens",
            "credentials",
            "aws_creds",
            "key",
            "api_key",
            "apikey",
            "keyring",
            "auth",
            "registry_auth",
            "oauth2",
            "basic_auth_users",
            "Authorization",
            "tls_cert",
            "ca_certificate",
            "bypass_token",
            "bypasspassword",
            "passthroughpassword",
            "keycloak_admin_pw",
            "keycloakDbPw",
            "keystone_admin_pw",
            "rootpw",
            "authorization_header",
            "proxy_authorization_header",
            "authentication_header",
            "authenticator_seed",
            "wifi_psk",
            "wpa2psk",
            "pskvalue",
            "authentik_bootstrap_password",
            "webhook_secret_url",
            "slack_token_url",
            "secret-user",
            "token.url",
            "cert_pfx_base64",
            "cert_pem",
            "client-certificate-data",
            "cert_manager_tls_cert",
            "public_key_password",
            "public_keypassword",
            "authorized_keypass",
            "pub_keystore",
            "public_keytab",
            "public_keyring",
            "public_keys_private",
            "public_key_data_key",
            "max_mind_credentials",
            "maxScalePasswords",
            "min_io_secrets",
            "max_passwords",
            "storage_token_query",
            "authorized_users",
            "jwt",
            "admin-bearer",
            "wifi_preshared",
            "totp",
            "session_cookie",
            "githubPat",
            "pat",
            "otp_seed",
            "recoveryCodes",
            "dbKennwort",
            "senha_banco",
            "X-JFrog-Art-Api",
            "api_key_info",
            "keyError",
            "KEY_ERROR",
            "PasswordDefault",
            "key_error.Token",
            "snmp_community",
            "snmpCommunity",
            "snmp_v2_ro_community",
            "rocommunity",
            "community_string",
            "snmp_server_default_community",
            "hsm_slot_0_pin",
            "hsm_pin",
            "SimPin",
            "pkcs11-user-pin",
            "Password",
        ] {
            assert!(is_secret_name(name) && is_secret_in_log(name), "{name}");
        }
    }

    #[test]
    fn settings_of_logins_and_certificates_stay_in_logs() {
        for name in [
            "auth-type",
            "authMethod",
            "auth_url",
            "oauth2_client_id",
            "cert_management",
            "etcd_cert_alt_ips",
            "authorization_webhook_url",
        ] {
            assert!(is_secret_name(name) && !is_secret_in_log(name), "{name}");
        }
    }

    #[test]
    fn ordinary_names_and_pointers_are_not_secret() {
        for name in [
            "",
            "_",
            "author",
            "authority",
            "authorization_modes",
            "authentication_timeout",
            "cert_manager_channel",
            "bypass_proxy",
            "passive",
            "keyboard",
            "keycloak_realm",
            "ansible_host",
            "token_file",
            "secret_name",
            "secret_namespace",
            "auth_user",
            "registry_auth_user",
            "auth_method",
            "oidc_auth_provider",
            "token_enabled",
            "token_hash_algorithm",
            "host_key_checking",
            "PreferredAuthentications",
            "certManagerNamespace",
            "certmanager_enabled",
            "authorizationModes",
            "supplementary_addresses_in_ssl_keys",
            "docker_debian_repo_key_info",
            "kernel.keys.maxbytes",
            "key_bits",
            "ssh_host_key_fingerprint",
            "vaultSecretPath",
            "tls-key-file",
            "secretProvider",
            "jwt_issuer",
            "bearer_format",
            "Cookie",
            "set-cookie",
            "cookie_domain",
            "path",
            "pattern",
            "bresenham",
            "otp_digits",
            "recovery_mode",
            "topskills",
            "backupskip",
            "keyserver",
            "keyspace",
            "keymap",
            "tokenizer",
            "tokenisation",
            "secret_engine",
            "secretName",
            "ca-secret-name",
            "secretNamespace",
            "max_tokens",
            "token_ttl",
            "password_policy",
            "secretary",
            "community",
            "community_general",
            "galaxy_community",
            "snmp_community_general",
            "pin",
            "gpio_pin",
            "hsm_pinned",
            "user_spinner",
            "user_version_pin",
            "user_ping",
            "public_key",
            "sshPublicKeys",
            "public_key_pem",
            "authorized_key_data",
            "max_keys",
            "authorized_keys",
            "kube_apiserver_authorization_config_authorizers",
            "secrets_encryption_query",
            "--discovery-token-ca-cert-hash",
        ] {
            assert!(!is_secret_name(name) && !is_secret_in_log(name), "{name}");
        }
    }
}
