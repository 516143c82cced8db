//! What programs say after their own name or after that of a secret: `passwd: Authentication token manipulation error`. It isn't the value
//! of a secret. `deploy/runner/kubeonkube_masking.py` has the same function.

use std::sync::LazyLock;

use regex::Regex;

use crate::pattern::pattern;
use crate::prose::{is_counted, is_prose};
use crate::value::FILE;

/// Programs with names like those of secrets.
pub(crate) static PROGRAM: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:(?:apt|pacman|request|ssh)-key|(?:dnssec-|monkey|ssh-)key(?:gen|scan|sign|sphere)|(?:load|dump|rpm)keys|key(?:ctl|tool)",
        r"|(?:ch|g|grub2?-mk|ht|k|l|ldap|mk|sasl|smb|vnc|yp)?passwd(?:2|-pbkdf2)?|(?:go|ssh)?pass|pwd|wpa_passphrase",
        r"|systemd-(?:tty-)?ask-password(?:-agent)?|(?:git|docker)-credential-\w+|secret-tool|vault-[a-z]+",
        r"|xauth|authselect|authconfig|saslauthd|cert(?:bot|tool|util)|update-ca-certificates)$",
    ))
});

/// Those of them whose names variables have, too.
pub(crate) static SHARED: LazyLock<Regex> =
    LazyLock::new(|| pattern("^(?:pass|passwd|pwd|sshpass|ssh-key|vault-[a-z]+)$"));

/// A word that is in most messages about a failure. A passphrase may have it, too.
pub(crate) static FAILURE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        "(?i)\\b(?:bad|can't|cannot|denied|errors?|failed|failure|invalid|missing|no|not|refused|unable|unknown|warning)\\b",
    )
});

/// What only the message of a program has.
pub(crate) static PHRASE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^generating new (?:host )?keys?\b|^(?:[Uu]nknown|[Ii]nvalid|[Uu]nrecogni[sz]ed|[Ii]llegal|[Bb]ad|[Mm]issing) (?:argument|command|file|flag|option|usage|user)s?\b",
        r"|\b(?:[Cc]annot|[Cc]an't|[Cc]ould not|[Cc]ouldn't|[Uu]nable to|[Ff]ailed to) ",
        r"(?:access|add|change|check|connect|create|decrypt|delete|determine|encrypt|execute|export|find|generate|get|import|load|lock|open",
        r"|parse|read|remove|save|set|stat|store|update|verify|write)\b",
        r"|\b(?:[Nn]o such (?:device|entry|file|key|option|user)\b|(?:is|was) not (?:found|installed|in the))\b",
        r"|\b(?:(?:command )?not found|does(?: not|n't) exist|[Pp]ermission denied)[.!]?$",
    ))
});

/// A word of a message, without the signs around it: letters, also those of a file or a function, or a flag. Words with digits or
/// capitals within may be passwords.
pub(crate) static PLAIN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:\.{0,2}/?(?:[A-Z]?[a-z]+(?:['._/][a-z]+)*|[A-Z]{2,}(?:_[A-Z]+)*|ED25519)|--[a-z]+(?:-[a-z]+)*|\$[A-Z]+)$",
    )
});

/// What a message names in quotes: `user 'bob-1'`.
pub(crate) static NAMED: LazyLock<Regex> = LazyLock::new(|| pattern("\\b(?:[Uu]ser|[Gg]roup) '[^' ]+'"));

/// The class of an exception, perhaps with its package: `InvalidTokenError`, `java.security.KeyException`.
pub(crate) static EXCEPTION: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:[A-Za-z_]\w*\.)*[A-Z][A-Za-z0-9]*(?:Error|Exception|Fault|Warning)$"));

/// Exceptions that say which key of a map is missing. That is no secret, whatever it is.
pub(crate) static OF_KEYS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:[A-Za-z_]\w*\.)*Key(?:Error|Exception)$"));

/// The results of tests, and how long one took: `PASS: 5, FAIL: 0`, `PASS: TestLogin (0.02s)`. Under another name, seconds may be
/// how long a token is valid.
pub(crate) static RESULT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^(?:PASS(?:ED)?|[Pp]assed): (?:[0-9]{1,6}",
        r"(?:[,;]? +(?i:errors?|fail(?:ed|ures?)?|skip(?:ped)?|total|warn(?:ings?)?|xfail|xpass): ?[0-9]{1,6})+",
        r"|[\w./:-]*[Tt]est[\w./:-]* \([0-9.]+ ?m?s\))$",
    ))
});

/// What may stand before and after a word of a message.
const BEFORE: [char; 4] = ['(', '\'', '"', '`'];
const AFTER: [char; 11] = ['(', ')', '\'', '"', '`', ',', '.', ';', ':', '!', '?'];

/// Whether the text after a name and a colon is a message, and no secret with this name.
pub(crate) fn is_message(name: &str, text: &str) -> bool {
    let plain = text.trim();
    OF_KEYS.is_match(name)
        || is_prose(text)
        || RESULT.is_match(&format!("{name}: {plain}"))
        || (says_that_it_failed(name, plain) && is_plain(plain))
}

fn says_that_it_failed(name: &str, text: &str) -> bool {
    let is_failure = || PHRASE.is_match(text) || (!SHARED.is_match(name) && FAILURE.is_match(text));
    EXCEPTION.is_match(name) || (PROGRAM.is_match(name) && is_failure())
}

/// Whether a text consists of several plain words, paths, and numbers that it counts.
fn is_plain(text: &str) -> bool {
    let text = NAMED.replace_all(text, "user");
    let words: Vec<_> = text.split(' ').map(|word| word.trim_start_matches(BEFORE).trim_end_matches(AFTER)).collect();
    let lower: Vec<_> = words.iter().map(|word| word.to_ascii_lowercase()).collect();
    let is_one = |(at, word): (usize, &&str)| PLAIN.is_match(word) || FILE.is_match(word) || is_counted(&lower, at);
    words.len() > 1 && words.iter().enumerate().all(is_one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_from_secrets() {
        for (name, text) in [
            ("passwd", "Authentication token manipulation error"),
            ("passwd", "Unknown user bob"),
            ("passwd", "user 'bob' does not exist"),
            ("chpasswd", "line 1: missing new password"),
            ("chpasswd", "line 12: user 'bob-1' unknown"),
            ("htpasswd", "cannot create file /etc/nginx/h"),
            ("htpasswd", "cannot open file ./users for read/write access"),
            ("mkpasswd", "command not found"),
            ("passwd", "Authentication token lock busy"),
            ("chpasswd", "(user bob) pam_chauthtok() failed, error:"),
            ("docker-credential-helper", "executable file not found in $PATH"),
            ("apt-key", "command not found"),
            ("apt-key", "gpg: not found"),
            ("ssh-key", "no such file"),
            ("ssh-keygen", "generating new host keys: RSA DSA ECDSA ED25519"),
            ("certutil", "function failed: SEC_ERROR_BAD_DATABASE: security library: bad database."),
            ("ssh-keyscan", "getaddrinfo worker: No such file or directory"),
            ("gopass", "Error: failed to decrypt db/prod"),
            ("pass", "Error: db/prod is not in the password store."),
            ("vault-token", "could not read /run/token"),
            ("xauth", "file /root/.Xauthority does not exist"),
            ("certbot", "error: unrecognized arguments: --dry-run"),
            ("update-ca-certificates", "Permission denied"),
            ("pwd", "cannot access parent directories"),
            ("api_token", "cannot read /etc/app/token"),
            ("credential", "helper exited with status 1"),
            ("secret", "not found in namespace default"),
            ("Token", "EOF expected"),
            ("tokens", "3 left"),
            ("PASS", "5, FAIL: 0"),
            ("PASS", "12  Skipped: 3 Failed: 0"),
            ("PASS", "TestLogin (0.02s)"),
            ("KeyError", "'db_password'"),
            ("java.security.KeyException", "hunter22"),
            ("InvalidTokenError", "Signature has expired"),
        ] {
            assert!(is_message(name, text), "{name}: {text}");
        }
        for (name, text) in [
            ("password", "correct horse battery staple"),
            ("passphrase", "the cat sat on it"),
            ("pass", "the cat sat on it"),
            ("passwd", "correct horse battery staple"),
            ("passwd", "S3cret-1"),
            ("chpasswd", "cannot"),
            ("htpasswd", "alice hunter22"),
            ("password", "Error: hunter22"),
            ("password", "line 1: hunter22"),
            ("password", "hunter22: command not found"),
            ("db_passwd", "Unknown user bob"),
            ("ssh-key", "correct horse battery"),
            ("passwd", "cannot stop the horse"),
            ("vault-password", "no horse is not a cat"),
            ("ssh-keygen", "correct horse battery staple"),
            ("tokens", "1234 left"),
            ("PASS", "5, PIN: 1234"),
            ("PASS", "hunter22 (x)"),
            ("pass", "5, FAIL: 0"),
            ("token", "hunter22 (60s)"),
            ("pass", "the dog is not a cat"),
            ("credential", "helper hunter22"),
            ("pass", "Error: hunter22"),
            ("pass", "Error: hunter"),
            ("passwd", "fatal: hunter22secret"),
            ("passwd", "unable to read hunter22secret"),
            ("passwd", "unable to read hunTer"),
            ("passwd", "unable to read hun+ter"),
            ("vault-pass", "warning: hunter22"),
            ("apt-key", "hunter22 no"),
            ("wpa_passphrase", "hunter22 my not psk"),
            ("ssh-keygen", "passphrase hunter22secret is invalid"),
            ("ssh-keygen", "bad 123456"),
            ("docker-credential-helper", "bad S3cret-abc12"),
            ("InvalidPasswordException", "hunter22secret is not valid for root"),
            ("PasswordError", "hunter22"),
            ("KeyFault", "hunter22"),
            ("PASS", "hunter22secret (60s)"),
            ("token", "with 123"),
            ("password", "with /srv/x"),
        ] {
            assert!(!is_message(name, text), "{name}: {text}");
        }
    }
}
