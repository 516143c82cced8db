//! All secret values that a run's snapshot contains outside of its inventory and variables.

use std::collections::BTreeSet;

use crate::forms::SHORTEST;
use crate::value::HARMLESS;
use crate::{arguments, in_text, known};

/// What a run gets besides its inventory and variables.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// Playbooks and variables files: their names and texts.
    pub files: &'a [(&'a str, &'a str)],
    /// The texts of scripts.
    pub scripts: &'a [&'a str],
    /// The arguments of each step.
    pub arguments: &'a [&'a [String]],
    /// Values that are secret under any name.
    pub values: &'a [&'a str],
}

/// The secret values in `sources`: variables of playbooks, assignments in scripts, and arguments such as `-e password=…`.
#[must_use]
pub fn secrets_of_run(sources: &Sources<'_>) -> Vec<String> {
    let is_yaml = |name: &str| [".yml", ".yaml", ".json"].iter().any(|ending| name.ends_with(ending));
    let (documents, others): (Vec<_>, Vec<_>) = sources.files.iter().partition(|(name, _)| is_yaml(name));
    let of_files = known::secrets_of_all(&documents.into_iter().map(|(_, text)| text).collect::<Vec<_>>());
    let of_scripts =
        others.into_iter().map(|(_, text)| text).chain(sources.scripts.iter().copied()).flat_map(in_text::secrets);
    let of_arguments = sources.arguments.iter().flat_map(|arguments| arguments::secrets(arguments));
    let is_word = |value: &str| HARMLESS.iter().any(|word| value.eq_ignore_ascii_case(word));
    let values = sources.values.iter().filter(|value| value.len() >= SHORTEST && !is_word(value));
    let values = values.flat_map(|value| known::parts(value).into_iter().chain([(*value).to_owned()]));
    let all: BTreeSet<String> = of_files.into_iter().chain(of_scripts).chain(of_arguments).chain(values).collect();
    all.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_playbooks_scripts_and_arguments_are_found() {
        let playbook = "- hosts: all\n  vars:\n    db_pwd: in-playbook\n    user: me\n";
        let arguments = ["-e".to_owned(), "password=in-arguments".to_owned()];
        let found = secrets_of_run(&Sources {
            files: &[("site.yml", playbook), ("run.sh", "TOKEN=in-file\nKEY=$(cat x)\n")],
            scripts: &["export DB_PASSWORD='in script'\npass=$1\n"],
            arguments: &[&arguments],
            values: &[
                "in-a-secret",
                "{\"a\": \"in-json\"}",
                "u=x;password=in-a-text",
                "aW4tYmFzZTY0",
                "true",
                "abc",
                "x{{y",
                "/opt/hunter22",
            ],
        });
        assert_eq!(
            found,
            [
                "/opt/hunter22",
                "aW4tYmFzZTY0",
                "in script",
                "in-a-secret",
                "in-a-text",
                "in-arguments",
                "in-base64",
                "in-file",
                "in-json",
                "in-playbook",
                "u=x;password=in-a-text",
                "x{{y",
                r#"{"a": "in-json"}"#,
            ]
        );
    }
}
