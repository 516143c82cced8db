//! Variables that name files of a person's computer. A run has the files of its image and those that the console gives it.

use crate::invalid::quoted;

/// Folders that every run has.
const OF_A_RUN: [&str; 5] = ["/auth/", "/conf/", "/kubespray/", "/work-kubeonkube/", "/dev/"];

/// Variables whose value is a file that only a person's computer or an own image has.
const KEYS: [&str; 4] =
    ["ansible_ssh_private_key_file", "ansible_private_key_file", "ansible_vault_password_file", "vault_password_file"];
/// Variables whose value is a program, which images may have in any folder.
const PROGRAMS: [&str; 3] = ["ansible_ssh_executable", "ansible_scp_executable", "ansible_sftp_executable"];
/// Variables with options of ssh.
const OPTIONS: [&str; 6] = [
    "ansible_ssh_common_args",
    "ansible_ssh_extra_args",
    "ansible_ssh_args",
    "ansible_sftp_extra_args",
    "ansible_scp_extra_args",
    "ansible_ssh_transfer_args",
];
/// Options of ssh with a file, in lower case.
const SSH_OPTIONS: [&str; 5] =
    ["identityfile", "certificatefile", "userknownhostsfile", "globalknownhostsfile", "pkcs11provider"];

/// What is wrong with the file that a variable names, and what to do. `None` if it names none, or one that a run may have.
pub(crate) fn missing_file(name: &str, value: &str) -> Option<String> {
    let path = if KEYS.contains(&name) {
        Some(value.trim()).filter(|path| is_missing(path))
    } else if PROGRAMS.contains(&name) {
        Some(value.trim()).filter(|path| is_personal(path))
    } else if OPTIONS.contains(&name) {
        return in_options(value).map(|path| sentence(path, "Remove the option"));
    } else {
        None
    }?;
    let instead = if name.contains("vault") { "Use secret variables" } else { "Remove the variable" };
    Some(sentence(path, instead))
}

fn sentence(path: &str, instead: &str) -> String {
    let path = quoted(path);
    if instead.ends_with("variables") {
        return format!("A run has no file {path}. {instead} in its place.");
    }
    format!("A run has no file {path}, unless its image has. {instead}: a run uses the cluster's SSH key.")
}

/// The first file in options such as `-i ~/.ssh/id -F conf -o IdentityFile=key`.
fn in_options(options: &str) -> Option<&str> {
    let is_separator = |c: char| c.is_whitespace() || matches!(c, '"' | '\'');
    let mut words = options.split(is_separator).filter(|word| !word.is_empty()).peekable();
    while let Some(word) = words.next() {
        let file = match word {
            "-i" | "-F" => words.peek().copied(),
            _ => in_option(word, words.peek().copied()),
        };
        if let Some(file) = file.filter(|file| is_missing(file)) {
            return Some(file);
        }
    }
    None
}

/// In `-i~/.ssh/id`, `-oIdentityFile=key`, `IdentityFile=key` and `IdentityFile key`.
fn in_option<'w>(word: &'w str, next: Option<&'w str>) -> Option<&'w str> {
    let attached = word.strip_prefix("-i").or_else(|| word.strip_prefix("-F")).filter(|file| !file.is_empty());
    if attached.is_some() {
        return attached;
    }
    let option = word.strip_prefix("-o").unwrap_or(word);
    let (name, value) = option.split_once('=').map_or((option, next), |(name, value)| (name, Some(value)));
    SSH_OPTIONS.contains(&name.to_ascii_lowercase().as_str()).then_some(value).flatten()
}

/// A template, which only ansible can read, may mean any file.
fn is_missing(path: &str) -> bool {
    let is_known = OF_A_RUN.iter().any(|folder| path.starts_with(folder));
    !path.is_empty() && path != "none" && !path.contains("{{") && !is_known
}

/// Whether the path is in the home of a person.
fn is_personal(path: &str) -> bool {
    let is_drive = path.as_bytes().get(1) == Some(&b':');
    is_missing(path)
        && (is_drive || ["~", "/home/", "/Users/", "/root/", "$", "."].iter().any(|start| path.starts_with(start)))
}

#[cfg(test)]
mod tests {
    use super::missing_file;

    #[test]
    fn files_that_a_run_does_not_have_are_named() {
        for (name, value, file) in [
            ("ansible_ssh_private_key_file", "~/.ssh/id_ed25519", "~/.ssh/id_ed25519"),
            ("ansible_ssh_private_key_file", "/home/ann/.ssh/id_rsa", "/home/ann/.ssh/id_rsa"),
            ("ansible_private_key_file", "keys/prod", "keys/prod"),
            ("ansible_ssh_private_key_file", "C:\\Users\\ann\\id", "C:\\Users\\ann\\id"),
            ("ansible_ssh_common_args", "-o ConnectTimeout=5 -i ~/.ssh/id", "~/.ssh/id"),
            ("ansible_ssh_common_args", "-F/home/ann/conf", "/home/ann/conf"),
            ("ansible_ssh_extra_args", "-oIdentityFile=/k", "/k"),
            ("ansible_ssh_args", "-o 'IdentityFile /k'", "/k"),
            ("ansible_ssh_common_args", "-o ProxyCommand=\"ssh -i ~/.ssh/id -W %h:%p b\"", "~/.ssh/id"),
            ("ansible_ssh_common_args", "-o UserKnownHostsFile=~/.ssh/known_hosts", "~/.ssh/known_hosts"),
            ("ansible_ssh_executable", "/Users/ann/bin/ssh", "/Users/ann/bin/ssh"),
            ("vault_password_file", "~/.vault", "~/.vault"),
        ] {
            let said = missing_file(name, value).unwrap_or_else(|| panic!("{name} {value}"));
            assert!(said.starts_with("A run has no file “"), "{said}");
            assert!(said.contains(file) || file.contains('\\'), "{said}");
        }
    }

    #[test]
    fn files_that_a_run_may_have_are_fine() {
        for (name, value) in [
            ("ansible_ssh_private_key_file", "/auth/ssh-privatekey"),
            ("ansible_ssh_private_key_file", "{{ key }}"),
            ("ansible_ssh_private_key_file", ""),
            ("ansible_ssh_common_args", "-o ProxyJump=ops@jump.example.com -o UserKnownHostsFile=/dev/null"),
            ("ansible_ssh_common_args", "-o StrictHostKeyChecking=no -F /dev/null"),
            ("ansible_ssh_executable", "/usr/bin/ssh"),
            ("ansible_ssh_executable", "/opt/ssh"),
            ("etcd_data_dir", "/home/etcd"),
        ] {
            assert_eq!(missing_file(name, value), None, "{name} {value}");
        }
    }
}
