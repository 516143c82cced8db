//! Reads machines from pasted lines.
//!
//! A line is `name`, `address` or `user@address:port`, then in any order an address, roles (`kube_node,etcd`, `worker`) and
//! `key=value` host variables: `node4 10.0.0.4 kube_node,etcd user=ubuntu`, `node1 ansible_host=10.0.0.1`,
//! `node[1:3] 10.0.0.[1:3]`. Blank lines, text after `#` and lines that start with `;` are ignored.

mod words;

use std::net::{Ipv4Addr, Ipv6Addr};

use api::machine::Port;

use crate::invalid::quoted;
use crate::inventory::Role;
use crate::machine::{Machine, Seen};
use crate::{ini, limits, names, range};

/// Why a pasted line is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Line {line}: {message}")]
pub struct LineProblem {
    /// From 1.
    pub line: usize,
    /// A sentence.
    pub message: String,
}

/// The machines of all lines. A machine with only an address is named `node1`, `node2`, … by its position. Machines have
/// only the roles that the lines name; [`give_roles`](crate::give_roles) adds the others.
///
/// # Errors
/// Every line that is refused, at most [`limits::PROBLEMS`]. Of two lines in conflict, the second one is refused.
pub fn machines_from_lines(text: &str) -> Result<Vec<Machine>, Vec<LineProblem>> {
    if text.len() > limits::BYTES {
        let message = format!("This text has {} bytes, but the limit is {}.", text.len(), limits::BYTES);
        return Err(vec![LineProblem { line: 1, message }]);
    }
    // Its last line may be too short to be recognised, and would be quoted.
    if let Some(at) = text.lines().position(|line| line.contains("PRIVATE KEY-----")) {
        let message =
            "This is a private key, but here each line is one machine. Paste it into the field for the private key.";
        return Err(vec![LineProblem { line: at + 1, message: message.into() }]);
    }
    if let Some(whole) = whole_inventory(text) {
        return Err(vec![whole]);
    }
    let (mut machines, mut problems, mut seen) = (Vec::<Machine>::new(), Vec::new(), Seen::default());
    for (line, text) in (1..).zip(text.lines()) {
        let mut refuse = |message: String| problems.push(LineProblem { line, message });
        match machines_of(text) {
            Err(message) => refuse(message),
            Ok(found) => {
                for mut machine in found {
                    if machine.name.is_empty() {
                        machine.name = format!("node{}", machines.len() + 1);
                    }
                    if let Some(refused) = machine.check().into_iter().next() {
                        refuse(refused.message);
                    } else if let Err((twice, earlier)) = seen.note(&machine, line) {
                        refuse(format!("{}, here and on line {earlier}. Remove one of them.", twice.message));
                    } else {
                        machines.push(machine);
                        continue;
                    }
                    break;
                }
            }
        }
        if machines.len() > limits::HOSTS {
            let message = format!("There are more than {} machines.", limits::HOSTS);
            problems.push(LineProblem { line, message });
            break;
        }
        if problems.len() >= limits::PROBLEMS {
            break;
        }
    }
    if problems.is_empty() { Ok(machines) } else { Err(problems) }
}

/// Why a whole inventory is refused. Its groups may have variables and groups below them, which machines of a form don't have.
fn whole_inventory(text: &str) -> Option<LineProblem> {
    const LATER: &str = "To keep all of it, register the cluster with one machine, and then save";
    if let Some(line) = ini::header(text) {
        let header = quoted(text.lines().nth(line - 1).unwrap_or_default().trim());
        let message = format!(
            "{header} is a header of an ini inventory. Paste only its host lines, with roles after the address. {LATER} the \
             output of “{}” on the Configuration tab.",
            ini::CONVERT
        );
        return Some(LineProblem { line, message });
    }
    let message = format!(
        "This is a whole inventory in YAML, but here each line is one machine. {LATER} it on the Configuration tab."
    );
    crate::parse(text).is_ok().then_some(LineProblem { line: 1, message })
}

/// The machines of one line: none, one, or those of a range. A machine without a name gets one later.
fn machines_of(line: &str) -> Result<Vec<Machine>, String> {
    let words = words::split(line)?;
    let Some((first, rest)) = words.split_first() else { return Ok(Vec::new()) };
    let mut machine = Machine::default();
    let target = target(first)?;
    let mut names = range::expand(&target.host).map_err(|why| refused_range(&target.host, &why))?;
    let mut addresses = Vec::new();
    (machine.user, machine.port) = (target.user, target.port);
    if is_ip(&names[0]) {
        addresses = std::mem::take(&mut names);
    }
    for word in rest {
        if let Some((key, value)) = word.split_once('=') {
            set(&mut machine, &mut addresses, key, value)?;
        } else if let Some(roles) = word.split(',').map(Role::from_word).collect::<Option<Vec<_>>>() {
            machine.roles.extend(roles);
        } else if addresses.is_empty() {
            let target = self::target(word)?;
            addresses = range::expand(&target.host).map_err(|why| refused_range(&target.host, &why))?;
            machine.user = target.user.or(machine.user);
            machine.port = target.port.or(machine.port);
        } else {
            let known = Role::ALL.map(Role::group).join(", ");
            return Err(format!("{} is neither a role ({known}) nor of the form key=value.", quoted(word)));
        }
    }
    machine.roles.sort_unstable();
    machine.roles.dedup();
    let count = names.len().max(addresses.len());
    if [names.len(), addresses.len()].into_iter().any(|n| n != 0 && n != count) {
        return Err(format!("This line has {} names but {} addresses.", names.len(), addresses.len()));
    }
    let one = |i: usize| Machine {
        name: names.get(i).cloned().unwrap_or_default(),
        address: addresses.get(i).cloned(),
        ..machine.clone()
    };
    Ok((0..count).map(one).collect())
}

fn port(text: &str) -> Result<u16, String> {
    text.parse().map(Port::number)
}

/// `[user@]host[:port]`.
struct Target {
    user: Option<String>,
    host: String,
    port: Option<u16>,
}

fn target(word: &str) -> Result<Target, String> {
    let (user, place) = word.rsplit_once('@').map_or((None, word), |(user, place)| (Some(user.to_owned()), place));
    let bracketed =
        place.strip_prefix('[').and_then(|p| p.split_once(']')).filter(|(a, _)| a.parse::<Ipv6Addr>().is_ok());
    let (host, port) = match bracketed {
        Some((host, rest)) => (host, rest.strip_prefix(':')),
        None => match place.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') && place.parse::<Ipv6Addr>().is_err() => (host, Some(port)),
            _ => (place, None),
        },
    };
    let port = port.map(self::port).transpose()?;
    Ok(Target { user, host: host.to_owned(), port })
}

fn set(machine: &mut Machine, addresses: &mut Vec<String>, key: &str, value: &str) -> Result<(), String> {
    match key {
        "user" | "ansible_user" | "ansible_ssh_user" => machine.user = Some(value.to_owned()),
        "port" | "ansible_port" | "ansible_ssh_port" => machine.port = Some(port(value)?),
        "host" | "address" | "ansible_host" | "ansible_ssh_host" => {
            *addresses = range::expand(value).map_err(|why| refused_range(value, &why))?;
        }
        _ if names::is_variable(key) => {
            machine.vars.insert(key.to_owned(), words::value(value));
        }
        _ => return Err(format!("{} can't be a variable's name: use letters, digits and “_”.", quoted(key))),
    }
    Ok(())
}

fn is_ip(text: &str) -> bool {
    text.parse::<Ipv4Addr>().is_ok() || text.parse::<Ipv6Addr>().is_ok()
}

fn refused_range(pattern: &str, why: &str) -> String {
    format!("The range {} can't be read: {why}. A range looks like node[1:3].", quoted(pattern))
}
