//! The secret values within a text that is no YAML: a script, a command, an INI file, a connection string, a YAML file with a
//! mistake. They are found by the names beside them, in the notations that programs use. Reading can't fail or take long.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::iter::Peekable;
use std::net::IpAddr;
use std::str::Lines;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::arguments::{as_variable, may_be_value};
use crate::assignment::{ANCHOR, Assignment, Line, split_marks};
use crate::known::can_be_searched;
use crate::name::{is_secret_in_log, names_secret_at_end};
use crate::pattern::pattern;
use crate::prose::is_prose;
use crate::reference::References;
use crate::scalar::{Place, items, scalar};
use crate::value::{FILE_NAME, HASH, WORDS, is_harmless};
use crate::words::is_word;
use crate::{shapes, table, variants};

/// `|`, `>-` and the like: the lines below are the value.
static BLOCK: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[|>][-+0-9]{0,2}(?:[ \t]+#.*)?$"));

/// A flag and its value as two words: `--password hunter22`.
static FLAG: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?:^|[\s"'\[,(])--?(?P<name>[A-Za-z][\w.-]+)[ \t]+(?:"(?P<v1>[^"]*)"|'(?P<v2>[^']*)'|(?P<v3>[^\s"'-][^\s"']*))"#,
    )
});
/// A name and its value without a space between them or with another sign: `password:hunter22`, `'password' => 'hunter22'`,
/// `define('PASSWORD', 'hunter22')`, `/password:hunter22`.
/// The last two are over several lines. One pattern each, so that a match of one doesn't cover that of another.
static JOINED: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    const VALUE: &str = r#"["']?(?P<v1>[^\s"',;(){}\[\]]+)"#;
    let patterns = [
        r#"(?P<path>[\w.-]/)?(?P<n1>[\w.-]+)["']?[ \t]*(?:(?::=|=>|->)\s*|(?P<colon>:)(?P<space>[ \t]*))"#.to_owned()
            + VALUE,
        r#"["'](?P<n2>[\w.-]+)["']\s*,\s*["'](?P<v2>[^"']+)["']"#.to_owned(),
        r#"(?P<n1>[\w.-]+)\s+(?:(?::=|=>|->)\s*|(?P<colon>:)(?P<space>[ \t]*))"#.to_owned() + VALUE,
        r#"["'](?P<n1>[\w.-]+)["']\s*(?::=|=>|->|(?P<colon>:))(?P<space>\s*)"#.to_owned() + VALUE,
    ];
    patterns.iter().map(|text| pattern(text)).collect()
});
/// A value beside a name that can't be a word of a sentence: `$cfg['secret'] = 'hunter22'`, `secret "hunter22";`,
/// `{{ db_password | default('hunter22') }}`, `variable "db_password" { default = "hunter22" }`.
static CODE: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let patterns = [
        r#"[\[{]["'](?P<n>[\w.-]+)["'][\]}][ \t]*(?:[:|?+]{0,2}=|=>)[ \t]*(?:"(?P<v1>[^"]+)"|'(?P<v2>[^']+)'|(?P<v3>[^\s"',;()\[\]]+))"#,
        r#"(?:^|[\s{;])(?P<n>[A-Za-z][\w.-]*)[ \t]+["'](?P<v>[^\s"']+)["'][ \t]*[;}]"#,
        r#"\b(?P<n>\w[\w.]*)[ \t]*\|[ \t]*d(?:efault)?\([ \t]*["'](?P<v>[^"']+)["']"#,
        // A default value of a shell: `${DB_PASSWORD:-hunter22}`, and of an environment variable: `getenv('DB_PASSWORD', 'hunter22')`.
        r#"\$\{(?P<n>\w+):?[-=]["']?(?P<v>[^\s"'{}]+)"#,
        r#"\b(?:getenv|environ\.get|env)\([ \t]*["'](?P<n>\w+)["'][ \t]*,[ \t]*["'](?P<v>[^"']+)["']"#,
        // With a type: `let password: &str = "hunter22"`; in braces, as in a connection string of ODBC: `Pwd={hunter22}`.
        r#"\b(?P<n>\w+):[ \t]*&?[\w.<>\[\]]+[ \t]*=[ \t]*["'](?P<v>[^"']+)["']"#,
        r#"\b(?P<n>(?i:pwd|password))=\{(?P<v>[^\s"'{}]+)\}"#,
        r#"\bvariable[ \t]+"(?P<n>[\w-]+)"[ \t]*\{[^{}]*?\bdefault[ \t]*=[ \t]*"(?P<v>[^"]+)""#,
    ];
    patterns.into_iter().map(pattern).collect()
});
/// A name of several words and its value in a longer line: `aws configure set aws_secret_access_key hunter22`. A name with a hyphen is
/// that of a package or a host more often: `python3-keyring`.
static SPACED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"(?:^|[\s"'])(?P<name>[A-Za-z0-9]+(?:[_.][A-Za-z0-9]+)+|(?:[a-z0-9]+-)+pass(?:word|wd|phrase))[ \t]+"#,
        r#"["']?(?P<value>[\w!@#%^*+.?/~][^\s"';{}]*)"#,
    ))
});
/// A line of a configuration that has only a name and a value: `requirepass hunter22`, `ENV TOKEN hunter22`, `auth_pass "hunter22";`,
/// `{ requirepass hunter22 }`.
static DIRECTIVE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"(?m)^[ \t]*(?:\{[ \t]*)?(?:(?:ENV|ARG|SET|set|setx|export|add_header|proxy_set_header)[ \t]+)?(?P<name>[A-Za-z][\w.-]*)[ \t]+"#,
        r#"["']?(?:(?i:basic|bearer|token|apikey)[ \t]+)?(?P<value>[^\s"';{}]+)["']?;?[ \t]*\}?[ \t]*$"#,
    ))
});
/// XML: `<password>…</password>`, `name="password" value="…"` in either order, `<entry key="password">…</entry>` and
/// `<name>password</name><value>…</value>`. One pattern each, so that a match of one doesn't cover that of another.
static XML: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    // Without `<!` in it, because of many beginnings without an end, each would be searched for it to the end of the text.
    const VALUE: &str = r"(?:<!\[CDATA\[(?P<v1>(?:[^<]|<[^!])*?)\]\]>|(?P<v2>[^<>]+))";
    let elements = [
        r#"<(?i:name|key)>\s*(?P<n>[\w.-]+)\s*</(?i:name|key)>\s*<(?i:value|string)>"#,
        r#"<(?:\w+:)?(?P<n>[\w.-]+)(?:\s[^<>]*)?>"#,
        r#"<(?:\w+:)?(?P<n>[\w.-]+)(?:\s[^<>]*)?>\s*<(?i:value|string)>"#,
        r#"\b(?i:name|key|id|property)=["'](?P<n>[\w.-]+)["'][^<>]*>\s*(?:<(?i:value|string)>)?"#,
    ];
    let attributes = [
        r#"\b(?i:name|key|id|property)=["'](?P<n>[\w.-]+)["'][^<>]*?\b(?i:value|content)=["'](?P<v>[^"'<>]+)"#,
        r#"\b(?i:value|content)=["'](?P<v>[^"'<>]+)["'][^<>]*?\b(?i:name|key|id|property)=["'](?P<n>[\w.-]+)["']"#,
    ];
    elements.into_iter().map(|name| pattern(&[name, VALUE].concat())).chain(attributes.map(pattern)).collect()
});
/// Programs that look like names in a line of a configuration: `passwd user-1`, `ssh-keyscan host-1`.
static PROGRAM: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^(?:ssh-key\w*|(?:ch|g|ht|k|ldap|smb|vnc)?passwd|apt-key|rpmkeys|keytool|secret-tool)$")
});
/// Settings of SSH that say which keys it uses, and how: `HostKeyAlgorithms ssh-ed25519`.
const ABOUT_KEYS: [&str; 3] = ["Algorithms", "File", "Files"];
/// The version of an image or a package, perhaps with a variant or a digest after it.
static VERSION: LazyLock<Regex> = LazyLock::new(|| pattern(r"^v?\d+(?:\.\d+)+(?:[-+@].*)?$"));
/// Notations in which nothing names the secret: logins of single programs, SQL, netrc, webhooks and signed URLs. One pattern each,
/// so that a match of one doesn't cover that of another.
static UNNAMED: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let patterns = [
        // The user and the group of a container are no login.
        concat!(
            r#"\b(?:docker|podman|nerdctl)\s+(?:container\s+)?(?:run|exec|create)(?:\s+--?[\w-]+(?:[ =][^\s-]\S*)?)*?\s+(?:-u|--user)[ =]\S+"#,
            r#"|(?:^|\s)(?:-u|-U|--user|--proxy-user)[ =]?["']?[^\s:"']+:["']?(?P<v>[^\s"']+)"#,
        ),
        // With spaces. Not `date -u '+%H:%M %S'`.
        r#"(?:^|\s)(?:-u|-U|--user|--proxy-user)[ =]?(?:["'][^\s:"'%]+:|[^\s:"'%]+:["'])(?P<v>[^\s"']+[ \t][^"'\n]*)["']"#,
        r#"\blogin\s+\S+\s+password\s+(?P<v>\S+)"#,
        r#"\bpass:(?P<v>[^\s"']+)"#,
        r#"\bsshpass\s+-p\s*["']?(?P<v>[^\s"']+)"#,
        // As the first word of a command. Elsewhere it is a folder or a container: `docker run --name mysql -p3306:3306`.
        concat!(
            r#"(?:^|[|;&(:"'`\n]|\s--\s|(?:^|\s)(?:sudo|exec|env|time|nice|echo)\s(?:[^|;&\n]*?\s)??)\s*(?:\w+=\S*\s+)*(?:[\w./-]*/)?"#,
            r#"(?:mysql|mariadb)(?:[-_]?(?:dump|admin|import|show|check|pump|sh|upgrade|backup|binlog|slap))?"#,
            r#"(?:\s[^|;&\n]*?)??\s-p["']?(?P<v>[^\s"']+)"#,
        ),
        r#"\b(?:docker|podman|nerdctl|skopeo|buildah|oras|oc|az|helm|crane|regctl)\b[^|;&\n]*?\slogin\b[^|;&\n]*?\s-p[ =]?["']?(?P<v>[^\s"']+)"#,
        r#"\bredis-cli\b[^|;&\n]*?\s-a\s+["']?(?P<v>[^\s"']+)"#,
        r#"\b(?:ipmitool|ldap\w+)\b[^|;&\n]*?\s-[Pw]\s+["']?(?P<v>[^\s"']+)"#,
        r#"--from-literal[ =]["']?[\w.-]+=(?P<v>[^\s"']+)"#,
        concat!(
            r#"(?i:identified\s+(?:with\s+\S+\s+)?by|with\s+password|(?:alter|create)\s+(?:user|role)\b[^;\n]*?\bpassword)"#,
            r#"\s+["'](?P<v>[^"']+)["']"#,
        ),
        r#"\bcurl\s(?:[^|;&\n]*?\s)??-[A-Za-z]+u[ =]?["']?[^\s:"']+:["']?(?P<v>[^\s"']+)"#,
        concat!(
            r#"\b(?:rabbitmqctl\s[^|;&\n]*?\b(?:add_user|change_password)|htpasswd\s+-\w*b\w*\s+\S+"#,
            r#"|mc\s+(?:alias\s+set|config\s+host\s+add)\s+\S+\s+\S+)\s+\S+\s+["']?(?P<v>[^\s"']+)"#,
        ),
        r#"\bnmcli\b[^|;&\n]*?\s(?:wifi-sec\.psk|password)\s+["']?(?P<v>[^\s"']+)"#,
        r#"\b(?:zip|unzip|sqlcmd|bcp)\b[^|;&\n]*?\s-P\s*["']?(?P<v>[^\s"']+)"#,
        r#"\b7z[ar]?\b[^|;&\n]*?\s-p["']?(?P<v>[^\s"']+)"#,
        r#"\bmongo(?:sh|dump|restore|export|import|stat|top|files)?\s[^|;&\n]*?-u\s[^|;&\n]*?\s-p\s*["']?(?P<v>[^\s"':]+)(?:["'\s]|$)"#,
        r#"\bmosquitto_(?:pub|sub|rr)\b[^|;&\n]*?\s-P\s*["']?(?P<v>[^\s"']+)"#,
        r#"\bmysqladmin\b[^|;&\n]*?\spassword\s+["']?(?P<v>[^\s"']+)"#,
        // Words may be a sentence: `vault login failed`.
        r#"\bvault\s+login\s+(?:-\S+\s+)*["']?(?P<v>[\w-]*[\d.-][\w.-]*)["']?(?:\s|$)"#,
        r#"\bvault\s+operator\s+unseal\s+(?:-\S+\s+)*["']?(?P<v>[A-Za-z0-9+/=]{20,})"#,
        r#"\baws\b[^|;&\n]*?\sput-parameter\s[^|;&\n]*?--value[ =]["']?(?P<v>[^\s"']+)[^|;&\n]*?\bSecureString\b"#,
        r#"\baws\b[^|;&\n]*?\sput-parameter\s[^|;&\n]*?\bSecureString\b[^|;&\n]*?--value[ =]["']?(?P<v>[^\s"']+)"#,
        r#"(?m)(?:^|[|;&>"'`])\s*net(?:\.exe)?\s+user\s+[^\s/]\S*\s+["']?(?P<v>[^\s"'/]+)"#,
        r#"\bneighbor\s+\S+\s+password\s+(?:\d\s+)?["']?(?P<v>[^\s"']+)"#,
        r#"\bssh-keygen\b[^|;&\n]*?\s-N\s*["']?(?P<v>[^\s"']+)"#,
        r#"\bssh-keygen\b[^|;&\n]*?\s-P\s*["']?(?P<v>[^\s"']+)"#,
        r#"\bopenssl\b[^|;&\n]*?\s-[kK]\s+["']?(?P<v>[^\s"']+)"#,
        r#"\bsnmp(?:get|getnext|walk|bulkwalk|bulkget|set|table|trap|inform|usm)\b[^|;&\n]*?\s-A\s*["']?(?P<v>[^\s"']+)"#,
        r#"\bsnmp(?:get|getnext|walk|bulkwalk|bulkget|set|table|trap|inform|usm)\b[^|;&\n]*?\s-X\s*["']?(?P<v>[^\s"']+)"#,
        // A community that is a word is no secret: `public`.
        r#"\bsnmp(?:get|getnext|walk|bulkwalk|bulkget|set|table|trap|inform|usm)\b[^|;&\n]*?\s-c\s*["']?(?P<v>[a-z]*[^a-z\s"'][^\s"']*)"#,
        r#"(?m)^[ \t]*r[ow]community6?[ \t]+["']?(?P<v>[a-z]*[^a-z\s"'][^\s"']*)"#,
        r#"\bipa-[\w-]+-install\b[^|;&\n]*?\s-[aw]\s*["']?(?P<v>[^\s"']+)"#,
        r#"(?m)^[ \t]*rootpw[ \t]+(?:--\S+[ \t]+)+["']?(?P<v>[^\s"'-][^\s"']*)"#,
        r#"(?m)^[ \t]*d-i[ \t]+\S+[ \t]+password[ \t]+["']?(?P<v>[^\s"']+)"#,
        // `sed 's/.*requirepass .*/requirepass hunter22/'`
        r#"[/|#,](?:requirepass|masterauth)[ \t]+(?P<v>[^\s"'/|#,]+)"#,
        r#"\b(?:useradd|usermod)\b[^|;&\n]*?\s-p\s*["']?(?P<v>[^\s"']+)"#,
        r#"\b(?:kinit|(?:ch)?passwd|login)\b[^|;&\n]*<<<\s*["']?(?P<v>[^\s"']+)"#,
        // The first line of what it reads.
        r#"\bchpasswd\b[^|;&\n]*<<-?[ \t]*["']?\w+["']?[ \t]*\n\s*(?P<v>\S+)"#,
        r#"(?i)\bexpect\b[^\n]*ass(?:word|phrase)[^\n]*?\s+send\s+(?:--\s+)?["'](?P<v>[^"'\n\\]+)"#,
        r#"\s(?:-U|--user)[ =]?["']?[^\s%"']+%(?P<v>[^\s"']+)"#,
        r#"\bstats\s+auth\s+[^\s:]+:(?P<v>\S+)"#,
        r#"\buser\s+\S+\s+on\b[^\n]*?\s>(?P<v>\S+)"#,
        r#"(?m)^[^\n:]*:\s+(?:PSK|EAP|XAUTH|NTLM)\s+["'](?P<v>[^"'\n]+)["']"#,
        // A line of `.pgpass`.
        r#"(?m)^[ \t]*[\w.*-]+:(?:\d+|\*):[^\s:]+:[^\s:]+:(?P<v>\S+)[ \t]*$"#,
        // Oracle: `user/password@//host`.
        r#"(?:^|[\s"'=:])[A-Za-z]\w*/(?P<v>[^\s"'/:]+)@(?://[\w.-]+|[\w.-]+:\d+[:/])"#,
        r#"\bConvertTo-SecureString\s+(?:-String\s+)?["']?(?P<v>[^\s"']+)"#,
        r#"(?i)\bpassword\(\s*["'](?P<v>[^"'\n]+)["']\s*\)"#,
        r#"[?&](?:sig|signature|X-Amz-Signature)=(?P<v>[^\s"'&]+)"#,
        r#":(?P<v>[^\s"':/]+)@(?:tcp|unix)\("#,
        // With `-n`, no file is named.
        r#"\bhtpasswd[ \t]+-(?:\w*n\w*b|\w*b\w*n)\w*[ \t]+[^\s-]\S*[ \t]+["']?(?P<v>[^\s"')]+)"#,
        concat!(
            r#"\bopenssl[ \t]+passwd(?:[ \t]+-salt[ \t]+\S+|[ \t]+-(?:1|5|6|apr1|aixmd5|crypt|noverify|quiet|table|reverse))+"#,
            r#"[ \t]+["']?(?P<v>[^\s"'|;&<>()-][^\s"'();&|]*)"#,
        ),
        r#"\blftp\b[^|;&\n]*?\s-u\s+["']?[^\s,"']+,["']?(?P<v>[^\s"']+)"#,
        r#"(?i)\bset\s+password\s+for\s+\S+\s*=\s*["'](?P<v>[^"'\n]+)["']"#,
        r#"(?i)\bread\s[^|;&\n]*?\w*(?:pass|secret|token)\w*\s*<<<\s*["']?(?P<v>[^\s"']+)"#,
        // LDIF with base64.
        r#"(?im)^[ \t]*\w*password::[ \t]+(?P<v>\S+)"#,
        r#"\b(?:radius|tacacs)-server\b[^\n]*?\skey\s+(?:\d\s+)?(?P<v>\S+)"#,
        r#"\benable\s+(?:secret|password)\s+\d\s+(?P<v>\S+)"#,
        concat!(
            r#"\b(?:racadm|rdesktop|beeline|cqlsh|rabbitmqadmin|ilorest|redfishtool|couchbase-cli)\b"#,
            r#"[^|;&\n]*?\s-p[ =]["']?(?P<v>[^\s"']+)"#,
        ),
        r#"freerdp\w*\b[^|;&\n]*?\s/p:["']?(?P<v>[^\s"']+)"#,
        r#"\bkadmin(?:\.local)?\b[^|;&\n]*?\s-w\s*["']?(?P<v>[^\s"']+)"#,
        // The user's, and at the end that of the server.
        r#"\bradtest\s+(?:-[dPt]\s+\S+\s+|-\w\s+)*[^\s-]\S*\s+["']?(?P<v>[^\s"']+)["']?\s+\S+\s+\d"#,
        r#"\bradtest\s[^|;&\n]*?\s\d+\s+["']?(?P<v>[^\s"'-][^\s"']*)"#,
        r#"\b(?:sqlplus|sqlcl|sqlldr|expdp|impdp|rman)\b[^|;&\n]*?[\s"'=]\w+/["']?(?P<v>[^\s"'/@]+)["']?@"#,
        r#"\bgovc\b[^|;&\n]*?\s-u[ =]["']?(?:https?://)?[^\s:"'/]+:(?P<v>[^\s"'@]+)@"#,
        r#"\bcreateUser\s+\S+\s+(?:MD5|SHA\S*)\s+["']?(?P<v>[^\s"']+)"#,
        r#"\bcreateUser\s+\S+\s+(?:MD5|SHA\S*)\s+\S+\s+(?:DES|AES)\s+["']?(?P<v>[^\s"']+)"#,
    ];
    let of_webhooks = pattern(&format!(r#"(?:{})(?:\d+/)?(?P<v>[^\s"'?]+)"#, shapes::webhooks()));
    patterns.into_iter().map(pattern).chain([of_webhooks]).chain(piped()).collect()
});

/// What a program gets from `echo` or `printf`. With spaces only if the program reads nothing but secrets.
fn piped() -> Vec<Regex> {
    const SAID: &str = r#"\b(?:echo|printf)\s+(?:-\w+\s+)*(?:["'][^"'\n]*%s[^"'\n]*["']\s+)?"#;
    const WORD: &str = r#"["']?(?P<v>[^\s"'|]+?)(?:\\n)?["']?\s*\|(?:[^|;&\n]*(?:stdin|passwd)|"#;
    const WORDS: &str = concat!(
        r#"(?:"(?P<v1>[^"\n]*[ \t][^"\n]*?)(?:\\n)?"|'(?P<v2>[^'\n]*[ \t][^'\n]*?)(?:\\n)?')\s*\|"#,
        r#"(?:[^|;&\n]*(?:--pass\w*-stdin\b|\bpasswd\s[^|;&\n]*--stdin\b|\bchpasswd\b|--from-file\S*/dev/stdin\b)|"#,
    );
    const READERS: &str = concat!(
        r"[^|;&\n]*--passphrase-fd[ =]0\b|\s*sudo\s+(?:-\S+\s+(?:\w+\s+)?)*?-\w*S\b",
        r"|\s*(?:sudo\s+(?:-\S+\s+(?:\w+\s+)?)*?)?(?:kinit|ipa|cryptsetup|secret-tool|systemd-creds|keyctl|wg\s+pubkey",
        r"|(?:go)?pass\s+insert|ansible-vault\s+encrypt_string|(?:docker|podman)\s+secret\s+create)\b)",
    );
    [WORD, WORDS].iter().map(|said| pattern(&[SAID, said, READERS].concat())).collect()
}

/// Programs with `-u` and `-p` that aren't a user and a password, and values that aren't one: ports, paths, priorities.
const NO_LOGINS: [&str; 7] = ["docker", "journalctl", "nerdctl", "nsenter", "podman", "ps", "sudo"];
static NO_PASSWORD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:[0-9]{1,5}(?:[-:/]\S*)?|[0-9]{1,3}(?:\.[0-9]{1,3}){3}\S*|[/.~-]\S*|tcp|udp",
        r"|emerg|alert|crit|err(?:or)?|warn(?:ing)?|notice|info|debug)$",
    ))
});

/// The address of a network card: `52:54:00:12:34:56`.
static MAC: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5,}$"));

/// Longer lists are no commands.
const LONGEST_COMMAND: usize = 64 * 1024;

/// What may end a value within a line, and what stands for it in the words of a list.
const STOPS: [char; 10] = [' ', '\t', '\n', '\r', '"', '\'', '|', ';', '&', ','];
const STANDINS: [char; 10] = [
    '\u{e000}', '\u{e001}', '\u{e002}', '\u{e003}', '\u{e004}', '\u{e005}', '\u{e006}', '\u{e007}', '\u{e008}',
    '\u{e009}',
];

/// A statement of a template. It ends a value, and has names of its own: `{% set password = '…' %}`.
static STATEMENT: LazyLock<Regex> = LazyLock::new(|| pattern(r"\{%[^%]*%\}"));

/// How many bytes of a text are searched for the end of a template.
const LONGEST_TEMPLATE: usize = 512;

/// The header with cookies, and the same as an option of `curl`.
static COOKIES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r#"(?:(?i)\bcookie["']?\s*[:=]|\bcurl\b[^|;&\n]*?\s(?:-b|--cookie))[ \t]*["']?(?P<cookies>[^"'\n]+)"#)
});
/// What a cookie has besides its value: `Path=/`.
const OF_COOKIES: [&str; 5] = ["domain", "expires", "max-age", "path", "samesite"];

/// A command of PowerShell, after which its arguments follow: `ConvertTo-SecureString`.
static CMDLET: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[A-Z][a-z]+(?:To|From)?-[A-Z][A-Za-z]+$"));

/// How many anchors of one line count. Each of them may have the rest of the line as its value.
const ANCHORS: usize = 100;

/// The values in `text` that must not be in a log: those under secret names, and under names that secrets refer to.
pub(crate) fn values(text: &str, references: &References) -> Vec<String> {
    let mut values = of_text(text, references);
    // `{% raw %}password=…{% endraw %}`
    if let Cow::Owned(plain) = STATEMENT.replace_all(text, " ") {
        values.extend(of_text(&plain, references));
    }
    values
}

/// [`values`] of a text in which no statements are left out.
fn of_text(text: &str, references: &References) -> Vec<String> {
    let mut values = named(text, references);
    // A text of JSON within another text.
    if text.contains("\\\"") {
        values.extend(named(&text.replace("\\\"", "\""), references));
    }
    // A shell joins such lines.
    let joined = if text.contains("\\\n") { Cow::Owned(text.replace("\\\n", " ")) } else { Cow::Borrowed(text) };
    values.extend(joined.lines().flat_map(beside_flags));
    values.extend(in_notations(text));
    values.extend(variants::of_logins(text));
    values.extend(table::values(text));
    values
}

/// [`values`] that are worth searching for.
pub(crate) fn secrets(text: &str) -> Vec<String> {
    values(text, &References::default()).into_iter().filter(|value| can_be_searched(value)).collect()
}

/// Values of flags.
fn beside_flags(line: &str) -> Vec<String> {
    let mut at = 0;
    let found = std::iter::from_fn(|| {
        let found = FLAG.captures_at(line, at)?;
        let value = ["v1", "v2", "v3"].into_iter().find_map(|group| found.name(group))?;
        // A value in quotes may have flags itself: `--args "--token …"`.
        at = value.start() - 1;
        Some((found["name"].to_owned(), value.as_str()))
    });
    let flags = found.filter_map(|(name, value)| {
        let name = as_variable(&name);
        let is_secret = is_secret_beside(&name, value) && may_be_value(&name, value) && !FILE_NAME.is_match(value);
        is_secret.then(|| value.to_owned())
    });
    flags.flat_map(with_variants).collect()
}

/// Values in the notations of single programs.
fn in_notations(text: &str) -> Vec<String> {
    let has_xml = text.contains('<') || text.contains("value=") || text.contains("content=");
    let xml = XML.iter().filter(|_| has_xml).flat_map(|pattern| named_by(pattern, text, |_| true));
    let xml = xml.flat_map(|value| variants::from_entities(&value).into_iter().chain([value]));
    let code = CODE.iter().flat_map(|pattern| named_by(pattern, text, |_| true));
    // A sentence has words there, too.
    let joined = JOINED.iter().flat_map(|pattern| named_by(pattern, text, may_be_joined));
    let spaced = [named_by(&DIRECTIVE, text, may_be_directive), named_by(&SPACED, text, may_be_spaced)].concat();
    let plain = joined.chain(spaced).filter(|value| !value.starts_with("//") && !FILE_NAME.is_match(value));
    let values: Vec<_> = xml.chain(code).chain(plain).flat_map(with_variants).collect();
    values.into_iter().chain(in_commands(text)).chain(in_cookies(text)).collect()
}

/// Values that nothing names: see [`UNNAMED`].
pub(crate) fn in_commands(text: &str) -> Vec<String> {
    let found = UNNAMED.iter().flat_map(|pattern| pattern.captures_iter(text).map(move |found| (pattern, found)));
    let found = found.filter(|(_, found)| !are_addresses(&found[0]));
    let flags = text.trim_start().starts_with("-u ").then(|| text.split_whitespace().collect::<Vec<_>>());
    let of_user = flags.as_deref().and_then(beside_user);
    let unnamed = found.filter_map(|(pattern, found)| group(pattern, &found, 'v')).chain(of_user);
    let unnamed = unnamed.filter(|value| !is_filled_in(value) && !is_harmless("", value));
    let with_password = unnamed.flat_map(|value| {
        let password = value.split_once(':').map(|(_, password)| password.to_owned());
        password.into_iter().chain([value.to_owned()])
    });
    with_password.flat_map(with_variants).collect()
}

/// The password after the name of its user, among the words of a command: `-u NAME -p PASSWORD`.
fn beside_user<'t>(words: &[&'t str]) -> Option<&'t str> {
    let may_be = !words.iter().any(|word| NO_LOGINS.contains(word));
    let value = words.windows(4).filter(|_| may_be).find_map(|words| match words {
        ["-u", name, "-p", value] if !name.starts_with('-') => Some(*value),
        _ => None,
    });
    value.filter(|value| !NO_PASSWORD.is_match(value))
}

/// Whether a text is only addresses of networks and their cards, perhaps joined by commas. They have colons like a line of `.pgpass`.
fn are_addresses(text: &str) -> bool {
    let is_address = |text: &str| {
        let address = text.split(['/', '%']).next().unwrap_or(text);
        MAC.is_match(text) || address.parse::<IpAddr>().is_ok()
    };
    text.trim().split(',').all(is_address)
}

/// Values in a command whose words are the items of a list.
pub(crate) fn in_words(words: &[&str]) -> Vec<String> {
    if words.iter().map(|word| word.len()).sum::<usize>() > LONGEST_COMMAND {
        return Vec::new();
    }
    // In a word of a list, spaces and quotes are characters like others.
    let within = |word: &&str| {
        let masked = word.chars().map(|c| STOPS.iter().position(|stop| *stop == c).map_or(c, |at| STANDINS[at]));
        masked.collect::<String>()
    };
    let back = |c: char| STANDINS.iter().position(|standin| *standin == c).map_or(c, |at| STOPS[at]);
    let command = words.iter().map(within).collect::<Vec<_>>().join(" ");
    let found = in_commands(&command).into_iter().map(|value| value.chars().map(back).collect());
    let of_user = beside_user(words).filter(|value| !is_filled_in(value) && !is_harmless("", value));
    found.chain(of_user.map(str::to_owned)).collect()
}

/// The values of cookies. An ordinary word is a setting: `theme=dark`.
fn in_cookies(text: &str) -> Vec<String> {
    COOKIES
        .captures_iter(text)
        .flat_map(|found| of_cookies(found.name("cookies").map_or("", |all| all.as_str())))
        .collect()
}

/// The values of cookies in the text of a header.
pub(crate) fn of_cookies(header: &str) -> Vec<String> {
    let values = header.split(';').filter_map(|cookie| {
        let (name, value) = cookie.trim().split_once('=')?;
        let is_attribute = OF_COOKIES.iter().any(|attribute| name.eq_ignore_ascii_case(attribute));
        let lower = name.to_lowercase();
        let is_of_session = lower.contains("sess") || lower.ends_with("sid") || is_secret_in_log(name);
        let is_secret = !is_attribute && (is_of_session || !(is_word(value) || WORDS.is_match(value)));
        (is_secret && !is_filled_in(value) && !is_harmless("", value)).then(|| value.to_owned())
    });
    values.flat_map(with_variants).collect()
}

/// Whether a match of [`JOINED`] isn't a sentence, an image and its tag, a package and its version, or two items of a list.
fn may_be_joined(found: &Captures<'_>) -> bool {
    let has_space = found.name("space").is_some_and(|space| !space.is_empty());
    let is_tagged = found.name("colon").is_some() && !has_space;
    let is_version = found.name("v1").is_some_and(|value| VERSION.is_match(value.as_str()));
    let is_item = found.name("n2").is_some_and(|name| is_of_package(name.as_str()));
    let is_sentence = found.name("v1").or(found.name("v2")).is_some_and(|value| is_word(value.as_str()));
    !is_sentence && !(is_tagged && (found.name("path").is_some() || is_version)) && !is_item
}

/// Whether a name in a list is that of a package, a role, a host or a file: `python3-keyring`.
fn is_of_package(name: &str) -> bool {
    (name.contains('-') && !name.contains(char::is_uppercase)) || FILE_NAME.is_match(name)
}

/// Whether a match of [`DIRECTIVE`] isn't two words of a sentence, the call of a program, or a setting about keys.
fn may_be_directive(found: &Captures<'_>) -> bool {
    let name = &found["name"];
    let is_sentence = is_word(&found["value"]) && !name.contains('_');
    !is_sentence
        && !PROGRAM.is_match(name)
        && !ABOUT_KEYS.iter().any(|ending| name.ends_with(ending))
        && !found["value"].starts_with('-')
}

/// Whether a match of [`SPACED`] isn't two words of a sentence.
fn may_be_spaced(found: &Captures<'_>) -> bool {
    let value = &found["value"];
    !is_word(value)
        && !WORDS.is_match(value)
        && !VERSION.is_match(value)
        && !value.starts_with(['/', '.', '~'])
        && !value.ends_with([':', ',', '.', '?', '!', '='])
        && names_secret_at_end(&found["name"])
}

/// The values that a pattern with groups for names and values finds beside secret names, of the matches that `may_be` one.
fn named_by(pattern: &Regex, text: &str, may_be: fn(&Captures<'_>) -> bool) -> Vec<String> {
    let found = pattern.captures_iter(text).filter(may_be).filter_map(|found| {
        let (name, value) = (group(pattern, &found, 'n')?, group(pattern, &found, 'v')?);
        is_secret_beside(name, value).then(|| value.to_owned())
    });
    found.collect()
}

/// The text of the group that matched, of those whose names begin with `kind`: `n` for names, `v` for values.
fn group<'t>(pattern: &Regex, found: &Captures<'t>, kind: char) -> Option<&'t str> {
    let mut names = pattern.capture_names().flatten().filter(|name| name.starts_with(kind));
    names.find_map(|name| found.name(name)).map(|found| found.as_str())
}

/// Whether a text has a secret beside a name.
fn is_secret_beside(name: &str, value: &str) -> bool {
    is_secret_in_log(name) && !is_filled_in(value) && !is_harmless(name, value)
}

fn with_variants(value: String) -> Vec<String> {
    let mut values = variants::of_value(&value);
    values.push(value);
    values
}

/// The values beside secret names, and beside names that secrets refer to.
fn named(inputs: &str, references: &References) -> Vec<String> {
    let (anchored, is_one_line) = (anchored(inputs), !inputs.contains('\n'));
    let mut values = Vec::new();
    let mut lines = inputs.lines().peekable();
    while let Some(line) = lines.next() {
        let indent = line.len() - line.trim_start_matches([' ', '-']).len();
        let (mut at, mut word_end, mut has_rest) = (0, 0, false);
        let names = Line::of(line);
        while let Some(found) = names.next(at) {
            at = found.value_at;
            if !is_secret_in_log(found.name) && !references.contain_name(found.name) {
                continue;
            }
            let behind = &line[found.value_at..];
            // In INI, `!` and `&` may be the first character of a password.
            let (marks, rest) = if found.place == Place::Ini { ("", behind) } else { split_marks(behind) };
            at = line.len() - rest.len();
            let mut these = Vec::new();
            if let Some(template) = template(rest) {
                at += template.len();
                these.push(template.to_owned());
            } else if BLOCK.is_match(rest) {
                these.push(block(&mut lines, indent));
            } else if rest.starts_with('[') {
                let read;
                (these, read) = items(rest);
                at += read;
                if at == line.len() {
                    these.extend(below(&mut lines, indent));
                }
            } else if rest.starts_with('{') {
                // The names in it are found as assignments of their own.
                continue;
            } else if found.place != Place::Ini && (rest.is_empty() || rest.starts_with('#')) {
                at = line.len();
                these = below(&mut lines, indent);
            } else {
                // Only the first name in a word gets the rest of the word. A word of many names would be copied for each of them.
                let is_inside = found.place == Place::Ini && at < word_end;
                let rest = if is_inside { rest.split([';', '&']).next().unwrap_or(rest) } else { rest };
                // In a quote, the value ends with it, and further names follow: `-H "X-Token: …" -H "…"`. The quote may also be part of
                // the first value, which gets the rest of the line. A line of many names would be copied for each of them.
                let may_end = found.place == Place::Line && !rest.starts_with(['"', '\'']);
                let end = quote_around(line, &found).filter(|_| may_end).and_then(|quote| rest.find(quote));
                let limit = end.filter(|_| has_rest).unwrap_or(rest.len());
                has_rest |= end.is_some();
                let (mut value, read) = scalar(&rest[..limit], found.place);
                // A message: `api_key: invalid format`.
                if may_end && is_one_line && is_prose(&value) {
                    continue;
                }
                if found.place == Place::Ini && CMDLET.is_match(&value) {
                    continue;
                }
                word_end = word_end.max(at + read);
                // In a connection string, the next name follows in the same word.
                let after =
                    if found.place == Place::Ini { value.find([';', '&']).map_or(read, |end| end + 1) } else { read };
                at += end.unwrap_or(after);
                if is_in_query(&line[..found.value_at], found.name) {
                    value.truncate(value.find(['&', '#', '"', '\'']).unwrap_or(value.len()));
                }
                these.extend(parts(&value, found.place));
                these.push(value);
            }
            // The log shows what vault decrypted, which isn't known here. The cipher text is no secret.
            if !marks.contains("!vault") {
                these.retain(|value| !is_harmless(found.name, value) && !is_filled_in(value));
                values.extend(these.iter().flat_map(|value| variants::of_value(value)));
                values.extend(these);
            }
        }
    }
    // Each once: many aliases may have the value of one long anchor.
    let values: HashSet<String> = values.into_iter().collect();
    let values = values.into_iter().map(|value| match value.strip_prefix('*').and_then(|name| anchored.get(name)) {
        Some(anchored) => anchored.clone(),
        None => value,
    });
    values.collect()
}

/// The quote that begins before this name and doesn't end before its value.
fn quote_around(line: &str, found: &Assignment<'_>) -> Option<char> {
    let before = &line[..found.value_at];
    let at = before.rfind(found.name)?;
    let quote = before[..at].chars().next_back().filter(|c| matches!(c, '"' | '\''))?;
    (!before[at..].contains(quote)).then_some(quote)
}

/// The reference to a variable at the start of a value.
fn template(rest: &str) -> Option<&str> {
    let start = &rest[..rest.floor_char_boundary(LONGEST_TEMPLATE)];
    start.starts_with("{{").then(|| start.find("}}").map(|end| &rest[..end + 2])).flatten()
}

/// Whether `before`, which ends with this name and `=`, is part of a query string: `?token=…&user=…`.
fn is_in_query(before: &str, name: &str) -> bool {
    let before = before.strip_suffix('=').and_then(|before| before.strip_suffix(name));
    before.is_some_and(|before| before.ends_with(['?', '&']))
}

/// A shell fills in what begins with `$` or a backtick, so the text isn't the secret. The hash of a password begins with `$`, too.
fn is_filled_in(value: &str) -> bool {
    value.starts_with(['$', '`']) && !HASH.is_match(value)
}

/// What a value may be if the text around it ends it earlier: a quote, the next entry of a connection string, or a space.
fn parts(value: &str, place: Place) -> Vec<String> {
    let ends: &[char] =
        if place == Place::Ini { &['"', '\'', ';', '&', ',', ')', ']', '}'] } else { &['"', '\'', ';', ' '] };
    let parts =
        value.split(ends).take(1).chain(value.split(['"', '\'']).take(1)).chain(value.split(['&', ';']).take(1));
    parts.filter(|part| *part != value && (place == Place::Ini || !is_word(part))).map(str::to_owned).collect()
}

/// The scalars with an anchor, by the anchor's name. An alias (`*name`) repeats them elsewhere.
fn anchored(inputs: &str) -> HashMap<&str, String> {
    let mut found = HashMap::new();
    for line in inputs.lines().filter(|line| line.contains('&')) {
        let places = Line::of(line);
        for anchor in ANCHOR.captures_iter(line).take(ANCHORS) {
            let (whole, name) = (anchor.get(0).expect("the match"), anchor.get(2).expect("the group isn't optional"));
            let (_, rest) = split_marks(&line[whole.end()..]);
            found.insert(name.as_str(), scalar(rest, places.place(whole.start(), "")).0);
        }
    }
    found
}

/// The text of a block scalar. Its lines are searched for one by one, too.
fn block(lines: &mut Peekable<Lines<'_>>, indent: usize) -> String {
    let mut text = String::new();
    while let Some(line) = lines.next_if(|line| line.trim().is_empty() || column(line) > indent) {
        text.extend([line.trim(), "\n"]);
    }
    text
}

/// The value below a name that has none beside it: a scalar, or the items of a list. Stops at a map, whose names are found
/// as assignments of their own.
fn below(lines: &mut Peekable<Lines<'_>>, indent: usize) -> Vec<String> {
    let mut values = Vec::new();
    let belongs = |line: &str| column(line) > indent || (column(line) == indent && line.trim_start().starts_with("- "));
    while let Some(value) = lines.peek().filter(|line| belongs(line)).and_then(|line| entry(line)) {
        lines.next();
        values.push(value);
    }
    values
}

/// The scalar that a line consists of. `None` if the line is anything else.
fn entry(line: &str) -> Option<String> {
    let (_, text) = split_marks(line.trim().trim_start_matches("- ").trim_start());
    if text.is_empty() || text.starts_with(['[', ']', '{', '}', '#']) {
        return None;
    }
    let (value, read) = scalar(text, Place::Line);
    let is_name = match text.starts_with(['"', '\'']) {
        true => text[read..].trim_start().starts_with(':'),
        false => value.contains(": ") || value.ends_with(':'),
    };
    (!is_name).then(|| value.trim_end_matches(',').to_owned())
}

/// The column at which a line's text begins.
fn column(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_word_of_many_names_is_not_copied_for_each() {
        for text in
            ["password=a;", "password=canary&", "token=a,", "password=\"a\";", "\"token: x\" ", "'token: x \"key: "]
        {
            let text = text.repeat(2000);
            let start = Instant::now();
            let found: usize = values(&text, &References::default()).iter().map(String::len).sum();
            assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
            assert!(found <= 20 * text.len(), "{found} bytes of {}", text.len());
        }
    }

    #[test]
    fn a_command_of_many_headers_is_read_quickly() {
        let start = Instant::now();
        let found = crate::known::secrets(&format!("a: |\n  curl {}\n", "-H \"X-Token: abc1def\" ".repeat(1600)));
        assert!(found.iter().any(|value| value == "abc1def") && start.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn each_password_of_a_connection_string_is_found() {
        let found = secrets("a=password=canary-1;password=canary-2&token=canary-3;");
        for wanted in ["canary-1", "canary-2", "canary-3"] {
            assert!(found.iter().any(|value| value == wanted), "{wanted} is missing in {found:?}");
        }
    }
}
