//! Asks new machines, before anything is changed: for their host keys, and whether they let the cluster's key in.

use std::net::IpAddr;

use api::backend::Configurations;
use api::configuration::{Login, MachineKey, Standing};
use api::{ClusterName, Problem, User};
use crd::Cluster;
use inventory::{Inventory, Vars};

use super::refused;
use crate::login::{self, Account, Tried};
use crate::ssh_key::Keys;
use crate::{Console, host_keys};

/// What the machines answered.
#[derive(Default)]
pub(super) struct Answers {
    pub(super) machines: Vec<MachineKey>,
    /// The file of confirmed keys with the new ones; empty if none is to be saved.
    pub(super) text: String,
    pub(super) version: String,
    /// The machine-ids that they told, by name.
    pub(super) machine_ids: Vec<(String, String)>,
    pub(super) warnings: Vec<String>,
}

impl Console {
    /// Asks the machines with these names. Their host keys are to be saved only if the cluster has confirmed keys: from the first
    /// confirmed key on, runs refuse machines without one.
    pub(super) async fn asked(
        &self,
        user: &User,
        name: &ClusterName,
        cluster: &Cluster,
        (inventory, vars): (&Inventory, &Vars),
        names: &[String],
    ) -> Result<Answers, Problem> {
        let is_new = |name: &str| names.iter().any(|new| new == name);
        let over_ssh = inventory.hosts.iter().any(|host| is_new(&host.name) && host.reached(vars).is_ssh());
        if !over_ssh {
            return Ok(Answers::default());
        }
        let confirmed = Configurations::read(self, user, name).await?.ssh.host_keys;
        let document = confirmed.as_ref().map(|keys| (&keys.document, keys.count));
        let text = document.map_or("", |(document, _)| &document.text);
        let (mut machines, text) = match host_keys::scan_some(inventory, vars, is_new, text).await {
            Ok(found) => found,
            Err(Problem::Unavailable { message }) => {
                return Ok(Answers { warnings: vec![message], ..Answers::default() });
            }
            Err(other) => return Err(other),
        };
        if let Some(other) = machines.iter().find(|m| matches!(m.standing, Standing::Changed | Standing::Revoked)) {
            return Err(refused(format!(
                "The host key of {} at {} is not the one that was confirmed for this address. If the machine was reinstalled, delete the old line on the Configuration tab, under SSH access, and review again. If not, the connection may be intercepted.",
                other.name, other.address
            )));
        }
        let mut warnings: Vec<String> = machines
            .iter()
            .filter(|machine| machine.standing == Standing::Unseen)
            .map(|machine| {
                let host = inventory.host(&machine.name);
                if host.is_some_and(|host| inventory.is_behind_jump_host(host, vars)) {
                    return format!(
                        "{} is reached through a jump host, so neither its host key nor the login can be checked from here. If the cluster has confirmed keys, add its key and that of the jump host on the Configuration tab, under SSH access.",
                        machine.name
                    );
                }
                format!(
                    "{} doesn't answer SSH at {}. Check the address, and whether the machine is running. If you continue, the operation may fail.",
                    machine.name, machine.address
                )
            })
            .collect();
        let (machine_ids, failures) = self.log_in(user, cluster, (inventory, vars), &mut machines, &text).await?;
        warnings.extend(failures);
        let saves = document.is_some_and(|(_, count)| count > 0);
        if !saves {
            warnings.push(
                "No host key of this cluster is confirmed, so the run trusts the key that each machine shows first. You can confirm them on the Configuration tab, under SSH access.".into(),
            );
        }
        Ok(Answers {
            machines,
            text: if saves { text } else { String::new() },
            version: document.map(|(document, _)| document.version.clone()).unwrap_or_default(),
            machine_ids,
            warnings,
        })
    }

    /// Tries the login of each machine that showed a host key, and notes the result. Returns machine-ids by name, and warnings.
    async fn log_in(
        &self,
        user: &User,
        cluster: &Cluster,
        of: (&Inventory, &Vars),
        machines: &mut [MachineKey],
        known_hosts: &str,
    ) -> Result<(Vec<(String, String)>, Vec<String>), Problem> {
        let accounts = accounts(of, machines);
        // Without a key, the review of the operation warns.
        let Some(at) = cluster.spec.ssh_auth_ref.as_ref().filter(|_| !accounts.is_empty()) else {
            return Ok((Vec::new(), Vec::new()));
        };
        let untried = |why: String| (Vec::new(), vec![format!("The login of the machines isn't checked. {why}")]);
        let keys = match Keys::read(self.shared.access.client(user)?, at).await {
            Ok(keys) => keys,
            // This user may not read it, but operations can.
            Err(Problem::Forbidden { message, .. }) => return Ok(untried(message)),
            Err(other) => return Err(other),
        };
        let key = match keys.usable() {
            Ok(key) => key,
            Err(why) => return Ok(untried(why)),
        };
        let wanted = accounts.len();
        let tried = match login::try_all(login::PROGRAM, accounts, &key.private, known_hosts).await {
            Ok(tried) => tried,
            Err(why) => return Ok((Vec::new(), vec![why])),
        };
        for Tried { account, result } in &tried {
            let machine = machines.iter_mut().filter(|machine| machine.name == account.machine);
            machine.for_each(|machine| machine.login = if result.is_ok() { Login::Works } else { Login::Fails });
        }
        let may_have_password = cluster.spec.secret_vars_ref.is_some();
        let warning = |tried: &Tried| Some(warning(&tried.account, tried.result.as_ref().err()?, may_have_password));
        let mut warnings: Vec<String> = tried.iter().filter_map(warning).collect();
        if tried.len() < wanted {
            warnings.push(format!("The login of {} machines isn't checked: it took too long.", wanted - tried.len()));
        }
        let machine_id = |tried: &Tried| Some((tried.account.machine.clone(), tried.result.clone().ok()??));
        Ok((tried.iter().filter_map(machine_id).collect(), warnings))
    }
}

/// The accounts that a run uses with the cluster's key, of machines that showed a host key. Templates can't be tried, and without a
/// user the account depends on the image of the run.
fn accounts((inventory, vars): (&Inventory, &Vars), machines: &[MachineKey]) -> Vec<Account> {
    let is_plain = |user: &str| !user.contains(|c: char| c.is_whitespace() || c.is_control() || c == '{');
    let shown = machines.iter().filter(|machine| matches!(machine.standing, Standing::New | Standing::Confirmed));
    shown
        .filter_map(|machine| {
            let host = inventory.host(&machine.name)?;
            let reached = host.reached(vars);
            // Another machine may answer at the address of one behind a jump host.
            let is_direct = !inventory.is_behind_jump_host(host, vars);
            let user =
                reached.user.filter(|user| is_direct && is_plain(user) && !inventory.has_own_login(host, vars))?;
            // As its host key is recorded.
            let address = reached.address.parse::<IpAddr>().map_or(reached.address, |ip| ip.to_string());
            Some(Account { machine: machine.name.clone(), address, port: reached.port.unwrap_or(22), user })
        })
        .collect()
}

fn warning(account: &Account, reason: &str, may_have_password: bool) -> String {
    let Account { machine, user, .. } = account;
    if !reason.contains("Permission denied") {
        return format!(
            "The login of {user} on {machine} doesn't work: {reason}. If you continue, the operation may fail."
        );
    }
    let password =
        if may_have_password { "If the secret variables hold a password, runs use that. If not, add" } else { "Add" };
    format!(
        "{machine} doesn't let {user} in with the cluster's key: {reason}. {password} the cluster's public key to that account, or the operation may fail. You find the key on the Configuration tab, under SSH access."
    )
}

#[cfg(test)]
mod tests {
    use inventory::{parse, parse_vars};

    use super::*;

    fn key(name: &str, standing: Standing) -> MachineKey {
        let (algorithm, fingerprint) = (String::new(), String::new());
        MachineKey {
            name: name.into(),
            address: String::new(),
            standing,
            algorithm,
            fingerprint,
            login: Login::NotTried,
        }
    }

    #[test]
    fn only_accounts_that_use_the_clusters_key_are_tried() {
        let hosts = "all: {hosts: {a: {ansible_host: 'FD00::1', ansible_port: 2222, ansible_user: ann}, b: {}, c: {ansible_user: ann}, \
                     d: {ansible_user: ann, ansible_password: x}, e: {ansible_user: '{{ me }}'}, f: {ansible_user: ann}}}";
        let inventory = parse(hosts).unwrap();
        let mut machines: Vec<_> = ["a", "b", "d", "e", "f"].map(|name| key(name, Standing::New)).into();
        machines.push(key("c", Standing::Unseen));
        machines[4].standing = Standing::Confirmed;
        let found = accounts((&inventory, &Vars::new()), &machines);
        let first = Account { machine: "a".into(), address: "fd00::1".into(), port: 2222, user: "ann".into() };
        assert_eq!(found[0], first);
        assert_eq!(found.iter().map(|account| account.machine.as_str()).collect::<Vec<_>>(), ["a", "f"]);
        let own = parse_vars("ansible_ssh_pass: x").unwrap();
        assert!(accounts((&inventory, &own), &machines).is_empty());
        let jump = parse_vars("ansible_ssh_common_args: -J ops@192.0.2.9").unwrap();
        assert!(accounts((&inventory, &jump), &machines).is_empty());
    }

    #[test]
    fn a_warning_says_what_to_do_and_what_happens() {
        let account = Account { machine: "w2".into(), address: "192.0.2.3".into(), port: 22, user: "ann".into() };
        let plain = warning(&account, "Permission denied (publickey)", false);
        assert!(
            plain.starts_with("w2 doesn't let ann in with the cluster's key: Permission denied (publickey). Add the"),
            "{plain}"
        );
        assert!(warning(&account, "Permission denied", true).contains("hold a password"));
        assert!(!warning(&account, "No answer within 10 s", false).contains("public key"));
    }
}
