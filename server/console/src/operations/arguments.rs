//! Warnings about extra arguments: variables that ansible never reads, and files that a run doesn't have. Pure.

use inventory::Kind;
use operation::{ExtraVars, Options};

/// What people put around an argument in a shell.
pub(super) const QUOTES: [char; 2] = ['\'', '"'];

/// The warnings as sentences, judged like the same variables in the cluster's own.
pub(super) fn warnings(options: &Options) -> Vec<String> {
    let values = options.values.iter().map(|(option, value)| (*option, value));
    let inventories = options.inventories.iter().map(|value| ("--inventory", value));
    let variables = options.variables.iter().map(|value| ("--extra-vars", value));
    let of_files = values.chain(inventories).chain(variables).filter_map(|(option, value)| {
        let why = inventory::missing_file_of_option(option, value)?;
        Some(format!("{option} names a file. {why}"))
    });
    let of_variables = options.variables.iter().flat_map(|text| of_variables(text));
    of_files.chain(of_variables.map(|warning| format!("Extra arguments: {warning}"))).collect()
}

fn of_variables(text: &str) -> Vec<String> {
    match ExtraVars::read(text) {
        ExtraVars::File => Vec::new(),
        ExtraVars::Path => {
            let path = text.trim_end();
            vec![format!("ansible refuses “{path}” in --extra-vars, because a file needs an @. Write @{path}.")]
        }
        ExtraVars::Document => {
            if let Some(why) = refusal(text) {
                return vec![format!("ansible refuses the document in --extra-vars{why}")];
            }
            let warnings = inventory::advice_on_vars(text).into_iter();
            warnings.map(|warning| warning.trim_start_matches("Line 1: ").to_owned()).collect()
        }
        ExtraVars::Words { pairs, ignored } => {
            let warnings = pairs.iter().flat_map(|(name, value)| inventory::advice_on_variable(name, value));
            warnings.chain(of_ignored(text, &ignored, !pairs.is_empty())).collect()
        }
    }
}

/// Why ansible can't read a document as variables, and what to do. It quotes no more than one value, because others may be secret.
fn refusal(text: &str) -> Option<String> {
    const INSTEAD: &str = "Write name=value or {name: value}.";
    if text.starts_with('[') {
        return Some(format!(", because it is no mapping. {INSTEAD}"));
    }
    match inventory::parse_vars(text).err()?.kind {
        // Ansible reads them.
        Kind::DuplicateKey { .. } | Kind::InventoryAsVars { .. } => None,
        Kind::NotYaml { .. } => Some(format!(", because it is no YAML. {INSTEAD}")),
        kind => Some(format!(": {kind}.")),
    }
}

/// What ansible ignores without an error. Beside a variable, it may be a part of a secret, and isn't quoted.
fn of_ignored(text: &str, words: &[String], has_variables: bool) -> Option<String> {
    let first = words.first()?;
    if has_variables {
        return Some("ansible ignores words without an equals sign in --extra-vars. If they belong to a value, put it in quotes: name=\"two words\".".into());
    }
    let how = if text.starts_with(' ') && first.starts_with(['@', '{', '[', '/', '.']) {
        "Remove the blank before it."
    } else {
        "Write name=value without blanks around the equals sign, or @file for a file."
    };
    Some(format!("ansible ignores “{first}” in --extra-vars, because it sets no variable. {how}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(arguments: &[&str]) -> String {
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        warnings(&Options::read(&arguments).unwrap()).join("\n")
    }

    #[test]
    fn variables_that_ansible_never_reads_are_named() {
        let said = "Extra arguments: ansible never reads the variable “container-manager”. Its name contains “-”. Write \
                    container_manager.";
        assert_eq!(shown(&["-e", "a=1 container-manager=crio"]), said);
        assert_eq!(shown(&["-e", "{container-manager: crio}"]), said);
        assert!(shown(&["-egroups=x"]).contains("“groups”. It sets this one itself."));
        let key = shown(&["--extra-vars=ansible_ssh_private_key_file=~/x"]);
        assert!(key.contains("“ansible_ssh_private_key_file” names a file. A run has no file “~/x”"), "{key}");
    }

    #[test]
    fn extra_variables_that_ansible_does_not_take_are_named() {
        let path = shown(&["-e", "/conf/vars.yml"]);
        assert!(path.contains("refuses “/conf/vars.yml” in --extra-vars, because a file needs an @. Write @/conf"));
        assert!(shown(&["-e", "./vars.yml"]).contains("Write @./vars.yml."));
        for (value, word, advice) in [
            ("foo", "foo", "Write name=value"),
            ("a = 1", "a", "Write name=value"),
            (" @~/vars.yml", "@~/vars.yml", "Remove the blank"),
            (" {a: 1}", "{a:", "Remove the blank"),
        ] {
            let said = shown(&["-e", value]);
            assert!(said.starts_with(&format!("Extra arguments: ansible ignores “{word}” in --extra-vars")), "{said}");
            assert!(said.contains(advice), "{said}");
            assert_eq!(said.lines().count(), 1, "{said}");
        }
        let beside = shown(&["-e", "db_password=correct horse"]);
        assert!(beside.contains("put it in quotes") && !beside.contains("horse"), "{beside}");
        assert_eq!(shown(&["-e", "", "-e", "a={{ b }} c=1", "-e", " a=1 "]), "");
    }

    #[test]
    fn documents_that_are_no_variables_are_named() {
        for text in ["[1]", "[]", "[{a: 1}]", "['a']", "{a", "{a: 1} b", "{a: [}"] {
            let said = shown(&["-e", text]);
            let start = "Extra arguments: ansible refuses the document in --extra-vars, because it is no ";
            assert!(said.starts_with(start) && said.ends_with("Write name=value or {name: value}."), "{said}");
            assert_eq!(said.lines().count(), 1, "{said}");
        }
        for text in ["{a: 1}", "{}", "{\"a\": [1]}", "{a: 1, a: 2}", "{a}"] {
            assert_eq!(shown(&["-e", text]), "", "{text}");
        }
        let date = shown(&["-e", "{a: 2024-02-30}"]);
        assert!(date.contains("refuses the document in --extra-vars: ansible reads “2024-02-30” as a date"), "{date}");
        assert!(shown(&["-e", "and=1"]).starts_with("Extra arguments: “and” is a word of Python."));
        assert!(shown(&["-e", "{all: {hosts: {n1: }}}"]).contains("“all” looks like"));
        assert!(shown(&["-e", "{'': 1}"]).contains("Its name is empty."));
    }

    #[test]
    fn files_that_a_run_does_not_have_are_named() {
        for (arguments, option, file) in [
            (["--private-key", "~/x"].as_slice(), "--private-key", "~/x"),
            (&["-e", "@~/x"], "--extra-vars", "~/x"),
            (&["-e", "@/home/me/x.yml"], "--extra-vars", "/home/me/x.yml"),
            (&["--vault-password-file", "~/x"], "--vault-password-file", "~/x"),
            (&["-i~/hosts"], "--inventory", "~/hosts"),
            (&["-e", "@x.yml"], "--extra-vars", "x.yml"),
            (&["-M", "~/modules"], "-M", "~/modules"),
        ] {
            let said = shown(arguments);
            assert!(said.starts_with(&format!("{option} names a file. A run has no file “{file}”")), "{said}");
            assert_eq!(said.lines().count(), 1, "{said}");
        }
        assert_eq!(shown(&["-e", "kube_version=1.36.4 a='~/x'", "-u", "ops", "--limit", "a", "-vv"]), "");
    }
}
