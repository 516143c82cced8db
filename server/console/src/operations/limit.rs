//! Resolves `--limit` to hosts, as ansible does.

use std::net::Ipv6Addr;

use api::run::StepRole;
use crd::ActionType;
use inventory::{Host, Inventory, Role};
use operation::{Options, PlayHosts, Step};

use super::arguments::QUOTES;

/// The hosts that a limit selects.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    /// These hosts, in the inventory's order.
    Hosts(Vec<String>),
    /// Those that only ansible can tell.
    Unknown,
}

impl Selection {
    /// All hosts of an inventory.
    pub(crate) fn of_all(inventory: &Inventory) -> Self {
        Self::Hosts(inventory.hosts.iter().map(|host| host.name.clone()).collect())
    }
}

/// The machines that the steps of a run may touch. `main`: those of its action.
pub(crate) fn machines(main: Selection, steps: &[Step], inventory: &Inventory) -> Selection {
    let beside = steps.iter().filter(|step| step.role != StepRole::Main && step.kind == ActionType::Playbook);
    let selections = beside.map(|step| match Options::read(&step.args) {
        Ok(options) if options.inventories.is_empty() => {
            selection(options.limit.as_deref().unwrap_or_default(), inventory).unwrap_or(Selection::Unknown)
        }
        _ => Selection::Unknown,
    });
    selections.fold(main, |all, more| match (all, more) {
        (Selection::Hosts(all), Selection::Hosts(more)) => {
            let names = inventory.hosts.iter().map(|host| host.name.clone());
            Selection::Hosts(names.filter(|name| all.contains(name) || more.contains(name)).collect())
        }
        _ => Selection::Unknown,
    })
}

/// Those of the selected hosts on which a playbook with these hosts runs. `named`: the values of its parameter with hosts.
pub(crate) fn with_plays(selected: Selection, hosts: PlayHosts, named: &[String], inventory: &Inventory) -> Selection {
    let Selection::Hosts(selected) = selected else { return selected };
    let has = |host: &Host, role| host.roles.contains(&role);
    let first = inventory.control_plane().first().map(|host| host.name.clone());
    let is_first = |host: &Host| Some(&host.name) == first.as_ref();
    let is_named = |host: &Host| named.iter().flat_map(|names| names.split(',')).any(|name| name.trim() == host.name);
    let plays = |host: &Host| match hosts {
        PlayHosts::All => true,
        PlayHosts::Nodes => has(host, Role::ControlPlane) || has(host, Role::Worker),
        PlayHosts::Workers => has(host, Role::Worker) && !has(host, Role::ControlPlane),
        PlayHosts::ControlPlanes => has(host, Role::ControlPlane),
        PlayHosts::FirstControlPlane => is_first(host),
        PlayHosts::Named => is_first(host) || is_named(host),
    };
    let of_plays = |name: &String| inventory.host(name).is_some_and(&plays);
    Selection::Hosts(selected.into_iter().filter(of_plays).collect())
}

/// The hosts that `--limit` selects. A limit consists of hosts, groups and wildcards, separated by `,` or `:`; `!` excludes and
/// `&` intersects. See ansible's documentation, "Patterns: targeting hosts and groups". The error is a sentence.
pub(crate) fn selection(limit: &str, inventory: &Inventory) -> Result<Selection, String> {
    if limit.is_empty() {
        return Ok(Selection::of_all(inventory));
    }
    if limit.starts_with('-') || limit.chars().any(char::is_control) || limit.len() > 4096 {
        return Err("Write hosts or groups of the inventory, separated by commas.".into());
    }
    if limit.contains('@') {
        return Err("A file can't be named here. Write hosts or groups of the inventory, separated by commas.".into());
    }
    if limit.trim_start().starts_with(QUOTES) {
        let plain: String = limit.trim().chars().filter(|c| !QUOTES.contains(c)).take(60).collect();
        let instead = if plain.is_empty() { "Leave the limit empty".to_owned() } else { format!("Write {plain}") };
        return Err(format!("No shell reads this, so the quotes would be part of the name. {instead}."));
    }
    if is_for_ansible(limit, inventory) {
        return Ok(Selection::Unknown);
    }
    let parts: Vec<Part> = split(limit).into_iter().map(Part::of).collect();
    if parts.iter().any(Part::is_for_ansible) {
        return Ok(Selection::Unknown);
    }
    if let Some(unknown) = parts.iter().find(|part| !part.is_glob() && !is_known(inventory, part.name)) {
        let unknown: String = unknown.name.chars().take(60).collect();
        return Err(format!("“{unknown}” is neither a host nor a group of this cluster's inventory."));
    }
    let with = |sign: Option<char>| parts.iter().filter(move |part| part.sign == sign);
    let chosen = |host: &str| {
        let mut named = with(None).peekable();
        // A limit of exclusions and intersections only applies to all hosts.
        (named.peek().is_none() || named.any(|part| part.matches(host, inventory)))
            && with(Some('&')).all(|part| part.matches(host, inventory))
            && !with(Some('!')).any(|part| part.matches(host, inventory))
    };
    let hosts: Vec<_> = inventory.hosts.iter().filter(|h| chosen(&h.name)).map(|h| h.name.clone()).collect();
    if hosts.is_empty() { Err("This selects no host.".into()) } else { Ok(Selection::Hosts(hosts)) }
}

/// Whether ansible reads the limit in a way of its own: an end that may be a port, two colons that may be an IPv6 address, or an inventory in
/// which it takes a host and a group of the same name for one another.
fn is_for_ansible(limit: &str, inventory: &Inventory) -> bool {
    let is_port = |(name, port): (&str, &str)| {
        (name.contains('[') || !name.contains(':')) && port.bytes().all(|b| b.is_ascii_digit())
    };
    let has_colons = !limit.contains(',') && inventory.host(limit).is_none();
    has_colons && (limit.contains("::") || limit.rsplit_once(':').is_some_and(is_port))
        || inventory.groups.iter().any(|group| inventory.host(&group.name).is_some())
}

/// Splits a limit as ansible does: at commas if it has one; otherwise at colons, spaces and brackets without their other one, if it isn't
/// an IPv6 address.
fn split(limit: &str) -> Vec<&str> {
    let parts = if limit.contains(',') || limit.parse::<Ipv6Addr>().is_ok() {
        limit.split(',').collect()
    } else {
        split_at_colons(limit)
    };
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

fn split_at_colons(limit: &str) -> Vec<&str> {
    let (mut parts, mut start, mut at) = (Vec::new(), 0, 0);
    while let Some(next) = limit[at..].chars().next() {
        let after = at + next.len_utf8();
        at = match (next, limit[at..].find(']')) {
            ('[', Some(end)) => at + end + 1,
            _ if matches!(next, '[' | ']' | ':') || next.is_whitespace() => {
                parts.push(&limit[start..at]);
                start = after;
                after
            }
            _ => after,
        };
    }
    parts.push(&limit[start..]);
    parts
}

/// A part of a limit.
struct Part<'a> {
    /// `!` excludes, `&` intersects.
    sign: Option<char>,
    /// A host, a group, or a pattern of names.
    name: &'a str,
    pattern: Vec<Token>,
}

impl<'a> Part<'a> {
    fn of(text: &'a str) -> Self {
        let sign = text.chars().next().filter(|c| matches!(c, '!' | '&'));
        let name = if sign.is_some() { &text[1..] } else { text };
        Self { sign, name, pattern: tokens(name.as_bytes()) }
    }

    /// Regular expressions are those of Python, and the order of hosts that a number in brackets counts is ansible's own.
    fn is_for_ansible(&self) -> bool {
        let is_number = |c: char| c.is_ascii_digit() || matches!(c, '-' | ':');
        let in_brackets = self.name.strip_suffix(']').and_then(|name| name.rsplit_once('['));
        let counts = in_brackets
            .is_some_and(|(name, number)| !name.is_empty() && number.chars().all(is_number) && !number.is_empty());
        // How ansible splits a limit with these depends on its other parts.
        let is_odd = self.name.contains("[]") || self.name.contains("[!]");
        self.name.starts_with('~') || counts || is_odd
    }

    fn is_glob(&self) -> bool {
        self.name.contains(['*', '?', '['])
    }

    /// Whether it selects this host, by its name or by that of a group.
    fn matches(&self, host: &str, inventory: &Inventory) -> bool {
        let like = |name: &str| matches(&self.pattern, name.as_bytes());
        let is_in = |group: &str| is_in(inventory, host, group, 0);
        let is_other = |group: &str| !matches!(group, "all" | "ungrouped") && is_in(group);
        // Each host is also in the group “all”, or in “ungrouped” if in no other.
        like("all")
            || like(host)
            || inventory.groups.iter().any(|group| group.name != "ungrouped" && like(&group.name) && is_in(&group.name))
            || like("ungrouped") && !inventory.groups.iter().any(|group| is_other(&group.name))
    }
}

fn is_known(inventory: &Inventory, name: &str) -> bool {
    matches!(name, "all" | "ungrouped") || inventory.host(name).is_some() || inventory.group(name).is_some()
}

/// A part of a pattern of names, as in Python's `fnmatch`.
#[derive(Debug, PartialEq)]
enum Token {
    /// `*`
    Many,
    /// `?`
    One,
    Byte(u8),
    /// `[a-c]`, or `[!a-c]` for all others.
    Class {
        others: bool,
        ranges: Vec<(u8, u8)>,
    },
}

impl Token {
    fn matches(&self, byte: u8) -> bool {
        match self {
            Self::Many => false,
            Self::One => true,
            Self::Byte(own) => *own == byte,
            Self::Class { others, ranges } => {
                ranges.iter().any(|(first, last)| (*first..=*last).contains(&byte)) != *others
            }
        }
    }
}

fn tokens(mut pattern: &[u8]) -> Vec<Token> {
    let mut tokens = Vec::new();
    while let Some((&byte, rest)) = pattern.split_first() {
        pattern = rest;
        let class = if byte == b'[' { class(rest) } else { None };
        tokens.push(match (byte, class) {
            (b'*', _) => Token::Many,
            (b'?', _) => Token::One,
            (_, Some((class, rest))) => {
                pattern = rest;
                class
            }
            (byte, None) => Token::Byte(byte),
        });
    }
    tokens
}

/// The class whose `[` stands before `text`, and what follows it. `None` without a `]`.
fn class(text: &[u8]) -> Option<(Token, &[u8])> {
    let others = text.first() == Some(&b'!');
    let text = if others { &text[1..] } else { text };
    let end = text.iter().position(|byte| *byte == b']')?;
    let mut inside = &text[..end];
    let mut ranges = Vec::new();
    while let Some((&first, rest)) = inside.split_first() {
        (inside, ranges) = match rest {
            [b'-', last, rest @ ..] => (rest, [ranges, vec![(first, *last)]].concat()),
            _ => (rest, [ranges, vec![(first, first)]].concat()),
        };
    }
    Some((Token::Class { others, ranges }, &text[end + 1..]))
}

/// Whether the whole name matches.
fn matches(pattern: &[Token], name: &[u8]) -> bool {
    let (mut p, mut n, mut retry) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some(Token::Many) => {
                retry = Some((p, n));
                p += 1;
            }
            Some(token) if token.matches(name[n]) => (p, n) = (p + 1, n + 1),
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
    pattern[p..].iter().all(|token| *token == Token::Many)
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

    /// What ansible itself selects; `None` if it refuses the limit.
    #[derive(serde::Deserialize)]
    struct Judged {
        inventory: String,
        limits: Vec<(String, Option<Vec<String>>)>,
    }

    #[test]
    fn no_limit_selects_other_hosts_than_for_ansible() {
        let judged: Judged = serde_json::from_str(include_str!("../../tests/limits.json")).unwrap();
        let inventory = inventory::parse(&judged.inventory).unwrap();
        for (limit, hosts) in judged.limits {
            match selection(&limit, &inventory) {
                Ok(Selection::Hosts(own)) => assert_eq!(Some(own), hosts, "{limit}"),
                Ok(Selection::Unknown) => {
                    assert!(
                        limit.contains(['[', '~']) || limit.contains("::") || limit.ends_with(":22"),
                        "{limit}: {hosts:?}"
                    );
                }
                // Where ansible ignores what it doesn't know, or reads a sign twice. A tab is refused like other control characters.
                Err(why) => {
                    let is_refused = hosts.is_none_or(|hosts| hosts.is_empty());
                    assert!(is_refused || ["web:db,a", "!!a", "a\tb"].contains(&limit.as_str()), "{limit}: {why}");
                }
            }
        }
    }

    #[test]
    fn hooks_have_limits_of_their_own() {
        let of = |names: &[&str]| Selection::Hosts(names.iter().map(|n| (*n).to_owned()).collect());
        let touched = |role, kind, args: &[&str]| {
            let args = args.iter().map(|word| (*word).to_owned()).collect();
            let step = Step { role, kind, path: "facts.yml".into(), title: "facts.yml".into(), args };
            machines(of(&["b"]), &[step], &sample())
        };
        let all = of(&["a", "b", "c", "fd00::1"]);
        assert_eq!(touched(StepRole::Pre, ActionType::Playbook, &[]), all);
        assert_eq!(touched(StepRole::Post, ActionType::Playbook, &["--limit=a"]), of(&["a", "b"]));
        assert_eq!(touched(StepRole::Post, ActionType::Playbook, &["-i", "other"]), Selection::Unknown);
        assert_eq!(touched(StepRole::Pre, ActionType::Shell, &[]), of(&["b"]), "a script runs on no machine");
        assert_eq!(touched(StepRole::Main, ActionType::Playbook, &[]), of(&["b"]), "its limit is resolved already");
    }

    #[test]
    fn brackets_are_a_class_of_characters() {
        let names = (1..=9).map(|n| format!("web0{n}: {{}}")).collect::<Vec<_>>().join(", ");
        let inventory = inventory::parse(&format!("all: {{hosts: {{{names}}}}}")).unwrap();
        let hosts = |limit: &str| match selection(limit, &inventory) {
            Ok(Selection::Hosts(hosts)) => hosts.join(" "),
            other => format!("{other:?}"),
        };
        assert_eq!(hosts("web0[1:3]*"), "web01 web03");
        assert_eq!(hosts("web0[2-4]*,web09"), "web02 web03 web04 web09");
        assert_eq!(hosts("web0[!1-7]*"), "web08 web09");
        assert_eq!(hosts("web0[1:3]"), "Ok(Unknown)", "a range of the hosts that match web0");
        assert_eq!(hosts("a*"), "web01 web02 web03 web04 web05 web06 web07 web08 web09", "of the group all");
        assert!(hosts("web0[1").contains("“web0”"), "an open bracket separates");
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
        assert_eq!(hosts("web[0]"), Ok(Selection::Unknown));
        assert_eq!(hosts("~w.*"), Ok(Selection::Unknown));
        assert_eq!(hosts("ungrouped"), of(&["c", "fd00::1"]));
        assert_eq!(hosts("a::b"), Ok(Selection::Unknown), "an IPv6 address");
        let same_names = inventory::parse("all: {hosts: {a: {}, b: {}}, children: {b: {hosts: {a: {}}}}}").unwrap();
        assert_eq!(selection("b", &same_names), Ok(Selection::Unknown));
        let declared = "all: {children: {ungrouped: {hosts: {a: {}, c: {}}}, web: {hosts: {a: {}, b: {}}}}}";
        assert_eq!(selection("ungrouped", &inventory::parse(declared).unwrap()), of(&["c"]), "as ansible corrects it");
        assert!(hosts("@hosts.retry").is_err() && hosts("web:!a").is_err());
        assert!(hosts("typo").unwrap_err().contains("“typo”"));
        assert!(hosts("web:top,c").unwrap_err().contains("“web:top”"), "with a comma, ansible splits at commas only");
        assert!(hosts("none").unwrap_err().contains("no host"));
        assert!(hosts("''").unwrap_err().ends_with("Leave the limit empty."));
        for quoted in ["'web[0]'", " \"web[0]\""] {
            assert!(hosts(quoted).unwrap_err().ends_with("the quotes would be part of the name. Write web[0]."));
        }
        assert!(hosts("--flush-cache").is_err());
    }
}
