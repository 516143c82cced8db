//! In its pod, a run is masked by `deploy/runner/kubeonkube_masking.py`. It must give the same results as this crate.
//! `UPDATE_MASKING=1 cargo test -p kubeonkube-masking` writes `deploy/runner/masking.json`, the rule that it reads.

use std::env;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use kubeonkube_masking::{MASK, MaskedRun, Masker, Sources, rule, secrets_of_run};
use serde_json::{Value, json};

/// Masks the lines of the input, and judges its names.
const IN_PYTHON: &str = "
import json, sys
sys.path.insert(0, sys.argv[1])
import kubeonkube_masking as masking
asked = json.load(sys.stdin)
rule = masking.Rule(json.loads(masking.read(sys.argv[1] + '/masking.json')))
masker = masking.Masker(rule)
masker.names = frozenset(asked['keep'])
masker.add(asked['values'])
written = []
output = masking.Output(masker, 'no-token', written.append)
for line in asked['lines']:
    output.take((line + '\\n').encode())
singles = masking.Masker(rule)
singles.names = masker.names
singles.add(asked['values'])
json.dump({
    'lines': b''.join(written).decode().splitlines(),
    'single': [singles.line(line) for line in asked['lines']],
    'names': [rule.is_secret(name) for name in asked['names']],
    'variables': sorted(masking.secrets_of(rule, asked['variables'])),
}, sys.stdout)
";

fn runner() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../deploy/runner")
}

fn in_python(asked: &Value) -> Value {
    let mut python = Command::new("python3")
        .args(["-B", "-W", "always", "-c", IN_PYTHON])
        .arg(runner())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("python3 runs");
    python.stdin.take().unwrap().write_all(asked.to_string().as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "Python failed or warned: {errors}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_rule_of_the_pod_is_that_of_this_crate() {
    let path = runner().join("masking.json");
    let wanted = serde_json::to_string_pretty(&rule()).unwrap() + "\n";
    if env::var_os("UPDATE_MASKING").is_some() {
        fs::write(&path, &wanted).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap_or_default(), wanted, "UPDATE_MASKING=1 writes it again");
}

/// Combinations of three words, in three spellings.
fn names() -> Vec<String> {
    const WORDS: &[&str] = &[
        "",
        "db",
        "pass",
        "bypass",
        "bypasspassword",
        "password",
        "pwd",
        "pw",
        "keycloakpw",
        "jwt",
        "cookie",
        "set",
        "pat",
        "secret",
        "token",
        "credentials",
        "creds",
        "key",
        "keyboard",
        "keyserver",
        "keys",
        "otp",
        "seed",
        "senha",
        "keystore",
        "repo",
        "topskills",
        "psk",
        "error",
        "community",
        "snmp",
        "pin",
        "hsm",
        "exception",
        "wpa2psk",
        "tokenizer",
        "engine",
        "prefix",
        "sort",
        "monkeykey",
        "public",
        "publickey",
        "authorized",
        "secretary",
        "authorizers",
        "max",
        "ttl",
        "query",
        "namespace",
        "auth",
        "oauth2",
        "author",
        "authorization",
        "authentication",
        "webhook",
        "mode",
        "cert",
        "certmanager",
        "certificate",
        "manager",
        "data",
        "pem",
        "users",
        "user",
        "name",
        "file",
        "info",
        "path",
        "provider",
        "type",
        "url",
        "4",
    ];
    let capital = |word: &str| word.get(..1).map_or(String::new(), |first| first.to_uppercase() + &word[1..]);
    let mut names = vec![
        "supplementary_addresses_in_ssl_keys".to_owned(),
        "secrets_encryption_query".to_owned(),
        "kernel.keys.maxbytes".to_owned(),
        "Ключ_token".to_owned(),
        "ÜberPass".to_owned(),
    ];
    for (first, second, third) in
        WORDS.iter().flat_map(|a| WORDS.iter().flat_map(move |b| WORDS.iter().map(move |c| (a, b, c))))
    {
        names.push([*first, second, third].join("_"));
        names.push([*first, second, third].join("-"));
        names.push([(*first).to_owned(), capital(second), capital(third)].concat());
    }
    names
}

/// Whether a log hides the value of this variable.
fn is_secret_in_log(name: &str) -> bool {
    // `=` gives the name to the crate as it is.
    Masker::default().value(format!("{name}=hunter22")) != format!("{name}=hunter22")
}

#[test]
fn the_pod_judges_names_as_this_crate() {
    let names = names().into_iter().step_by(7).filter(|name| !name.trim_matches(['_', '-']).is_empty());
    let names: Vec<_> = names.collect();
    let judged = in_python(&json!({"keep": [], "values": [], "lines": [], "names": names, "variables": {}}));
    for (name, judged) in names.iter().zip(judged["names"].as_array().unwrap()) {
        assert_eq!(judged.as_bool().unwrap(), is_secret_in_log(name), "{name}");
    }
}

const VALUES: &[&str] = &[
    "hunter22",
    "hunter22-long",
    "it's \"q\"\\é",
    "x-emoji😀é\"",
    "of horse battery \"staple\" über purple monkey dishwasher elephant  tango x and foxtrot zebra-4",
    "[default]\nregion = eu-central-1\nthe_key = in-a-record\nenabled: true\nserver = shown-in-a-record\n",
    "server: in-no-record\n",
    "AbcdefghIjkl=\ncorrect-horse-battery:\nhook_url = https://x.example/abcd1234\nx_token = in-a-record-2\n",
    "apiVersion: v1\nkind: Secret\n[default]\ndata:\n  in-a-line: x\n",
    "two\nlines of it here\nx7!q\nand three ones",
    "s3cr3t",
    "node",
    "8080",
    "web-1",
    "db_token",
];
/// Names of hosts that contain one of them.
const NAMES: &[&str] = &["web-1", "web-10", "node2"];

/// Lines with a secret in many forms, and lines without any.
fn lines() -> Vec<String> {
    let body = "QyNTUxOQAAACDkq0Xo7hW1yJ6bVv0yqzqk2bq4VZc5k1c2v3b4n5m6AAAAIgAAAAtz";
    let mut lines: Vec<String> = [
        "login hunter22-long, hunter22, s3cr3t.",
        r#"{"cmd": "it's \"q\"\\é", "twice": "{\"a\": \"it's \\\"q\\\"\\\\é\"}"}"#,
        r#"{'cmd': 'it\'s "q"\\é'} 'it'\''s "q"\é' it%27s%20%22q%22%5C%C3%A9 it's \"q\"\\\u00e9"#,
        "aHVudGVyMjI= aHVudGVyMjIK YTpodW50ZXIyMg== basic YWRtaW46aHVudGVyMjI=",
        "lines of it here",
        "two\\nlines of it here\\nand three ones",
        "\u{1b}[31mlogin hunter22\u{1b}[0m ok",
        "login hun\u{1b}[1;31mter22\u{1b}[0m",
        r#"{"a": "hun\u001b[31mter22", "b": "hun\\033[1mter22"}"#,
        r"'hun\x1b[31mter22' \u001b[31mok",
        "hun\u{1b}\\\\x1b[0mter22",
        "hun\u{1b}(Bter22 \u{1b}]0;x\u{7}hun\u{1b}]8;;http://x/\u{1b}\\ter22",
        "\u{1b}]0;hunter22\u{7}a \u{9d}hunter22\u{9c}b",
        "a \u{1b}]0;not finished",
        "hun\u{9b}1mter22 hun\u{1b}[2 qter22",
        "\u{1b}Phunter22\u{1b}\\a hun\u{1b}_x\u{1b}\\ter22",
        "a=token=$x=pass=x9x9x9=b=c; d=pass=y8y8y8",
        "\u{1b}[0;32mok: [m1]\u{1b}[0m",
        "pull https://bob:pa55@registry/x",
        "https://host:6443/path",
        "use redis://pa55:@cache",
        "ssh://root@10.0.0.1 smtp://me@corp:pa55@mail",
        "join --token abcdef.0123456789abcdef",
        "Started abcdef.abcdefghijklmnop",
        "Authorization: Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl",
        r#"{"db_password": "x9x9x9", "token": true, "n": 1, "key": "/etc/ssl/web.key"}"#,
        r"{'db_pwd': 'x9x9x9', 'auth_url': 'https://sso'}",
        r#""msg": "{\"credentials\": \"x9x9x9\"}""#,
        "run -e password=x9x9x9 --extra-vars=pass=y8y8y8 a=b",
        "  admin_pass: x9 x9",
        "- token: {{ x }}",
        "password=$1 secret=`x` key=\"$(cat y)\"",
        "m1 : ok=12 changed=3 unreachable=0 failed=0",
        "Permission denied (publickey,password).",
        "TASK [set the password : m1] ****",
        "-o PreferredAuthentications=publickey -o PasswordAuthentication=no",
        "",
        "   ",
        "plain",
        "ключ = ё",
        "node node2 kube_node nodes Knoten node. a\\nnode\\n -pnode --node node.example.test _node_ ünode nodeé",
        "existingSecret: db-login gpgkey=https://x.example.test/gpg gpgkey=hunter33 key_pair=k8s-nodes pull_secret=eyJhdXRo",
        r#"{"gpgkey": "{{ mirror }}/gpg", "ssl_certificate": "ingress/tls-1", "ssl_cert": "tls-1", "tls_secret": "a1b2c3d4e5f6"}"#,
        r#"{"repo_key": "9DC858229FC7DD38854AE2D88D81803C0EBFCD88", "repo_key": "9DC8", "key": "9DC858229FC7DD38854AE2D88D81803C0EBFCD88"}"#,
        r#"{"kms_key_id": "alias/etcd", "token": "alias/etcd", "token": "arn:aws:kms:eu-central-1:1:key/x1", "key": "https://x/gpg?a=b"}"#,
        r#"{"ca_cert": "-----BEGIN CERTIFICATE-----\nMIID\n-----END CERTIFICATE-----\n", "tls_cert": "-----BEGIN CERTIFICATE-----"}"#,
        r#"x --k3s-extra-args "--token made-1234" -v --a "--b '--token made-1234'" --token "--x y1""#,
        r#"{"cmd": "x --args \"--token made-1234\"", "argv": ["--args", "--token made-1234"]}"#,
        "root:$6$salt$Can4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryC/:19000 $2y$10$x",
        r"$$2a$$05$$Can4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4r \$2a\$05\$Can4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4ryCan4r",
        r"a\n123456789:AAHdCan4ryCan4ryCan4ryCan4ryCan4ry4\nb /hooks/xy8adwiyd3fp8jt4xrgcuq4n5h? /hooks/pre-commit",
        "X-JFrog-Art-Api: made-1234",
        "api_key_info=made-1234 repo_key_info=made-1234 pull_secret=hunter22 pull_secret=web01/k8s-2024 tls_secret=login2 tls_secret=login222",
        "repo_key=https://x/y_z.7B7C2A7F6E2A0B5E.key repo_key=https://x/aB3dE5gH7jK9mN1p/y key_url=https://x/priv/0123456789abcdef0 key=https://x/a:/b/",
        "repo_key=0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f kms_key=0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f kms_key_id=alias/x repo_key=alias/x1 kms_key=https://x/y",
        "sns_token=arn:aws:sns:eu-central-1:1:x,password=made-1234",
        "pat=made-1234 otp_seed=made-1234 path=x1y2 recovery_codes=made-1234 db-kennwort=made-1234 senha=made-1234",
        "kernel.keys.maxbytes=25000 key_bits=4096 docker_repo_key_info=x1y2 vaultSecretPath=a/b1 tls_secret=keypair=tls-1",
        "password: required",
        "passwd: password updated successfully",
        "key: CriticalAddonsOnly",
        "Key: 192.168.1.1",
        "key=value key=ab12cd34 key=tls.key",
        "db_password: Attempting to decrypt but no vault secrets found",
        "api_key: invalid format",
        "KeyError: 'ansible_default_ipv4'",
        "java.security.KeyException: key-7 is gone",
        "keyError: made-1234",
        "passwd: Authentication token manipulation error",
        "passwd: correct horse battery staple",
        "passwd: made-1234",
        "  chpasswd: line 1: user 'bob-1' does not exist",
        "htpasswd: cannot create file /etc/nginx/h",
        "apt-key: command not found",
        "apt-key: command made-1234",
        "ssh-keyscan: connect to node-1 port 22: Connection refused",
        "vault-password: no horse is not a cat",
        "passwd: Authentication token lock busy",
        "pass: Error: db/prod is not in the password store.",
        "pass: the cat sat on it",
        "credential: helper exited with 1",
        "Token: EOF expected",
        "tokens: 3 left",
        "tokens: 1234 left",
        "PASS: 5, FAIL: 0",
        "PASS: TestLogin (0.02s)",
        "PASS: 5, PIN: 1234",
        "token: hunter33 (60s)",
        "snmp_community: made-1234",
        "rocommunity=made-1234 hsm_pin=1234567 snmp_community=public",
        "community_general: 8.10.0",
        "gpio_pin=17181 community_string=made-1234 pin=12345",
        "export PGPASSWORD=(hidden) ended with exit code 2.",
        r#"password: (hidden) ended {"password": "(hidden)"} token=(hidden-1"#,
        "token: It CAN'T be longer than 12 characters, ask admin! ",
        "password: it is now hunter",
        "password: correct horse battery",
        "password: the ünder  horse",
        "token: is not",
        "kind: Secret",
        "key: my-secret-token",
        "key: db-password",
        "password=~/made-1234 token=~/.ssh/id_rsa key=my-key",
        "run --token made-1234 -v --api-key='x y' --db-password \"made 1234\" --token string --key-file x1.pem",
        r#"["run", "--db-password", "made-1234", "--password-stdin", "x1y2", "--skip-token", "x1y2"]"#,
        "kubeadm join h --discovery-token-ca-cert-hash=sha256:0a1b --discovery-token-ca-cert-hash sha256:0a1b --credentials made-1234 --pass-credentials repo-1",
        r#"["--discovery-token-ca-cert-hash", "sha256:0a1b", "--allow-unauthenticated", "install", "--token", "12345678"]"#,
        "--no-password r1.example.test --prompt-token 10.0.0.1 --no-secret ../x1 --no-verify-secret made-1234 --secret id=npm1",
        "  --api-key API_KEY   The key --token 12345678 --keys-only /registry/pods --recv-keys 1234ABCD56",
        r#"["run","--db-password","made-1234"]"#,
        r#"{"stdout": "a\n--token made-1234\nb"}"#,
        r#"{"stdout": "[\"--token\", \"made-1234\",\"--db-password\",\"made-1234\"]"}"#,
        r#"'--token' 'made-1234'"#,
        r#"{"cmd": "\"--token\" \"made 1\n4\""}"#,
        r#"{"cmd": "run --token \"made 1234\" x"}"#,
        "--password-stdin r1.example.test --token $TOKEN --token-ttl 24h0",
        r#"battery "staple" über purple monkey; dishwasher elephant  tango x and; foxtrot zebra-4, x and, horse battery \"staple\" über"#,
        "password=$6$salt$made/1234. token=$TOKEN$x",
        r#""x-emoji\U0001F600é\"" "x-emoji\\U0001F600""#,
        "region = eu-central-1 server = shown-in-a-record server: in-no-record enabled: true",
        "ssh_keys: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI bob@laptop",
        "data: x data:",
        "AbcdefghIjkl= correct-horse-battery: hook_url = https://x.example/abcd1234",
        "the_pwd: made-1234, s3cr3t",
        "db_token: made-1234",
        "login --db_token=made-1234 db_token",
        "node: x s3cr3t=1 password=a-s3cr3t-b https://me:x-hunter22@host",
        "ghp_Can4ryCan4ryCan4ryCan4ryCan4ryCan4ry npm_config_registry=x hvs.CAESICan4ryCan4ryCan4ryCan4ry hvs.example.org",
        "https://api.telegram.org/bot12345678:Can4ryCan4ry?x=y AGE-SECRET-KEY-1",
        r#"{"stdout": "a\neyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln\nabcdef.0123456789abcdef\nglpat-Can4ry_Can4ry-Can4ry"}"#,
        "x7!q web-1 web-10 web-1x web-1.example.test fatal: [web-1]: 8080 18080 v8080 8080/tcp",
    ]
    .map(str::to_owned)
    .into();
    lines.push(format!("--certificate-key {}", "a1".repeat(32)));
    lines.extend([body.to_owned(), format!(r#"{{"stdout": "{body}\n{body}\nAAAA==", "rc": 0}}"#)]);
    lines.push(format!("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{} me", "aB3".repeat(20)));
    lines.push(format!("sha256:{} /{}", "0a1b2c3d".repeat(8), "usr/lib/python3/".repeat(6)));
    for key in [
        "key: -----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\nAAAA==\n-----END OPENSSH PRIVATE KEY----- done hunter22\nTASK [next]",
        "-----BEGIN RSA PRIVATE KEY-----\nok: [m1]\nMIIE",
        r#"{"key": "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n", "rc": 0}"#,
        r#"two -----BEGIN RSA PRIVATE KEY-----\nMIIE"#,
    ] {
        lines.extend(key.split('\n').map(str::to_owned));
    }
    lines
}

#[test]
fn the_pod_masks_lines_as_this_crate() {
    let lines = lines();
    let values: Vec<String> = VALUES.iter().map(|value| (*value).to_owned()).collect();
    let names: Vec<String> = NAMES.iter().map(|name| (*name).to_owned()).collect();
    let given = json!({"keep": names, "values": values, "lines": lines, "names": [], "variables": {}});
    let masked = in_python(&given);
    let mut masker =
        Masker::of_run(&MaskedRun { token: "no-token", secrets: &values, names: &names, ..MaskedRun::default() });
    let wanted: Vec<_> = lines.iter().map(|line| masker.line(line.clone())).collect();
    for (way, lines) in [("single", &masked["single"]), ("as output", &masked["lines"])] {
        let lines: Vec<_> = lines.as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
        assert_eq!(lines, wanted, "{way}");
    }
    assert!(wanted.iter().filter(|line| line.contains(MASK)).count() > 25, "{wanted:?}");
}

#[test]
fn the_pod_masks_long_lines_quickly() {
    let lines = [
        "-".repeat(60_000),
        "--a".repeat(20_000),
        "--token".repeat(10_000),
        r#"--key \""#.repeat(10_000) + &"\\".repeat(60_000),
        "$".repeat(60_000),
        "$6$a".repeat(15_000),
        "12345678:A".repeat(6_000),
        r#"--a "--a '"#.repeat(6_000),
        format!("repo_key=https://a/{}?", "a-".repeat(30_000)),
        format!("repo_key=https://a/{}?", "AAAAAAAAAAAAAAAA.".repeat(3_000)),
        format!("tls_secret={}!", "a1-".repeat(20_000)),
    ];
    let lines: Vec<_> = lines.iter().map(|line| format!("key {line}")).collect();
    let start = Instant::now();
    in_python(&json!({"keep": [], "values": [], "lines": lines, "names": [], "variables": {}}));
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

#[test]
fn the_pod_finds_secrets_in_variables_as_this_crate() {
    // Names of an installer of Kubernetes that only look like those of secrets.
    let installer = json!({
        "sealed_secrets": {"namespace": "visible", "chart_version": "visible", "db": "of-sealed-secrets"}, "tokenizer": {"type": "visible"},
        "argv": ["login", "--password", 12345678], "flags": ["--token", true], "pair_of_number": ["db_token", 87654321], "names": ["smtp_password", "smtp_visible"],
        "roles": ["secrets-operator", "visible"], "files": ["server.key", "visible"], "header": ["X-Auth-Token", "of-a-header"],
        "primary_key": "visible", "partition_key": "4zX9-of-azure", "key_prefix": "visible", "secret_engine": "visible",
        "topskills": "visible", "existing_secret": "visible", "existing_secrets": ["visible", "of_Existing"], "gpg_key": "of-a-gpg-key",
        "pull_secrets": [{"name": "visible", "data": "of-a-pull-secret"}], "sysctl": [{"name": "kernel.keys.maxbytes", "value": "visible"}],
        "user_passwords": {"user": "of-a-user", "name": "visible"}, "backend_tokens": {"backend": "of-a-backend", "kind": "visible"},
    });
    let literals = json!({
        "literal_password": "{{ 'hunter22' }}", "plain_password": "{{ \"hunter22\" }}", "list_key_password": "{[1]: 2}",
        "app_passwords": "user: user-of-accounts\n[x\n", "json_passwords": "{\"user\": \"user-of-json\"}",
        "ssh_keys": "restrict ssh-ed25519 AAAAC3Nz me",
        "state_password": "required\n", "quoted_password": "\"unchanged\n\"", "label": {"key": "tls.key\n"}, "blank_secret": "     ",
        "escape_secret": "['of-an-\\escape']",
        "more_tokens": "a=of-an-assignment,b=word", "github_pat": "of-a-pat", "Cookie": "visible",
    });
    let says_so = json!({
        "pairs": [{"id": "client_secret", "value": "of-an-id"}, {"label": "Password", "value": "of-a-label"}, {"id": "web", "value": "visible"}, {"name": "SNMP_COMMUNITY", "value": "public"}],
        "survey": [{"question_name": "Root login", "type": "password", "default": "of-a-survey"}, {"type": "password", "title": "visible"}],
        "outputs": {"a": {"sensitive": true, "value": "of-an-output"}, "b": {"sensitive": false, "value": "visible"}, "c": {"no_log": "yes", "default": "of-an-argument"}},
        "basic_auth": {"users": {"alice": "of-alice"}}, "basicAuth": {"users": ["visible"]}, "auth": {"users": {"alice": "visible"}},
        "snmp": {"community": "of-a-community", "port": "visible"}, "community": "visible", "snmp_community": "public", "hsm": {"pin": 4711471},
    });
    let variables = json!({
        "ansible_password": "hunter22", "db": {"pwd": "in-a-map", "user": "me"}, "api_tokens": ["one-token", {"value": "two-token"}],
        "credentials": "{{ base | default('x') }}", "base": "referred", "use_token": true, "private_key_file": "/auth/key", "pass": "abc",
        "pin_password": "{{ map.entry['x'] }}", "map": {"entry": {"x": "in-an-entry", "y": "visible"}},
        "host_password": "{{ hostvars['n1'].other }}", "other": "of-a-host",
        "secrets": {"db": "in-secrets", "record": {"password": "in-a-record", "host": "visible", "scopes": ["visible"]}, "nested": {"username": "visible", "list": ["in-a-list"], "server": {"x": "in-a-map-of-a-description"}, "name": "visible"}},
        "env": [{"name": "DB_PASSWORD", "value": "in-a-pair"}, {"key": "API_TOKEN", "Value": ["in-a-key"]}, {"name": "HOME", "value": "visible"}],
        "tolerations": [{"key": "token", "operator": "Equal", "value": "visible"}],
        "secretKeyRef": {"name": "visible", "key": "visible"},
        "manifest": {"kind": "Secret", "data": {"a": "ZW5jb2RlZC1kYXRh"}, "stringData": {"b": "in-a-manifest"}},
        "registry_credentials": "{\"username\": \"visible\", \"password\": \"in-json\", \"more\": [\"in-a-json-list\"]}",
        "docker_auth": "bWU6ZG9ja2VyLXB3",
        "k3s_tokens": {"server": "of-a-server", "agent": "of-an-agent"}, "tokens": {"one": {"id": "visible", "value": "of-a-record"}},
        "encryption_key": {"current": "of-a-key"}, "sort_key": {"field": "visible"},
        "more_env": [["DB_PASSWORD", "in-a-pair-list"], ["login", "--token", "after-a-flag"]],
        "manifest_secret": "apiVersion: v1\nkind: Secret\n", "db_secret_list": "['of-a-literal', {'name': 'visible', 'data': 'of-literal-data'}]",
        "record_list_secret": [{"name": "visible", "secret_list": [{"name": "visible", "data": "of-a-secret-list"}]}],
        "get_password": "{{ got.get('it', 'x') }}", "got": {"it": "of-get", "more": "visible"}, "first_password": "{{ firsts[0] }}",
        "firsts": ["of-an-item"], "default_password": "{{ none | default(of_default) }}", "of_default": "of-default",
        "stdin_argv": ["login", "--password-stdin", "visible"], "conf_tokens": "[default]\naws_value = of-a-conf\n",
        "basic_auth": "me:after-a-colon\nyou:after-another\n10.0.0.1:5000", "env_secret": "A=after-an-equals-sign\nB=",
        "installer": [installer, says_so], "literals": literals,
        "old_passwords": "first-of-list, second-of-list", "bundle_secret": "eyJhIjogImluLWVuY29kZWQtanNvbiJ9",
    });
    let found = in_python(&json!({"keep": [], "values": [], "lines": [], "names": [], "variables": variables}));
    let text = variables.to_string();
    let files = [("vars.json", text.as_str())];
    let wanted = secrets_of_run(&Sources { files: &files, scripts: &[], arguments: &[], values: &[] });
    assert_eq!(found["variables"], json!(wanted));
    let parts = ["ZW5jb2RlZC1kYXRh", "bWU6ZG9ja2VyLXB3", "docker-pw", "encoded-data", "hunter22", "in-a-json-list"];
    for part in parts {
        assert!(wanted.iter().any(|value| value == part), "{part} is missing in {wanted:?}");
    }
    assert!(wanted.len() == 77 && !wanted.iter().any(|value| value == "visible"), "{wanted:?}");
}
