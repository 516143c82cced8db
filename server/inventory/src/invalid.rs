//! Why a text is refused, as a sentence for the person who wrote it.

use std::fmt;

pub(crate) use api::input::quoted;

use crate::document::Reading;
use crate::ini;
use crate::limits;
use crate::lookalike::Lookalike;

/// Why an inventory or a variables file is refused, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// From 1. `None` if the error is about the whole text.
    pub line: Option<usize>,
    /// In characters from 1.
    pub column: Option<usize>,
    /// The path in the document, like `all.children.kube_node.hosts`.
    pub path: Option<String>,
    pub kind: Kind,
}

/// What is wrong. The message shortens texts from the document and escapes control characters in them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Kind {
    #[error("it is empty. List at least one host under all.hosts")]
    Empty,
    #[error(
        "it names no host. Ansible would run, do nothing and report success. List at least one host under all.hosts"
    )]
    NoHosts,
    #[error("it has {bytes} bytes, but the limit is {limit}", limit = limits::BYTES)]
    TooLarge { bytes: usize },
    #[error(
        "it contains the control character U+{code:04X}, so it is not plain text. Remove the character or write it as an escape"
    )]
    ControlCharacter { code: u32 },
    #[error("{}. {}", .found.is_none(), .found.instead())]
    Lookalike { found: Lookalike },
    #[error("this is not YAML: {what}")]
    NotYaml { what: String },
    #[error("this is an ini inventory, but a run needs YAML. Convert it with “{}”, and use the result", ini::CONVERT)]
    Ini,
    #[error("a second YAML document starts here. Keep one document and remove the “---” line")]
    SeveralDocuments,
    #[error("{} appears twice in the same mapping, and ansible would ignore the first. Remove one of them", quoted(.key))]
    DuplicateKey { key: String },
    #[error("host {} is listed twice in {}. Remove one of them", quoted(.host), .group)]
    DuplicateHost { host: String, group: String },
    #[error(
        "it is encrypted with ansible-vault, and a run has no password for it. Decrypt it with “ansible-vault decrypt”, and \
         set passwords as secret variables"
    )]
    Encrypted,
    #[error("it is nested deeper than {} levels", limits::DEPTH)]
    TooDeep,
    #[error("its aliases (“*name”, “<<”) expand to more than the limit. Write the values where they are needed")]
    TooManyAliases,
    #[error("an anchor contains an alias to itself")]
    EndlessAlias,
    #[error("it has more than {} values", limits::VALUES)]
    TooManyValues,
    #[error(
        "variables that apply to many hosts take more than {} bytes, counted once per host. Move shared variables into the \
         vars of a group",
        limits::COPIED_BYTES
    )]
    TooManyCopies,
    #[error("{what} must be a mapping (one “name:” per line), but it is {found}")]
    NotAMapping { what: String, found: &'static str },
    #[error("{} names one {of}, and ansible reads its name as {read_as}. Write the name in quotes", quoted(.what))]
    NameNotAText { what: String, of: &'static str, read_as: &'static str },
    #[error(
        "this is an inventory, and ansible would read it as a variable called {}. Move it to the inventory, and keep only \
         variables here",
        quoted(.group)
    )]
    InventoryAsVars { group: String },
    #[error(
        "this is an ini inventory, but variables are YAML. Convert it with “{}”, and move hosts and groups to the inventory",
        ini::CONVERT
    )]
    IniAsVars,
    #[error(
        "every name at the top of an inventory is a group, but {} is {found}. If it is a variable, move it to the \
         variables, or to “vars” of a group",
        quoted(.name)
    )]
    VariableAsGroup { name: String, found: &'static str },
    #[error(
        "{} can't be a host name{}. Use letters, digits, “-”, “_” and “.”, and start and end with a letter or digit",
        quoted(.name), odd_character(.name)
    )]
    HostName { name: String },
    #[error("a host can't be called {}: ansible has a group of this name, and ends before the first task. Rename the host", quoted(.name))]
    HostIsGroup { name: String },
    #[error(
        "{} can't be a group name{}. Use letters, digits, “-”, “_” and “.”, and start and end with a letter or digit",
        quoted(.name), odd_character(.name)
    )]
    GroupName { name: String },
    #[error(
        "ansible reads {} as {read_as}, not as the name of a {of}, and ends before the first task. {}",
        quoted(.name),
        in_quotes(.name)
    )]
    NotAText { of: &'static str, name: String, read_as: Reading },
    #[error(
        "this text starts with U+0009 (tab), so ansible can't see how far it is indented. Write the number {number} behind \
         the “|” or “>” above it"
    )]
    TextStartsWithTab { number: usize },
    #[error("ansible reads {} as {read_as}, and ends before the first task. {}", quoted(.text), value_in_quotes(.text))]
    Unreadable { text: String, read_as: &'static str },
    #[error(
        "ansible can't read the colon behind {} in brackets, and ends before the first task. Write a space behind it: \
         “{}: ”",
        quoted(.key), .key.chars().take(40).collect::<String>()
    )]
    ColonWithoutSpace { key: String },
    #[error("ansible can't read the colons of {} in brackets, and ends before the first task. Write it in quotes", quoted(.text))]
    ColonsInBrackets { text: String },
    // This one and the next one don't quote: both may be a password.
    #[error(
        "“&” makes this the name of an anchor, which ansible can't read, and it ends before the first task. Write the value \
         in quotes if “&” is part of it, or use only the letters a to z, digits, “-” and “_” in the name"
    )]
    AnchorName,
    #[error(
        "“!” makes this a tag, which ansible doesn't know, and it ends before the first task. Write the value in quotes if \
         “!” is part of it, or remove the tag"
    )]
    UnknownTag,
    #[error("the value doesn't fit its tag {}, and ansible ends before the first task. Remove the tag", quoted(.tag))]
    WrongTag { tag: String },
    #[error("the host range {} can't be read: {why}. A range looks like node[1:3] or node[01:10:2]", quoted(.pattern))]
    Range { pattern: String, why: String },
    #[error("it has more than {} hosts", limits::HOSTS)]
    TooManyHosts,
    #[error("it has more than {} groups", limits::GROUPS)]
    TooManyGroups,
    #[error("its groups list hosts more than {} times", limits::MENTIONS)]
    TooManyMentions,
    #[error("groups contain each other in a circle: {}. Remove one of these children", .groups.join(" → "))]
    Cycle { groups: Vec<String> },
    #[error("ansible_port of host {host} is {}, but a port is a number from 1 to 65535", quoted(.value))]
    Port { host: String, value: String },
}

/// `: it contains U+2013 (en dash)`, for a character that may look like an allowed one.
fn odd_character(name: &str) -> String {
    let Some(c) = name.chars().find(|c| !c.is_ascii()) else { return String::new() };
    let named = Lookalike::of(c).map_or_else(|| format!("U+{:04X}", u32::from(c)), Lookalike::named);
    format!(": it contains {named}")
}

fn in_quotes(name: &str) -> String {
    if api::machine::is_host_name(name) {
        format!("Write it in quotes: \"{name}\"")
    } else {
        "Write it in quotes, or choose another name".into()
    }
}

/// Only values without quotes and line breaks get here.
fn value_in_quotes(text: &str) -> String {
    if text.len() <= 40 { format!("Write it in quotes: \"{text}\"") } else { "Write it in quotes".into() }
}

impl Invalid {
    /// An error about the whole text.
    pub(crate) fn whole(kind: Kind) -> Self {
        Self { line: None, column: None, path: None, kind }
    }

    /// An error at one position.
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

/// `text` with its first letter upper-case.
pub(crate) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
