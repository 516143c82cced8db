//! Why a text can't be used, as a sentence for the person who wrote it.

use std::fmt;

use crate::limits;

/// Why an inventory or a variables file is refused, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// From 1; None where the text as a whole is meant.
    pub line: Option<usize>,
    /// In characters from 1.
    pub column: Option<usize>,
    /// The place in the document, like `all.children.kube_node.hosts`.
    pub path: Option<String>,
    pub kind: Kind,
}

/// What is wrong. Texts taken from the document are shortened and free of control characters when shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Kind {
    #[error("it is empty. List at least one host under all.hosts")]
    Empty,
    #[error(
        "it names no host. Ansible would run, do nothing and report success. List at least one host under all.hosts"
    )]
    NoHosts,
    #[error("it has {bytes} bytes; at most {limit} are read", limit = limits::BYTES)]
    TooLarge { bytes: usize },
    #[error(
        "it holds the control character U+{code:04X}, so it is not plain text. Remove it, or quote it with an escape"
    )]
    ControlCharacter { code: u32 },
    #[error("this is not YAML: {what}")]
    NotYaml { what: String },
    #[error("this looks like an ini inventory. Write it as YAML, or paste its host lines when registering a cluster")]
    Ini,
    #[error("a second YAML document begins here. Keep one document and remove the “---” line")]
    SeveralDocuments,
    #[error("{} stands twice in the same mapping, and one would silently win. Remove one of them", quoted(.key))]
    DuplicateKey { key: String },
    #[error("host {} is listed twice in {}. Remove one of them", quoted(.host), .group)]
    DuplicateHost { host: String, group: String },
    #[error("it is nested deeper than {} levels", limits::DEPTH)]
    TooDeep,
    #[error(
        "its aliases (“*name”, “<<”) multiply to more than can be read. Write the values out where they are needed"
    )]
    TooManyAliases,
    #[error("an anchor contains an alias to itself, so it has no end")]
    EndlessAlias,
    #[error("it holds more values than can be read (at most {})", limits::VALUES)]
    TooManyValues,
    #[error(
        "variables given to many hosts at once come to more than {} bytes, counted for each host. Set in a group’s vars what \
         the hosts share",
        limits::COPIED_BYTES
    )]
    TooManyCopies,
    #[error("{what} must be a mapping (one “name:” a line), but it is {found}")]
    NotAMapping { what: String, found: &'static str },
    #[error(
        "{} can't be a host name. Use letters, digits, “-”, “_” and “.”, and begin and end with a letter or digit",
        quoted(.name)
    )]
    HostName { name: String },
    #[error(
        "{} can't be a group name. Use letters, digits, “-”, “_” and “.”, and begin and end with a letter or digit",
        quoted(.name)
    )]
    GroupName { name: String },
    #[error("the host range {} can't be read: {why}. A range looks like node[1:3] or node[01:10:2]", quoted(.pattern))]
    Range { pattern: String, why: String },
    #[error("it names more than {} hosts", limits::HOSTS)]
    TooManyHosts,
    #[error("it has more than {} groups", limits::GROUPS)]
    TooManyGroups,
    #[error("it names hosts in groups more than {} times", limits::MENTIONS)]
    TooManyMentions,
    #[error("groups contain each other in a circle: {}. Remove one of these children", .groups.join(" → "))]
    Cycle { groups: Vec<String> },
    #[error("ansible_port of host {host} is {}, but a port is a number from 1 to 65535", quoted(.value))]
    Port { host: String, value: String },
}

impl Invalid {
    /// Something wrong with the text as a whole.
    pub(crate) fn whole(kind: Kind) -> Self {
        Self { line: None, column: None, path: None, kind }
    }

    /// Something wrong at one place.
    pub(crate) fn at(line: usize, column: usize, kind: Kind) -> Self {
        Self { line: Some(line), column: Some(column), path: None, kind }
    }

    pub(crate) fn within(self, path: impl Into<String>) -> Self {
        Self { path: Some(path.into()), ..self }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (Some(line), Some(column)) => write!(f, "At line {line}, column {column}: {}.", self.kind),
            (Some(line), None) => write!(f, "At line {line}: {}.", self.kind),
            (None, _) => write!(f, "{}.", capitalised(&self.kind.to_string())),
        }
    }
}

impl std::error::Error for Invalid {}

/// `text` in quotation marks as a sentence can carry it: one line, at most 60 characters, nothing invisible.
pub(crate) fn quoted(text: &str) -> String {
    let shown: String = text.chars().take(60).flat_map(|c| c.escape_debug().collect::<Vec<_>>()).collect();
    let shown = shown.replace("\\\"", "\"").replace("\\'", "'");
    if text.chars().nth(60).is_some() { format!("“{shown}…”") } else { format!("“{shown}”") }
}

/// `text` with its first letter upper-case.
pub(crate) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
