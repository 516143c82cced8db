//! Reads the arguments of `ansible-playbook`, as its own parser does (Python's argparse).
//!
//! Long options may be shortened as long as only one matches (`--lim n1`), values may be attached (`-ln1`, `--limit=n1`), and short
//! options may share a dash (`-CDl n1`). `server/operation/tests/options.json` has examples of all of them, and the runner's tests compare
//! them with the real parser.

use crd::{ActionType, ClusterOperationSpec};

/// The options of ansible-core 2.18, each with its spellings.
const OPTIONS: [(&[&str], Kind); 38] = [
    (&["-h", "--help"], Kind::PrintOnly),
    (&["--version"], Kind::PrintOnly),
    (&["-v", "--verbose"], Kind::Flag),
    (&["--private-key", "--key-file"], Kind::Value),
    (&["-u", "--user"], Kind::Value),
    (&["-c", "--connection"], Kind::Value),
    (&["-T", "--timeout"], Kind::Value),
    (&["--ssh-common-args"], Kind::Value),
    (&["--sftp-extra-args"], Kind::Value),
    (&["--scp-extra-args"], Kind::Value),
    (&["--ssh-extra-args"], Kind::Value),
    (&["-k", "--ask-pass"], Kind::Prompt),
    (&["--connection-password-file", "--conn-pass-file"], Kind::Value),
    (&["--force-handlers"], Kind::Flag),
    (&["--flush-cache"], Kind::Flag),
    (&["-b", "--become"], Kind::Flag),
    (&["--become-method"], Kind::Value),
    (&["--become-user"], Kind::Value),
    (&["-K", "--ask-become-pass"], Kind::Prompt),
    (&["--become-password-file", "--become-pass-file"], Kind::Value),
    (&["-t", "--tags"], Kind::Tasks),
    (&["--skip-tags"], Kind::Tasks),
    (&["-C", "--check"], Kind::Check),
    (&["-D", "--diff"], Kind::Flag),
    (&["-i", "--inventory", "--inventory-file"], Kind::Inventory),
    (&["--list-hosts"], Kind::PrintOnly),
    (&["-l", "--limit"], Kind::Limit),
    (&["-e", "--extra-vars"], Kind::Variables),
    (&["--vault-id"], Kind::Value),
    (&["-J", "--ask-vault-password", "--ask-vault-pass"], Kind::Prompt),
    (&["--vault-password-file", "--vault-pass-file"], Kind::Value),
    (&["-f", "--forks"], Kind::Value),
    (&["-M", "--module-path"], Kind::Value),
    (&["--syntax-check"], Kind::PrintOnly),
    (&["--list-tasks"], Kind::PrintOnly),
    (&["--list-tags"], Kind::PrintOnly),
    (&["--step"], Kind::Prompt),
    (&["--start-at-task"], Kind::Tasks),
];

/// What an option means here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Without a value.
    Flag,
    Check,
    /// ansible prints something and runs nothing.
    PrintOnly,
    /// ansible asks a question.
    Prompt,
    /// With a value.
    Value,
    Limit,
    Variables,
    Inventory,
    /// Which tasks run.
    Tasks,
}

impl Kind {
    fn takes_value(self) -> bool {
        matches!(self, Self::Value | Self::Limit | Self::Variables | Self::Inventory | Self::Tasks)
    }
}

/// What `ansible-playbook` reads from arguments that follow the playbook's path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The last `--limit`; `None` without one, or if it is empty.
    pub limit: Option<String>,
    /// `--check`: tasks only say what they would change.
    pub check: bool,
    /// The option with which ansible only prints something, such as `--list-hosts`.
    pub print_only: Option<&'static str>,
    /// The option that asks a question, such as `--ask-pass`.
    pub prompt: Option<&'static str>,
    /// The values of `--extra-vars`, the strongest last.
    pub variables: Vec<String>,
    /// Other inventories, beside that of the cluster.
    pub inventories: Vec<String>,
    /// Further options with a value, such as `--private-key`, in their order.
    pub values: Vec<(&'static str, String)>,
    /// Whether only some of the tasks are chosen.
    pub chooses_tasks: bool,
    /// Other playbooks, which run afterwards.
    pub playbooks: Vec<String>,
}

/// How an argument begins an option.
enum Spelling {
    /// Not an option: a value, or a playbook.
    Plain,
    /// An option, as it was written, and its attached value.
    Option { name: &'static str, kind: Kind, short: bool, attached: Option<String> },
}

impl Options {
    /// Reads `arguments`. The error is a sentence, about what `ansible-playbook` would refuse.
    ///
    /// # Errors
    /// If an option is unknown or ambiguous, lacks its value or has one that it doesn't take.
    pub fn read(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self::default();
        let mut rest = arguments.iter().peekable();
        // Playbooks stand together: ansible refuses those that come after an option.
        let mut may_name_playbooks = true;
        let mut only_plain = false;
        while let Some(argument) = rest.next() {
            if argument == "--" && !only_plain {
                only_plain = true;
                continue;
            }
            let spelling = if only_plain { Spelling::Plain } else { read_argument(argument)? };
            let Spelling::Option { mut name, mut kind, short, mut attached } = spelling else {
                if !may_name_playbooks {
                    return Err(format!("ansible-playbook doesn't know what to do with “{}”.", cut(argument)));
                }
                options.playbooks.push(argument.clone());
                continue;
            };
            may_name_playbooks = false;
            let mut shares_dash = false;
            loop {
                if kind.takes_value() {
                    let value = match attached {
                        // Python 3.13 drops the sign, and older ones don't.
                        Some(value) if shares_dash && value.starts_with('=') => {
                            return Err(format!("Write the option {name} as an argument of its own."));
                        }
                        Some(value) => value,
                        None => match rest.peek() {
                            Some(next) if *next != "--" && matches!(read_argument(next), Ok(Spelling::Plain)) => {
                                rest.next().cloned().unwrap_or_default()
                            }
                            _ => return Err(format!("The option {name} needs a value.")),
                        },
                    };
                    options.take(name, kind, value);
                    break;
                }
                options.take(name, kind, String::new());
                let Some(more) = attached else { break };
                // Short options that share a dash.
                let next = more.chars().next().filter(|_| short).and_then(|letter| short_option(letter));
                let Some((next_name, next_kind)) = next else {
                    return Err(format!("The option {name} takes no value, but “{}” is attached to it.", cut(&more)));
                };
                let after: String = more.chars().skip(1).collect();
                (name, kind, shares_dash) = (next_name, next_kind, true);
                attached = Some(after).filter(|after| !after.is_empty());
            }
        }
        Ok(options)
    }

    /// The last limit, and the arguments without any. A limit that shares a dash with other options (`-Cln1`) stays.
    pub fn split_limit(arguments: &[String]) -> (Option<String>, Vec<String>) {
        let (mut limit, mut others) = (None, Vec::new());
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let option = match read_argument(argument) {
                Ok(Spelling::Option { kind, attached, .. }) => Some((kind, attached)),
                _ => None,
            };
            match option {
                Some((Kind::Limit, attached)) => limit = attached.or_else(|| rest.next().cloned()),
                Some((kind, None)) if kind.takes_value() => {
                    others.push(argument.clone());
                    others.extend(rest.next().cloned());
                }
                _ => others.push(argument.clone()),
            }
        }
        (limit, others)
    }

    fn take(&mut self, name: &'static str, kind: Kind, value: String) {
        match kind {
            Kind::Flag => {}
            Kind::Value => self.values.push((name, value)),
            Kind::Check => self.check = true,
            Kind::PrintOnly => self.print_only = self.print_only.or(Some(name)),
            Kind::Prompt => self.prompt = self.prompt.or(Some(name)),
            Kind::Limit => self.limit = Some(value).filter(|value| !value.is_empty()),
            Kind::Variables => self.variables.push(value),
            Kind::Inventory => self.inventories.push(value),
            Kind::Tasks => self.chooses_tasks = true,
        }
    }

    /// The options of an operation's playbook. Empty for a script, and where ansible refuses the arguments, so that nothing runs.
    pub fn of(operation: &ClusterOperationSpec) -> Self {
        match operation.action_type {
            ActionType::Playbook => Self::of_text(operation.extra_args.as_deref()),
            ActionType::Shell => Self::default(),
        }
    }

    /// The options in extra arguments, as resources have them.
    pub fn of_text(arguments: Option<&str>) -> Self {
        let words = arguments.and_then(super::split).unwrap_or_default();
        Self::read(&words).unwrap_or_default()
    }

    /// Whether an operation is only a check. Its hooks have their own arguments, so with hooks it isn't.
    pub fn is_check(operation: &ClusterOperationSpec) -> bool {
        operation.pre_hook.is_empty() && operation.post_hook.is_empty() && Self::of(operation).check
    }

    /// Whether tasks change nothing.
    pub fn is_dry(&self) -> bool {
        self.check || self.print_only.is_some()
    }

    /// Whether all variables are words such as `name=value`, which ansible can only read in this way. Otherwise a file, quotes, brackets or
    /// odd characters may hide a variable.
    pub fn has_plain_variables(&self) -> bool {
        let is_name = |name: &str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') && !name.is_empty();
        let is_value = |value: &str| value.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-/:,+%=".contains(&b));
        let is_plain = |word: &str| word.split_once('=').is_some_and(|(name, value)| is_name(name) && is_value(value));
        self.variables.iter().all(|text| text.split(' ').all(is_plain))
    }

    /// The values that these arguments surely give a variable, in their order. Leaves out files, which only the run can read.
    pub fn values_of(&self, variable: &str) -> Vec<String> {
        self.variables.iter().flat_map(|text| values_in(text, variable)).collect()
    }
}

/// One `--extra-vars`, in the form that ansible reads it in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExtraVars {
    /// `@file`.
    File,
    /// A path without `@`, which ansible refuses.
    Path,
    /// YAML or JSON that begins with a bracket.
    Document,
    /// `a=1 b="2 3" c`: names and values, and the words without them, which ansible ignores.
    Words { pairs: Vec<(String, String)>, ignored: Vec<String> },
}

impl ExtraVars {
    /// Reads the value of one `--extra-vars`. Only its very first character decides on the form (ansible's `load_extra_vars`).
    pub fn read(text: &str) -> Self {
        match text.as_bytes().first() {
            Some(b'@') => Self::File,
            Some(b'/' | b'.') => Self::Path,
            Some(b'{' | b'[') => Self::Document,
            _ => {
                let (mut pairs, mut ignored) = (Vec::new(), Vec::new());
                for word in super::split(text).unwrap_or_default() {
                    match word.split_once('=').filter(|(name, _)| !name.is_empty()) {
                        Some((name, value)) => pairs.push((name.to_owned(), value.to_owned())),
                        None => ignored.push(word),
                    }
                }
                // Blanks in a template don't end a word.
                if ["{{", "{%", "{#"].iter().any(|start| text.contains(start)) {
                    ignored.clear();
                }
                Self::Words { pairs, ignored }
            }
        }
    }
}

/// The values of a variable in one `--extra-vars`.
fn values_in(text: &str, variable: &str) -> Vec<String> {
    match ExtraVars::read(text) {
        ExtraVars::File | ExtraVars::Path => Vec::new(),
        ExtraVars::Document => {
            let read = serde_saphyr::from_str::<serde_json::Value>(text).ok();
            let value = read.as_ref().and_then(|read| read.get(variable));
            let plain = value.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
            plain.into_iter().collect()
        }
        ExtraVars::Words { pairs, .. } => {
            let of_variable = pairs.into_iter().filter(|(name, _)| name == variable);
            of_variable.map(|(_, value)| value).collect()
        }
    }
}

/// An option, and another one in its value, if a user wrote both as one argument: `-f` and `-l` of `-f 2 -l=n1`.
pub fn option_inside(argument: &str) -> Option<(&'static str, &'static str)> {
    let Ok(Spelling::Option { name, kind, attached: Some(value), .. }) = read_argument(argument) else { return None };
    let is_json = matches!(kind, Kind::Variables) && value.trim_start().starts_with(['{', '[']);
    // The values of the options for ssh are options.
    if is_json || name.ends_with("-args") || !value.contains(' ') {
        return None;
    }
    let inside = super::split(&value)?.into_iter().find_map(|word| match read_argument(&word) {
        Ok(Spelling::Option { name, .. }) => Some(name),
        _ => None,
    })?;
    Some((name, inside))
}

fn short_option(letter: char) -> Option<(&'static str, Kind)> {
    OPTIONS.iter().find_map(|(names, kind)| {
        let name = names.iter().find(|name| name.len() == 2 && name.ends_with(letter))?;
        Some((*name, *kind))
    })
}

fn exact(text: &str) -> Option<(&'static str, Kind)> {
    OPTIONS.iter().find_map(|(names, kind)| Some((*names.iter().find(|name| **name == text)?, *kind)))
}

/// How `argument` begins. As argparse reads it (`_parse_optional`), with the same order of the rules.
fn read_argument(argument: &str) -> Result<Spelling, String> {
    if let Spelling::Plain = option_in(argument)?
        && argument.len() > 1
        && argument.starts_with('-')
        && !argument.contains(' ')
        && !is_number(argument)
    {
        return Err(format!("ansible-playbook doesn't know the option {}.", cut(argument)));
    }
    option_in(argument)
}

/// As [`read_argument`], with unknown options as [`Spelling::Plain`].
fn option_in(argument: &str) -> Result<Spelling, String> {
    if !argument.starts_with('-') || argument == "-" {
        return Ok(Spelling::Plain);
    }
    let short = !argument.starts_with("--");
    let found = |(name, kind), attached| Ok(Spelling::Option { name, kind, short, attached });
    if let Some(option) = exact(argument) {
        return found(option, None);
    }
    let (before, value) = match argument.split_once('=') {
        Some((before, value)) => (before, Some(value.to_owned())),
        None => (argument, None),
    };
    if let Some(option) = value.as_ref().and_then(|_| exact(before)) {
        return found(option, value);
    }
    if short {
        let letter = argument.chars().nth(1).unwrap_or_default();
        let attached: String = argument.chars().skip(2).collect();
        return match short_option(letter) {
            Some(option) => found(option, Some(attached)),
            None => Ok(Spelling::Plain),
        };
    }
    let mut longer = OPTIONS.iter().filter(|(names, _)| names.iter().any(|name| name.starts_with(before)));
    match (longer.next(), longer.next()) {
        (None, _) => Ok(Spelling::Plain),
        (Some((names, kind)), None) => {
            let name = names.iter().find(|name| name.starts_with(before)).unwrap_or(&names[0]);
            found((name, *kind), value)
        }
        (Some(_), Some(_)) => Err(format!("The option {} is ambiguous. Write it in full.", cut(before))),
    }
}

/// A negative number is a value.
fn is_number(argument: &str) -> bool {
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    let number = argument.trim_start_matches('-');
    argument.len() - number.len() == 1
        && match number.split_once('.') {
            Some((whole, part)) => digits(whole) && digits(part) && !part.is_empty(),
            None => digits(number) && !number.is_empty(),
        }
}

fn cut(text: &str) -> String {
    super::cut(text, 60)
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    /// Arguments, and what differs from the defaults; `None` if ansible refuses them.
    type Example = (Vec<String>, Option<Map<String, Value>>);

    use super::*;

    #[test]
    fn a_limit_in_any_spelling_is_split_off() {
        let split = |text: &str| {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            let (limit, others) = Options::split_limit(&words);
            (limit.unwrap_or_default(), others.join(" "))
        };
        for text in ["--limit=a -v", "-l a -v", "-la -v", "-v -l=a", "--lim a -v", "-lb -v --limit a"] {
            assert_eq!(split(text), ("a".into(), "-v".into()), "{text}");
        }
        assert_eq!(split("-e --limit -Cla"), (String::new(), "-e --limit -Cla".into()));
    }

    #[test]
    fn arguments_are_read_as_ansible_reads_them() {
        let examples: Vec<Example> = serde_json::from_str(include_str!("../tests/options.json")).unwrap();
        for (arguments, expected) in examples {
            let read = Options::read(&arguments).ok().map(|options| {
                let all = [
                    ("limit", json!(options.limit.unwrap_or_default()), json!("")),
                    ("check", json!(options.check), json!(false)),
                    ("prints_only", json!(options.print_only.is_some()), json!(false)),
                    ("prompts", json!(options.prompt.is_some()), json!(false)),
                    ("variables", json!(options.variables), json!([])),
                    ("inventories", json!(options.inventories), json!([])),
                    ("chooses_tasks", json!(options.chooses_tasks), json!(false)),
                    ("playbooks", json!(options.playbooks), json!([])),
                ];
                let named = all.into_iter().filter(|(_, value, none)| value != none);
                named.map(|(name, value, _)| (name.to_owned(), value)).collect::<Map<_, _>>()
            });
            // After these, ansible reads nothing else.
            let prints =
                |read: &Option<Map<String, Value>>| read.as_ref().is_some_and(|r| r.contains_key("prints_only"));
            assert!(read == expected || prints(&read) && prints(&expected), "{arguments:?}: {read:?}");
        }
    }

    #[test]
    fn variables_are_read_as_ansible_reads_them() {
        let options = |arguments: &[&str]| {
            Options::read(&arguments.iter().map(|argument| (*argument).to_owned()).collect::<Vec<_>>()).unwrap()
        };
        let all = options(&["-e", "node=w1 x=2", "-enode='w2'", "--extra-vars={node: w3, \"n\": 4}", "-e", "@f"]);
        assert_eq!(all.values_of("node"), ["w1", "w2", "w3"]);
        assert_eq!((all.values_of("n"), all.values_of("x")), (vec!["4".to_owned()], vec!["2".to_owned()]));
        assert!(all.values_of("nod").is_empty());
        for (ignored, words) in
            [(" {node: w1}", &["{node:", "w1}"][..]), (" @f", &["@f"]), ("node = w1", &["node", "=", "w1"])]
        {
            let is_ignored = matches!(ExtraVars::read(ignored), ExtraVars::Words { ignored, .. } if ignored == words);
            assert!(is_ignored, "{ignored}");
            assert!(options(&["-e", ignored]).values_of("node").is_empty(), "{ignored}");
        }
    }
}
