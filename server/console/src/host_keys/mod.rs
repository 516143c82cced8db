//! Scans the machines' SSH host keys and compares them with those that a user confirmed.

mod ask;
mod machine;
mod record;

use api::Problem;
use api::configuration::{Login, MachineKey, Standing};
use inventory::{Inventory, Vars};
use machine::Machine;
use record::Record;
use tokio::sync::Semaphore;

use crate::configuration::Inputs;
use crate::documents::read_inventory;

/// The number of machines that are reached over SSH, and the names of those without a confirmed key in `text` (a known_hosts file).
pub(crate) fn missing(inventory: &Inventory, vars: &Vars, text: &str) -> (usize, Vec<String>) {
    let (machines, record) = (machine::machines(inventory, vars), Record::of(text));
    let missing = machines.iter().filter(|machine| !record.knows(&machine.known_as()));
    (machines.len(), missing.map(|machine| machine.name.clone()).collect())
}

/// A confirmed host key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KnownKey {
    /// `SHA256:…`
    pub(crate) fingerprint: String,
    /// The first address that it is confirmed for; empty if that is hashed.
    pub(crate) place: String,
}

/// The keys of machines in `text` (a known_hosts file), without certificate authorities and revoked keys.
pub(crate) fn known(text: &str) -> Vec<KnownKey> {
    Record::of(text).known().collect()
}

/// The scanned key of each machine, and `text` (a known_hosts file) with new and changed keys filled in.
pub(crate) async fn scan(inputs: &Inputs, text: &str) -> Result<(Vec<MachineKey>, String), Problem> {
    let refuse = |message: String| Problem::Invalid { message, fields: Vec::new() };
    let hosts = inputs.hosts.usable().map_err(refuse)?;
    let inventory = read_inventory(hosts).map_err(|why| refuse(format!("The inventory can't be used. {why}")))?;
    scan_some(&inventory, &inputs.vars_or_none(), |_| true, text).await
}

/// [`scan`] of the machines whose names are `wanted`.
pub(crate) async fn scan_some(
    inventory: &Inventory,
    vars: &Vars,
    wanted: impl Fn(&str) -> bool,
    text: &str,
) -> Result<(Vec<MachineKey>, String), Problem> {
    let mut machines = machine::machines(inventory, vars);
    machines.retain(|machine| wanted(&machine.name));
    if machines.is_empty() {
        let message = "No machine of this cluster is reached over SSH, so there is no host key to confirm.";
        return Err(Problem::Invalid { message: message.into(), fields: Vec::new() });
    }
    let _place = SCANS.acquire().await;
    // Another machine may answer at the address of one behind a jump host.
    let is_direct = |machine: &&Machine| {
        inventory.host(&machine.name).is_none_or(|host| !inventory.is_behind_jump_host(host, vars))
    };
    let direct: Vec<Machine> = machines.iter().filter(is_direct).cloned().collect();
    let shown = if direct.is_empty() { Ok(String::new()) } else { ask::ask(ask::PROGRAM, &direct).await };
    let shown = shown.map_err(|message| Problem::Unavailable { message })?;
    let text = text.to_owned();
    // With thousands of machines this takes seconds, so keep it off the async runtime's threads.
    let judged = tokio::task::spawn_blocking(move || judged(&machines, &shown, &text)).await;
    judged.map_err(|error| {
        tracing::error!(%error, "comparing host keys failed");
        Problem::Internal
    })
}

/// Limits the concurrent scans of all users together, because each scan asks all machines of a cluster.
static SCANS: Semaphore = Semaphore::const_new(2);

/// Compares the scanned keys (`shown`) with the confirmed keys (`text`), both in known_hosts form. Also returns `text` with new
/// and changed keys filled in.
fn judged(machines: &[Machine], shown: &str, text: &str) -> (Vec<MachineKey>, String) {
    let (shown, record) = (Record::of(shown), Record::of(text));
    // New keys go into a copy: `record` must hold confirmed keys only, because scanned keys are compared with it.
    let mut then = Record::of(text);
    let keys = machines.iter().map(|machine| {
        let address = machine.known_as();
        let (standing, key) = record.stands(&address, &shown);
        if let (Standing::New | Standing::Changed, Some(key)) = (standing, key) {
            then.put(&address, key);
        }
        let algorithm = key.map(|key| key.algorithm().to_string()).unwrap_or_default();
        let fingerprint = key.map(|key| key.fingerprint(ssh_key::HashAlg::Sha256).to_string()).unwrap_or_default();
        MachineKey { name: machine.name.clone(), address, standing, algorithm, fingerprint, login: Login::NotTried }
    });
    (keys.collect(), then.text())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ssh;

    #[test]
    fn scanned_keys_are_compared_with_the_confirmed_ones() {
        let public = || ssh::generate("").unwrap().public.unwrap().trim().to_owned();
        let (one, two, other) = (public(), public(), public());
        let inventory = "all: {hosts: {a: {ansible_host: 192.0.2.1}, b: {ansible_host: 192.0.2.2}, c: {ansible_host: 192.0.2.3, ansible_port: 2222}, d: {ansible_host: 192.0.2.4}}}";
        let machines = machine::machines(&inventory::parse(inventory).unwrap(), &inventory::Vars::new());
        let record = format!("# ours\n192.0.2.1 {one}\n192.0.2.2,b.example {other}\n");
        let shown = format!("192.0.2.1 {one}\n192.0.2.2 {two}\n[192.0.2.3]:2222 {one}\n");
        let (keys, text) = judged(&machines, &shown, &record);
        let standings: Vec<_> = keys.iter().map(|key| key.standing).collect();
        assert_eq!(standings, [Standing::Confirmed, Standing::Changed, Standing::New, Standing::Unseen]);
        assert_eq!(keys[1].fingerprint, ssh::fingerprint(&two).unwrap());
        assert_eq!(
            text,
            format!("# ours\n192.0.2.1 {one}\nb.example {other}\n192.0.2.2 {two}\n[192.0.2.3]:2222 {one}\n")
        );
        let again = judged(&machines[..3], &shown, &text);
        assert!(again.0.iter().all(|key| key.standing == Standing::Confirmed) && again.1 == text);
    }

    #[test]
    fn a_machine_with_two_names_is_new_under_both() {
        let public = ssh::generate("").unwrap().public.unwrap().trim().to_owned();
        let inventory = "all: {hosts: {a: {ansible_host: 192.0.2.1}, b: {ansible_host: 192.0.2.1}}}";
        let machines = machine::machines(&inventory::parse(inventory).unwrap(), &inventory::Vars::new());
        let shown = format!("192.0.2.1 {public}\n");
        let standings = |record: &str| {
            let (keys, text) = judged(&machines, &shown, record);
            (keys.iter().map(|key| key.standing).collect::<Vec<_>>(), text)
        };
        assert_eq!(standings(""), (vec![Standing::New; 2], shown.clone()));
        let revoked = format!("@revoked * {public}\n");
        assert_eq!(standings(&revoked), (vec![Standing::Revoked; 2], revoked));
    }
}
