//! One table of names and values, checked against every place that hides secrets: logs, pages and summaries.

use inventory::diff::summary_of_vars;
use inventory::parse_vars;
use kubeonkube_masking::{HIDDEN, MASK, MaskedRun, Masker, hide_in_document};

/// Names whose value every place hides.
const SECRET_NAMES: &[&str] = &[
    "password",
    "ansible_password",
    "ansible_ssh_pass",
    "ansible_become_pass",
    "pass",
    "dbpass",
    "passwd",
    "passphrase",
    "db_pwd",
    "client_secret",
    "secretKey",
    "registry_token",
    "tokens",
    "credential",
    "credentials",
    "aws_creds",
    "api_key",
    "access_key",
    "private_key",
    "encryption_key",
    "apikey",
    "key",
    "registry_auth",
    "oauth2",
    "basic_auth_users",
    "authorization",
    "tls_cert",
    "authorization_header",
    "proxy_authorization_header",
    "authentication_header",
    "authenticator_seed",
    "authentik_bootstrap_password",
    "webhook_secret_url",
    "slack_token_url",
    "secret-user",
    "token.url",
    "keycloak_admin_pw",
    "keycloak_db_pw",
    "keystone_admin_pw",
    "bypasspassword",
    "passthroughpassword",
    "cert_pfx_base64",
    "cert_pem",
    "client-certificate-data",
];

/// Names of settings whose value pages and summaries hide. A log shows it: masking such words would make it unreadable.
const HIDDEN_EXCEPT_IN_LOGS: &[&str] = &["auth_url", "auth-type", "authMethod", "oauth2_client_id", "cert_management"];

/// Names whose value every place shows.
const PUBLIC_NAMES: &[&str] = &[
    "kube_version",
    "author",
    "certificate_authority_name",
    "authorization_modes",
    "cert_manager_namespace",
    "bypass_proxy",
    "keyboard",
    "keycloak_realm",
    "private_key_file",
    "secret_name",
    "token_user",
    "auth_mode",
    "auth_method",
    "oidc_auth_provider",
    "registry_auth_user",
    "certManagerNamespace",
    "PreferredAuthentications",
    "supplementary_addresses_in_ssl_keys",
    "token_version",
];

/// Values that every place shows under any name.
const HARMLESS_VALUES: &[&str] =
    &["true", "False", "yes", "no", "null", "none", "~", "{}", "[]", "/etc/kubernetes/ssl/ca.key", "/root/.ssh/id_rsa"];

/// Values that every place shows under these secret names, which other values are hidden under.
const HARMLESS_UNDER_NAMES: &[(&str, &[&str])] = &[
    ("ingress_nginx_default_ssl_certificate", &["ingress-nginx/default-tls"]),
    ("existingSecret", &["db-login", "db.login2"]),
    ("existing_secret", &["db-login", "web01-db", "k8s-1-34.tls2"]),
    ("registry_tls_secret", &["registry-tls"]),
    ("image_pull_secret", &["regcred"]),
    ("key_pair", &["k8s-nodes"]),
    ("gpg_key_url", &["https://download.docker.com/linux/ubuntu/gpg"]),
    ("docker_rh_repo_gpgkey", &["https://download.docker.com/linux/centos/gpg", "\"{{ mirror }}/docker-ce/gpg\""]),
    (
        "repo_key",
        &[
            "https://pkgs.k8s.io/core:/stable:/v1.34/deb/Release.key",
            "https://keys.openpgp.org/vks/v1/by-fingerprint/9DC858229FC7DD38854AE2D88D81803C0EBFCD88",
            "https://artifacts.example.test/repos/ubuntu2404/x86_64/GPG-KEY_elasticsearch.7EA0A9C3F273FCD8.key",
            "9DC858229FC7DD38854AE2D88D81803C0EBFCD88",
        ],
    ),
    ("key", &["https://pkgs.k8s.io/core:/stable:/v1.34/rpm/repodata/repomd.xml.key"]),
    (
        "kms_key_id",
        &[
            "arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f",
            "0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f",
            "alias/etcd",
        ],
    ),
    ("ca_cert", &["\"-----BEGIN CERTIFICATE-----\\nMIID\\n-----END CERTIFICATE-----\\n\""]),
];
/// Values that every place hides under all of these names.
const SECRET_UNDER_NAMES: &[&str] = &[
    "S3cret-hunter22",
    "hunter22",
    "welcome-hunter2023",
    "a1b2c3d4e5f6a7b8",
    "aGVsbG8gd29ybGQ",
    "https://hunter22@git.example/x",
    "https://x.example/key?token=hunter22",
    "https://dl.example.test/aB3dE5gH7jK9mN1p/org/repo/gpg.7B7C2A7F6E2A0B5E.key",
    "https://example.test/priv/0123456789abcdef0123456789abcdef/gpgkey",
    "https://chat.example.test/services/T0/B0/AbCdEfGhIjKlMnOpQrStUvWx",
    "eyJhdXRocyI6",
];

/// Values that every place hides under any name: the value, and its secret part.
const SECRET_VALUES: &[(&str, &str)] = &[
    ("http://me:hunter22@proxy:3128/", "hunter22"),
    ("https://hunter22@git.example/x", "hunter22"),
    ("https://hunter22:@git.example/x", "hunter22"),
    ("https://hunter22:x-oauth-basic@git.example/x", "hunter22"),
    ("[a, 'https://hunter22:@git.example/x']", "hunter22"),
    ("smtp://me@corp.example:hunter22@mail:587", "hunter22"),
    ("\"--token abcdef.0123456789abcdef\"", "abcdef.0123456789abcdef"),
    ("\"-----BEGIN EC PRIVATE KEY-----\\nMHcCAQEE\\n-----END EC PRIVATE KEY-----\\n\"", "MHcCAQEE"),
];

fn document(name: &str, value: &str) -> String {
    hide_in_document(&format!("{name}: {value}\n"))
}

/// What a log shows of `said`, if the run was given this variable.
fn log(name: &str, value: &str, said: &str) -> String {
    let variables = format!("{name}: {value}\n");
    let run = MaskedRun { variables: &variables, token: "0123abcd", ..MaskedRun::default() };
    let mut masker = Masker::of_run(&run);
    masker.line(format!("it says {said} here"))
}

/// What a summary says if this variable is new.
fn summary(name: &str, value: &str) -> String {
    let vars = |text: &str| parse_vars(text).expect("valid variables");
    summary_of_vars(&vars(""), &vars(&format!("{name}: {value}\n"))).join("\n")
}

#[test]
fn every_place_hides_the_values_of_secret_names() {
    for name in SECRET_NAMES {
        assert_eq!(document(name, "hunter22"), format!("{name}: {HIDDEN}\n"));
        assert_eq!(log(name, "hunter22", "hunter22"), format!("it says {MASK} here"), "{name}");
        assert_eq!(summary(name, "hunter22"), format!("variable {name} set"));
    }
}

#[test]
fn pages_and_summaries_hide_settings_that_logs_show() {
    for name in HIDDEN_EXCEPT_IN_LOGS {
        assert_eq!(document(name, "visible1"), format!("{name}: {HIDDEN}\n"));
        assert_eq!(summary(name, "visible1"), format!("variable {name} set"));
        assert_eq!(log(name, "visible1", "visible1"), "it says visible1 here", "{name}");
    }
}

#[test]
fn a_summary_hides_every_url_that_may_have_a_login() {
    for url in ["smtp://me@corp.example:pw@mail:587", "postgres://u:pa/ss@db/x", "oci://tok@h"] {
        assert_eq!(summary("plain", url), "variable plain set", "{url}");
    }
}

#[test]
fn a_key_that_is_a_label_is_shown() {
    let label = "node-role.kubernetes.io/control-plane";
    assert_eq!(document("key", label), format!("key: {label}\n"));
    assert_eq!(log("key", label, label), format!("it says {label} here"));
    assert_eq!(summary("key", label), format!("variable key set to {label}"));
    assert_eq!(document("api_key", label), format!("api_key: {HIDDEN}\n"));
}

#[test]
fn every_place_shows_the_values_of_public_names() {
    for name in PUBLIC_NAMES {
        assert_eq!(document(name, "visible1"), format!("{name}: visible1\n"));
        assert_eq!(log(name, "visible1", "visible1"), "it says visible1 here", "{name}");
        assert_eq!(summary(name, "visible1"), format!("variable {name} set to visible1"));
    }
}

#[test]
fn every_place_shows_harmless_values() {
    for value in HARMLESS_VALUES {
        assert_eq!(document("a_token", value), format!("a_token: {value}\n"));
        assert_eq!(log("a_token", value, value), format!("it says {value} here"));
        // A map may contain a secret, so a summary never shows one.
        if *value != "{}" {
            assert!(summary("a_token", value).starts_with("variable a_token set to "), "{value}");
        }
    }
}

#[test]
fn names_of_objects_and_places_of_keys_are_shown() {
    for (name, values) in HARMLESS_UNDER_NAMES {
        for value in *values {
            let plain: String =
                parse_vars(&format!("x: {value}\n")).expect("valid variables")["x"].as_str().unwrap().into();
            assert_eq!(document(name, value), format!("{name}: {value}\n"));
            assert_eq!(
                log(name, value, plain.lines().next().unwrap()),
                format!("it says {} here", plain.lines().next().unwrap())
            );
            assert!(summary(name, value).starts_with(&format!("variable {name} set to ")), "{name} {value}");
        }
        for value in SECRET_UNDER_NAMES {
            assert!(!document(name, value).contains(value), "{name}: {value}");
            assert!(log(name, value, value).contains(MASK), "{name}: {value}");
            assert_eq!(summary(name, value), format!("variable {name} set"), "{value}");
        }
    }
}

#[test]
fn every_place_hides_secret_values_under_any_name() {
    for (value, secret) in SECRET_VALUES {
        for shown in [document("plain", value), log("plain", value, value), summary("plain", value)] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}

#[test]
fn ciphertext_is_hidden_in_documents_and_ignored_in_logs() {
    let vault = "!vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  62313365396662343061";
    assert_eq!(document("plain", vault), format!("plain: {HIDDEN}\n"));
    assert_eq!(summary("plain", vault), "variable plain set");
    // A log never contains what the inputs hold encrypted, so the text isn't searched for.
    assert_eq!(log("a_password", vault, "62313365396662343061"), "it says 62313365396662343061 here");
}

#[test]
fn a_short_value_is_hidden_in_documents_but_not_in_logs() {
    assert_eq!(document("password", "abc"), format!("password: {HIDDEN}\n"));
    assert_eq!(summary("password", "abc"), "variable password set");
    assert_eq!(log("password", "abc", "abc"), "it says abc here");
}

#[test]
fn a_map_is_hidden_whole_in_documents_by_name_in_logs() {
    let map = "{user: operator, password: hunter22}";
    assert_eq!(document("registry_auth", map), format!("registry_auth: {HIDDEN}\n"));
    assert_eq!(summary("registry_auth", map), "variable registry_auth set");
    assert_eq!(log("registry_auth", map, "operator hunter22"), format!("it says operator {MASK} here"));
}
