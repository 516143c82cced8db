//! Runs `ssh-keyscan` to read the host keys of machines.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::process::Stdio;
use std::time::Duration;

use futures::{StreamExt, stream};
use tokio::process::Command;
use tokio::time::{Instant, timeout, timeout_at};

use super::machine::Machine;

/// The program. It belongs to the OpenSSH client, which ansible needs, too.
pub(super) const PROGRAM: &str = "ssh-keyscan";
/// `ssh-keyscan`'s timeout for a connection, in seconds.
const SILENT: &str = "5";
/// Timeout for one machine, so that a slow name server or an endless response doesn't delay the others.
const EACH: Duration = Duration::from_secs(10);
/// Timeout for all machines together. A machine without a response by then counts as not reachable.
const ALL: Duration = Duration::from_mins(1);
/// Machines that are scanned concurrently, each by its own process.
const AT_ONCE: usize = 64;
/// EAGAIN, ENOMEM, ENFILE, EMFILE (errno.h): too many processes or files, too little memory.
const TOO_MUCH: [i32; 4] = [11, 12, 23, 24];

/// The keys of the machines that answered, as lines of a known_hosts file.
pub(super) async fn ask(program: &str, machines: &[Machine]) -> Result<String, String> {
    ask_for(|_| EACH, program, machines).await
}

/// `limit` is the timeout for the machine with that address.
async fn ask_for(limit: impl Fn(&str) -> Duration, program: &str, machines: &[Machine]) -> Result<String, String> {
    let machines = machines.iter().filter(|machine| machine.can_be_asked());
    let places: BTreeSet<(u16, String)> = machines.map(|machine| (machine.port, machine.address.clone())).collect();
    let mut asked = stream::iter(places)
        .map(|(port, address)| timeout(limit(&address), one(program, port, address)))
        .buffer_unordered(AT_ONCE);
    let until = Instant::now() + ALL;
    let mut lines = String::new();
    while let Ok(Some(answer)) = timeout_at(until, asked.next()).await {
        match answer {
            Ok(answer) => lines += &answer?,
            Err(_) => tracing::debug!("a machine did not report its host key in time"),
        }
    }
    Ok(lines)
}

async fn one(program: &str, port: u16, address: String) -> Result<String, String> {
    let mut command = Command::new(program);
    command.args(["-T", SILENT, "-t", "ed25519,ecdsa,rsa", "-p", &port.to_string(), &address]);
    command.stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    match command.output().await {
        Ok(output) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(format!(
            "{program} is not installed where kubeonkube runs, so machines can't be asked. Install OpenSSH's client there, or write the host keys below."
        )),
        // This is temporary, so skip this machine and keep the keys of the others.
        Err(error) if error.raw_os_error().is_some_and(|number| TOO_MUCH.contains(&number)) => {
            tracing::warn!(%error, address, "can't start ssh-keyscan for a machine");
            Ok(String::new())
        }
        Err(error) => Err(format!("{program} can't be used: {error}.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: &str) -> Machine {
        Machine { name: address.into(), address: address.into(), port: 22 }
    }

    #[tokio::test]
    async fn a_missing_ssh_keyscan_is_reported_with_what_to_install() {
        let why = ask("no-such-ssh-keyscan", &[at("127.0.0.1")]).await.unwrap_err();
        assert!(why.contains("Install OpenSSH's client"), "{why}");
    }

    #[tokio::test]
    async fn a_machine_that_never_answers_does_not_delay_others() {
        // This script answers for every machine except the one called slow.
        let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/ssh-keyscan");
        let limit = |address: &str| if address == "slow" { Duration::from_millis(100) } else { ALL };
        let lines = ask_for(limit, program, &[at("slow"), at("a"), at("b")]).await.unwrap();
        let mut lines: Vec<_> = lines.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["a shown", "b shown"]);
    }
}
