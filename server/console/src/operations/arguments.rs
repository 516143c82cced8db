//! Resolves `--limit` to hosts, as ansible does.

use inventory::Inventory;

/// The hosts that a limit selects.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    /// These hosts, in the inventory's order.
    Hosts(Vec<String>),
    /// A pattern that only ansible can evaluate.
    Pattern,
}

/// The hosts that `--limit` selects. A limit consists of hosts, groups and wildcards, separated by `,` or `:`; `!` excludes and
/// `&` intersects. See ansible's documentation, "Patterns: targeting hosts and groups". The error is a sentence.
pub(crate) fn selection(limit: &str, inventory: &Inventory) -> Result<Selection, String> {
    if limit.is_empty() {
        return Ok(Selection::Hosts(inventory.hosts.iter().map(|h| h.name.clone()).collect()));
    }
    if limit.starts_with('-') || limit.chars().any(char::is_control) || limit.len() > 4096 {
        return Err("Write hosts or groups of the inventory, separated by commas.".into());
    }
    if limit.contains('@') {
        return Err("A file can't be named here. Write hosts or groups of the inventory, separated by commas.".into());
    }
    if limit.contains(['[', '~']) {
        return Ok(Selection::Pattern);
    }
    let parts = parts(limit, inventory);
    let plain = parts.iter().map(|part| part.trim_start_matches(['!', '&']));
    if let Some(unknown) = plain.filter(|p| !p.contains(['*', '?'])).find(|p| !is_known(inventory, p)) {
        let unknown: String = unknown.chars().take(60).collect();
        return Err(format!("“{unknown}” is neither a host nor a group of this cluster's inventory."));
    }
    let with = |sign: Option<char>| {
        parts
            .iter()
            .filter(move |part| part.chars().next().filter(|c| matches!(c, '!' | '&')) == sign)
            .map(|part| part.trim_start_matches(['!', '&']))
    };
    let matches = |part: &str, host: &str| {
        part == "all"
            || like(part, host)
            || inventory.groups.iter().any(|g| like(part, &g.name) && is_in(inventory, host, &g.name, 0))
    };
    let chosen = |host: &str| {
        let mut named = with(None).peekable();
        // A limit of exclusions and intersections only applies to all hosts.
        (named.peek().is_none() || named.any(|part| matches(part, host)))
            && with(Some('&')).all(|part| matches(part, host))
            && !with(Some('!')).any(|part| matches(part, host))
    };
    let hosts: Vec<_> = inventory.hosts.iter().filter(|h| chosen(&h.name)).map(|h| h.name.clone()).collect();
    if hosts.is_empty() { Err("This selects no host.".into()) } else { Ok(Selection::Hosts(hosts)) }
}

/// Splits a limit at `,` and `:`, but not at the colons of an IPv6 address that is a host's name.
fn parts<'a>(limit: &'a str, inventory: &Inventory) -> Vec<&'a str> {
    let mut parts = Vec::new();
    for part in limit.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        if is_known(inventory, part.trim_start_matches(['!', '&'])) {
            parts.push(part);
        } else {
            parts.extend(part.split(':').map(str::trim).filter(|p| !p.is_empty()));
        }
    }
    parts
}

fn is_known(inventory: &Inventory, name: &str) -> bool {
    name == "all" || inventory.host(name).is_some() || inventory.group(name).is_some()
}

/// Whether `pattern` matches `name`. `*` matches any characters and `?` matches one.
fn like(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n, mut retry) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                retry = Some((p, n));
                p += 1;
            }
            Some(&c) if c == b'?' || c == name[n] => (p, n) = (p + 1, n + 1),
            _ => match &mut retry {
                // Let the last star match one more character.
                Some((star, taken)) => {
                    *taken += 1;
                    (p, n) = (*star + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == b'*')
}

/// Whether a host is in a group or in one of its descendants.
fn is_in(inventory: &Inventory, host: &str, group: &str, depth: usize) -> bool {
    let Some(group) = inventory.group(group).filter(|_| depth < inventory::limits::DEPTH) else { return false };
    group.hosts.iter().any(|h| h == host) || group.children.iter().any(|child| is_in(inventory, host, child, depth + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Inventory {
        inventory::parse(
            "all:\n  hosts: {a: {}, b: {}, c: {}, 'fd00::1': {}}\n  children:\n    web: {hosts: {a: {}}}\n    top: {children: {web: {}}, hosts: {b: {}}}\n    none: {}\n",
        )
        .unwrap()
    }

    #[test]
    fn a_simple_limit_is_resolved_to_hosts() {
        let hosts = |limit: &str| selection(limit, &sample());
        let of = |names: &[&str]| Ok(Selection::Hosts(names.iter().map(|n| (*n).to_owned()).collect()));
        assert_eq!(hosts(""), of(&["a", "b", "c", "fd00::1"]));
        assert_eq!(hosts("c,web"), of(&["a", "c"]));
        assert_eq!(hosts("top:c"), of(&["a", "b", "c"]));
        assert_eq!(hosts("fd00::1"), of(&["fd00::1"]));
        assert_eq!(hosts("all:!web"), of(&["b", "c", "fd00::1"]));
        assert_eq!(hosts("top,&web"), of(&["a"]));
        assert_eq!(hosts("!fd00::1,!to?"), of(&["c"]));
        assert_eq!(hosts("*0:*1"), of(&["fd00::1"]));
        assert_eq!(hosts("web[0]"), Ok(Selection::Pattern));
        assert!(hosts("@hosts.retry").is_err() && hosts("web:!a").is_err());
        assert!(hosts("typo").unwrap_err().contains("“typo”"));
        assert!(hosts("none").unwrap_err().contains("no host"));
        assert!(hosts("--flush-cache").is_err());
    }
}
