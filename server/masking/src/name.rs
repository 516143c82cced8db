//! Which names are secret. The rule in words is in the crate's documentation.

/// Text within a word that makes a name secret, and how ordinary words start that contain the same text.
const STEMS: [(&str, &[&str]); 8] = [
    ("pass", &["bypass", "compass", "passenger", "passive", "passthrough"]),
    ("pwd", &[]),
    ("secret", &[]),
    ("token", &[]),
    ("credential", &[]),
    ("creds", &[]),
    ("key", &["keyboard", "keycloak", "keystone", "monkey"]),
    // `author…` covers `authority` and `authorization`.
    ("auth", &["author", "authenti"]),
];

/// How the last word of a name starts if that word makes the name secret. In front of other words they name a component.
const LAST_STEMS: [&str; 3] = ["cert", "authorization", "authentication"];

/// Last words of names whose value only points at a secret or describes it.
const POINTERS: [&str; 21] = [
    "algorithm",
    "checking",
    "dir",
    "enabled",
    "file",
    "group",
    "groups",
    "host",
    "hosts",
    "mode",
    "name",
    "names",
    "namespace",
    "path",
    "port",
    "ports",
    "size",
    "type",
    "url",
    "user",
    "version",
];

/// Whether a variable with this name holds a secret, unless its value is harmless.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let name = name.to_lowercase();
    let mut words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let Some(last) = words.clone().next_back() else { return false };
    if POINTERS.contains(&last) {
        return false;
    }
    LAST_STEMS.iter().any(|stem| last.starts_with(stem)) || words.any(has_stem)
}

fn has_stem(word: &str) -> bool {
    STEMS.iter().any(|(stem, ordinary)| word.contains(stem) && !ordinary.iter().any(|start| word.starts_with(start)))
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
        ] {
            assert!(is_secret_name(name), "{name}");
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
            "auth_url",
            "token_enabled",
            "token_hash_algorithm",
            "host_key_checking",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
