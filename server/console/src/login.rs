//! Logs in to machines with the cluster's key, and only reads their machine-id there. Unlike a run, it reads no configuration of ssh.

use std::fs::{File, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use futures::future::join;
use futures::{StreamExt, stream};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout, timeout_at};

/// The program. It belongs to the OpenSSH client, which ansible needs, too.
pub(crate) const PROGRAM: &str = "ssh";
/// `ssh`'s timeout for a connection, in seconds.
const CONNECT: &str = "5";
/// Timeout for one machine: some take seconds to look up the name of who connects.
const EACH: Duration = Duration::from_secs(10);
/// Timeout for all machines together.
const ALL: Duration = Duration::from_mins(1);
/// Limits the concurrent tries of all users together.
static TRIES: Semaphore = Semaphore::const_new(2);
/// A folder in memory, where a key is lost with the power. Not all systems have it.
const IN_MEMORY: &str = "/dev/shm";
/// Machines that are tried concurrently, each by its own process.
const AT_ONCE: usize = 16;
/// How much of `ssh`'s answer and error text is kept, in bytes. A machine writes to both.
const LONGEST_ANSWER: usize = 4096;
/// How much of its last line is shown, in characters.
const LONGEST_REASON: usize = 200;
/// What is run on the machine: machine-id(5).
const COMMAND: &str = "cat /etc/machine-id";
/// The length of a machine-id, in hexadecimal digits.
const MACHINE_ID: usize = 32;
/// `ssh`'s exit code if no command was run (ssh(1), "EXIT STATUS").
const NO_LOGIN: i32 = 255;

/// A machine, and who logs in there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Account {
    /// The machine's name in the inventory.
    pub(crate) machine: String,
    /// A host name or an IP address.
    pub(crate) address: String,
    pub(crate) port: u16,
    pub(crate) user: String,
}

/// Whether an account accepts the key, and the machine-id, if the machine tells one. An error is `ssh`'s reason, without a full stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tried {
    pub(crate) account: Account,
    pub(crate) result: Result<Option<String>, String>,
}

/// Tries each account, with this private key and these host keys (a known_hosts file). Those that aren't reached within a minute are
/// missing in the result. An error is a sentence that says why none can be tried from here.
pub(crate) async fn try_all(
    program: &str,
    accounts: Vec<Account>,
    key: &str,
    known_hosts: &str,
) -> Result<Vec<Tried>, String> {
    try_for((EACH, ALL), program, accounts, key, known_hosts).await
}

async fn try_for(
    (each, all): (Duration, Duration),
    program: &str,
    accounts: Vec<Account>,
    key: &str,
    known_hosts: &str,
) -> Result<Vec<Tried>, String> {
    let _place = TRIES.acquire().await;
    // ssh reads both from files only. The folder is private, and deleted at the end.
    let mut folder = tempfile::Builder::new();
    folder.prefix("kubeonkube-login").permissions(Permissions::from_mode(0o700));
    let folder = folder.tempdir_in(IN_MEMORY).or_else(|_| folder.tempdir());
    let folder =
        folder.map_err(|error| format!("The login can't be tried: no folder for the key can be made: {error}."))?;
    let (identity, hosts) = (folder.path().join("key"), folder.path().join("known_hosts"));
    let written = private_file(&identity, key).and_then(|()| private_file(&hosts, known_hosts));
    written.map_err(|error| format!("The login can't be tried: the key can't be written to a file: {error}."))?;
    let options = [
        // No configuration, agent or key of the server's own user.
        "-F".into(),
        "none".into(),
        format!("-oIdentityFile={}", identity.display()),
        "-oIdentitiesOnly=yes".into(),
        "-oIdentityAgent=none".into(),
        format!("-oUserKnownHostsFile={}", hosts.display()),
        "-oGlobalKnownHostsFile=none".into(),
        "-oStrictHostKeyChecking=yes".into(),
        "-oUpdateHostKeys=no".into(),
        "-oPreferredAuthentications=publickey".into(),
        "-oBatchMode=yes".into(),
        "-oClearAllForwardings=yes".into(),
        format!("-oConnectTimeout={CONNECT}"),
        "-oLogLevel=ERROR".into(),
        "-T".into(),
    ];
    let options = &options;
    let mut tries = stream::iter(accounts)
        .map(|account| async move {
            let result = match timeout(each, login(program, options, &account)).await {
                Ok(result) => result?,
                Err(_) => Err(format!("The login did not end within {} s", each.as_secs())),
            };
            Ok::<_, String>(Tried { account, result })
        })
        .buffered(AT_ONCE);
    let until = Instant::now() + all;
    let mut tried = Vec::new();
    while let Ok(Some(one)) = timeout_at(until, tries.next()).await {
        tried.push(one?);
    }
    Ok(tried)
}

fn private_file(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}

/// The outer error ends all tries.
async fn login(program: &str, options: &[String], account: &Account) -> Result<Result<Option<String>, String>, String> {
    let mut command = Command::new(program);
    command.args(options).args(["-p", &account.port.to_string(), "-l", &account.user, "--", &account.address, COMMAND]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(format!(
                "The login can't be tried: {program} is not installed where kubeonkube runs. Install OpenSSH's client there."
            ));
        }
        // This is temporary, such as too many processes. The others may start.
        Err(error) => return Ok(Err(format!("{program} doesn't start: {error}"))),
    };
    let (answered, said) = join(beginning(child.stdout.take()), beginning(child.stderr.take())).await;
    let ended = child.wait().await.map_err(|error| format!("The login can't be tried: {error}."))?;
    Ok(match ended.code() {
        Some(NO_LOGIN) => Err(reason(&said, account)),
        // That of the command: the machine has let us in.
        Some(_) => Ok(machine_id(&answered)),
        None => Err(format!("{program} was killed by a signal")),
    })
}

/// The last line, if it is a machine-id. A shell may have written something before.
fn machine_id(answered: &str) -> Option<String> {
    let line = answered.lines().last()?.trim();
    (line.len() == MACHINE_ID && line.chars().all(|c| c.is_ascii_hexdigit())).then(|| line.to_owned())
}

/// Reads to the end, because a closed pipe would kill `ssh`, and returns the beginning.
async fn beginning(stream: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut stream) = stream else { return String::new() };
    let (mut said, mut part) = (Vec::new(), [0; 1024]);
    while let Ok(bytes @ 1..) = stream.read(&mut part).await {
        let room = LONGEST_ANSWER.saturating_sub(said.len());
        said.extend_from_slice(&part[..bytes.min(room)]);
    }
    String::from_utf8_lossy(&said).into_owned()
}

/// The last line that `ssh` wrote, without the account and the address in front of it. A key that can't be read is the better reason: a
/// refusal follows from it.
fn reason(said: &str, account: &Account) -> String {
    if said.lines().any(|line| line.starts_with("Load key ")) {
        return "ssh can't read the key".into();
    }
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("ssh says no reason");
    let own = format!("{}@{}: ", account.user, account.address);
    // A machine may have written it, also characters that change the direction of a text.
    let plain = last.strip_prefix(&own).unwrap_or(last).chars().filter(|c| matches!(c, ' '..='~'));
    plain.take(LONGEST_REASON).collect::<String>().trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A script that stands in for `ssh`. What it does depends on the user.
    const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/ssh");

    fn account(user: &str) -> Account {
        Account { machine: "w1".into(), address: "192.0.2.1".into(), port: 22, user: user.into() }
    }

    async fn tried(user: &str) -> Result<Option<String>, String> {
        try_all(SCRIPT, vec![account(user)], "KEY", "HOSTS").await.unwrap().remove(0).result
    }

    #[tokio::test]
    async fn the_result_says_who_is_let_in_and_why_others_are_not() {
        assert_eq!(tried("ann").await, Ok(Some("0123456789abcdef0123456789abcdef".into())));
        assert_eq!(tried("eve").await, Err("Permission denied (publickey)".into()));
        assert_eq!(tried("shell").await, Ok(None), "the machine's shell refuses the command, after a login");
        assert_eq!(tried("killed").await, Err(format!("{SCRIPT} was killed by a signal")));
        assert_eq!(tried("broken").await, Err("ssh can't read the key".into()));
        let endless = tried("talker").await.unwrap_err();
        assert!(endless.starts_with("xxxx") && endless.len() == LONGEST_REASON, "{endless}");
    }

    #[tokio::test]
    async fn a_login_that_never_ends_does_not_delay_the_others() {
        let short = Duration::from_millis(300);
        let accounts = || vec![account("slow"), account("ann")];
        let tried = try_for((short, ALL), SCRIPT, accounts(), "KEY", "").await.unwrap();
        assert!(tried[0].result.as_ref().unwrap_err().contains("did not end within"), "{tried:?}");
        assert!(tried[1].result.is_ok());
        let none = try_for((EACH, short), SCRIPT, accounts(), "KEY", "").await.unwrap();
        assert!(none.is_empty(), "{none:?}");
    }

    #[tokio::test]
    async fn key_and_host_keys_are_private_files_during_the_try() {
        // The script compares both files, and their modes, and answers with their folder.
        let said = tried("files").await.unwrap_err();
        let folder = said.strip_prefix("good ").unwrap_or_else(|| panic!("{said}"));
        assert!(!Path::new(folder).exists(), "{folder}");
    }

    #[tokio::test]
    async fn a_missing_ssh_is_reported_with_what_to_install() {
        let why = try_all("no-such-ssh", vec![account("ann")], "KEY", "").await.unwrap_err();
        assert!(why.contains("Install OpenSSH's client"), "{why}");
    }

    #[test]
    fn a_reason_is_one_short_line_without_control_characters() {
        let text = format!("\u{1b}[31mHello\nssh: connect to\u{202e} host\u{7} {}\n\n", "x".repeat(500));
        let reason = reason(&text, &account("ann"));
        assert!(reason.starts_with("ssh: connect to host x") && reason.len() == LONGEST_REASON, "{reason}");
    }
}
