//! Warnings about extra arguments: variables that ansible never reads, and files that a run doesn't have. Pure.

use operation::{ExtraVars, Options};

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
        ExtraVars::Document => {
            let warnings = inventory::advice_on_vars(text).into_iter();
            warnings.map(|warning| warning.trim_start_matches("Line 1: ").to_owned()).collect()
        }
        ExtraVars::Words(pairs) => {
            pairs.iter().flat_map(|(name, value)| inventory::advice_on_variable(name, value)).collect()
        }
    }
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
    fn files_that_a_run_does_not_have_are_named() {
        for (arguments, option, file) in [
            (["--private-key", "~/x"].as_slice(), "--private-key", "~/x"),
            (&["-e", "@~/x"], "--extra-vars", "~/x"),
            (&["-e", "@/home/me/x.yml"], "--extra-vars", "/home/me/x.yml"),
            (&["--vault-password-file", "~/x"], "--vault-password-file", "~/x"),
            (&["-i~/hosts"], "--inventory", "~/hosts"),
        ] {
            let said = shown(arguments);
            assert!(said.starts_with(&format!("{option} names a file. A run has no file “{file}”")), "{said}");
            assert_eq!(said.lines().count(), 1, "{said}");
        }
        assert_eq!(shown(&["-e", "kube_version=1.36.4 a='~/x'", "-u", "ops", "--limit", "a", "-vv"]), "");
    }
}
