//! Variables and options that name files of a person's computer. A run has the files of its image and those that the console gives it.

use crate::invalid::quoted;
use crate::looked_up::looked_up;

/// Folders of kubespray, which relative paths start from.
const OF_KUBESPRAY: [&str; 7] =
    ["inventory/sample/", "inventory/local/", "roles/", "playbooks/", "extra_playbooks/", "tests/", "contrib/"];

/// Folders that every run has.
const OF_A_RUN: [&str; 5] = ["/auth/", "/conf/", "/kubespray/", "/work-kubeonkube/", "/dev/"];

/// Variables whose value is a file that only a person's computer or an own image has.
const KEYS: [&str; 5] = [
    "ansible_ssh_private_key_file",
    "ansible_paramiko_private_key_file",
    "ansible_private_key_file",
    "ansible_vault_password_file",
    "vault_password_file",
];
/// Variables whose value is a program, which images may have in any folder.
const PROGRAMS: [&str; 4] =
    ["ansible_ssh_executable", "ansible_scp_executable", "ansible_sftp_executable", "ansible_become_exe"];
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
const SSH_OPTIONS: [&str; 7] = [
    "identityfile",
    "certificatefile",
    "pkcs11provider",
    "securitykeyprovider",
    "identityagent",
    "revokedhostkeys",
    "include",
];
/// Options of ssh with a file that ssh makes, if it can.
const MADE_BY_SSH: [&str; 3] = ["userknownhostsfile", "globalknownhostsfile", "controlpath"];

/// What is wrong with the file that a variable names, and what to do. `None` if it names none, or one that a run may have.
pub(crate) fn missing_file(name: &str, value: &str) -> Option<String> {
    let path = value.trim();
    if KEYS.contains(&name) {
        let is_vault = name.contains("vault");
        return (is_missing(path) || is_in_home(path)).then(|| {
            if is_vault { sentence(path, "Use secret variables in its place.") } else { sentence(path, KEY_VARIABLE) }
        });
    }
    if PROGRAMS.contains(&name) {
        return is_personal(path).then(|| sentence(path, "Remove the variable."));
    }
    if OPTIONS.contains(&name) {
        // ssh also takes spaces around the sign.
        let options: Vec<&str> = value.split('=').map(str::trim).collect();
        return in_options(&options.join("="));
    }
    let is_of_computer = path.starts_with("~/") || is_of_person(path) || is_on_drive(path);
    if is_kubeconfig(name) && is_of_computer && is_missing(path) {
        return Some(sentence(path, KUBECONFIG));
    }
    let path = looked_up(value).into_iter().find(|path| is_personal(path))?;
    Some(sentence(path, "Write its content as the value, or as a secret variable."))
}

/// What is wrong with the file that an option of `ansible-playbook` names, and what to do. `None` as for a variable.
#[must_use]
pub fn missing_file_of_option(option: &str, value: &str) -> Option<String> {
    let path = value.trim();
    let missing = |instead: &str| (is_missing(path) || is_in_home(path)).then(|| sentence(path, instead));
    match option {
        "--private-key" | "--key-file" => missing(KEY_OPTION),
        "--vault-password-file" | "--vault-pass-file" => missing("Use secret variables in its place."),
        "--connection-password-file" | "--conn-pass-file" => {
            missing("Use the secret variable ansible_password in its place.")
        }
        "--become-password-file" | "--become-pass-file" => {
            missing("Use the secret variable ansible_become_password in its place.")
        }
        "--vault-id" => {
            let file = path.split_once('@').map_or(path, |(_, file)| file);
            // Otherwise ansible asks for the password.
            let is_prompt = file.starts_with("prompt");
            missing_file_of_option("--vault-password-file", file).filter(|_| !is_prompt)
        }
        "--ssh-common-args" | "--ssh-extra-args" | "--sftp-extra-args" | "--scp-extra-args" => {
            missing_file("ansible_ssh_args", value)
        }
        "-i" | "--inventory" | "--inventory-file" if !path.contains(',') => {
            let is_other = is_personal(path) || is_of_own_folder(path);
            is_other.then(|| sentence(path, "Remove the option: a run uses the cluster's inventory."))
        }
        "-e" | "--extra-vars" => {
            // With a blank before the `@`, ansible reads no file.
            let file = value.strip_prefix('@').map(str::trim);
            let file = file.filter(|file| is_personal(file) || is_of_own_folder(file))?;
            Some(sentence(file, "Move its variables to those of the cluster, or write them as arguments."))
        }
        "-M" | "--module-path" => {
            let folder = path.split(':').find(|folder| is_personal(folder))?;
            Some(sentence(folder, "Remove the option, or use an image with these modules."))
        }
        _ => None,
    }
}

const KEY_VARIABLE: &str = "Remove the variable: a run uses the cluster's SSH key.";

const KUBECONFIG: &str = "Machines of the control plane have /etc/kubernetes/admin.conf.";

fn sentence(path: &str, instead: &str) -> String {
    let unless = if instead.starts_with("Use") { "" } else { ", unless its image has" };
    format!("A run has no file {}{unless}. {instead}", quoted(path))
}

/// About the first file in options such as `-i ~/.ssh/id -F conf -o IdentityFile=key`.
fn in_options(options: &str) -> Option<String> {
    let is_separator = |c: char| c.is_whitespace() || matches!(c, '"' | '\'');
    let mut words = options.split(is_separator).filter(|word| !word.is_empty()).peekable();
    // `-i` of another program, such as ncat, may be anything.
    let mut is_ssh = true;
    while let Some(word) = words.next() {
        let next = words.peek().copied();
        let option = word.strip_prefix("-o").unwrap_or(word);
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let value = Some(value).filter(|value| !value.is_empty()).or(next);
        let name = name.to_ascii_lowercase();
        if name == "proxycommand" {
            is_ssh = value.is_some_and(|program| program.rsplit('/').next() == Some("ssh"));
        } else if word.starts_with("-o") {
            is_ssh = true;
        }
        if SSH_OPTIONS.contains(&name.as_str()) {
            // The agent may be named by a variable of the environment.
            let is_variable =
                |file: &str| name == "identityagent" && (file.starts_with('$') || file == "SSH_AUTH_SOCK");
            if let Some(file) = value.filter(|file| is_missing(file) && !is_variable(file) && !file.starts_with('-')) {
                return Some(sentence(file, KEY_OPTION));
            }
        } else if MADE_BY_SSH.contains(&name.as_str()) {
            if let Some(file) = value.filter(|file| is_of_person(file) && !file.contains("{{")) {
                return Some(sentence(file, "Remove the option."));
            }
        } else if let Some(file) = of_flag(word, next).filter(|file| is_ssh && is_missing(file)) {
            return Some(sentence(file, KEY_OPTION));
        }
    }
    None
}

const KEY_OPTION: &str = "Remove the option: a run uses the cluster's SSH key.";

/// In `-i file`, `-F file`, `-qi file` and `-ifile`.
fn of_flag<'w>(word: &'w str, next: Option<&'w str>) -> Option<&'w str> {
    let flags = word.strip_prefix('-')?;
    let at = flags.find(['i', 'F'])?;
    let are_switches = flags[..at].chars().all(|c| "46AaCfGgKkMNnqsTtVvXxYy".contains(c));
    let attached = &flags[at + 1..];
    if !are_switches {
        return None;
    }
    if attached.is_empty() { next } else { Some(attached) }
}

/// A template, which only ansible can read, may mean any file.
fn is_missing(path: &str) -> bool {
    let is_known = OF_A_RUN.iter().any(|folder| path.starts_with(folder));
    let is_word_of_ssh = matches!(path, "none" | "internal");
    !path.is_empty() && !is_word_of_ssh && !path.contains("{{") && !is_known
}

/// Whether the path starts in the home of a person, and has a template in it.
fn is_in_home(path: &str) -> bool {
    let start = path.split("{{").next().unwrap_or_default();
    let is_looked_up = path.starts_with("{{") && path.contains("env") && path.contains("HOME");
    is_looked_up || start.starts_with("~/") || is_of_person(start)
}

fn is_of_person(path: &str) -> bool {
    ["/home/", "/Users/"].iter().any(|start| path.starts_with(start))
}

fn is_on_drive(path: &str) -> bool {
    path.as_bytes().get(1) == Some(&b':')
}

/// Whether a relative path is not one of kubespray.
fn is_of_own_folder(path: &str) -> bool {
    let is_of_kubespray = OF_KUBESPRAY.iter().any(|folder| path.starts_with(folder));
    is_missing(path) && !path.starts_with('/') && !is_of_kubespray
}

/// `kubeconfig`, `admin_kubeconfig_path` and the like.
fn is_kubeconfig(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let path = name.strip_suffix("_path").or_else(|| name.strip_suffix("_file")).unwrap_or(&name);
    path.ends_with("kubeconfig") || path.ends_with("kube_config")
}

/// Whether the path is in the home of a person.
fn is_personal(path: &str) -> bool {
    is_missing(path)
        && (is_on_drive(path)
            || ["~", "/home/", "/Users/", "/root/", "$", "."].iter().any(|start| path.starts_with(start)))
}

#[cfg(test)]
mod tests {
    use super::{missing_file, missing_file_of_option};

    #[test]
    fn files_of_options_are_judged_like_those_of_variables() {
        for (option, value, file) in [
            ("--private-key", "~/x", "~/x"),
            ("--key-file", "keys/prod", "keys/prod"),
            ("--vault-password-file", "~/x", "~/x"),
            ("--vault-id", "prod@~/x", "~/x"),
            ("--vault-id", "/home/ann/x", "/home/ann/x"),
            ("--become-password-file", "/home/ann/x", "/home/ann/x"),
            ("--ssh-common-args", "-o IdentityFile=~/x", "~/x"),
            ("-i", "~/hosts.yml", "~/hosts.yml"),
            ("--extra-vars", "@~/x", "~/x"),
            ("-e", "@/home/me/x.yml", "/home/me/x.yml"),
            ("-e", "@x.yml", "x.yml"),
            ("-e", "@vars/x.yml", "vars/x.yml"),
            ("-e", "@inventory/prod/x.yml", "inventory/prod/x.yml"),
            ("-e", "@../x.yml", "../x.yml"),
            ("-i", "hosts.yml", "hosts.yml"),
            ("-M", "~/modules", "~/modules"),
            ("--module-path", "/usr/share/modules:/home/ann/modules", "/home/ann/modules"),
        ] {
            let said = missing_file_of_option(option, value).unwrap_or_else(|| panic!("{option} {value}"));
            assert!(said.starts_with(&format!("A run has no file “{file}”")), "{said}");
            assert!(!said.contains("Remove the variable"), "{said}");
        }
        for (option, value) in [
            ("--private-key", "/auth/ssh-privatekey"),
            ("--vault-id", "prod@prompt"),
            ("--vault-password-file", "/conf/sources/1/vault"),
            ("--ssh-common-args", "-o ProxyJump=ops@jump.example.com"),
            ("-i", "inventory/sample/hosts.yml"),
            ("-i", "~,"),
            ("-e", "a=~/x"),
            ("-e", " @~/x"),
            ("-e", "@inventory/sample/group_vars/all/all.yml"),
            ("-e", "@roles/etcd/defaults/main.yml"),
            ("-e", "@/conf/vars.yml"),
            ("-i", "a,"),
            ("-M", "library:/usr/share/ansible"),
            ("--user", "~/x"),
        ] {
            assert_eq!(missing_file_of_option(option, value), None, "{option} {value}");
        }
    }

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
            ("ansible_ssh_common_args", "-o UserKnownHostsFile=/home/ann/known_hosts", "/home/ann/known_hosts"),
            ("ansible_ssh_common_args", "-qi ~/.ssh/id", "~/.ssh/id"),
            ("ansible_ssh_common_args", "-4Ai ~/.ssh/id", "~/.ssh/id"),
            ("ansible_ssh_common_args", "-o Include=~/.ssh/conf", "~/.ssh/conf"),
            ("ansible_ssh_common_args", "-o \"IdentityFile = ~/.ssh/id\"", "~/.ssh/id"),
            ("ansible_ssh_common_args", "-o IdentityAgent=/run/user/1000/agent", "/run/user/1000/agent"),
            ("ansible_ssh_args", "-o ControlPath=/home/ann/.ansible/cp/%r@%h", "/home/ann/.ansible/cp/%r@%h"),
            ("ansible_ssh_private_key_file", "~/.ssh/{{ env }}_rsa", "~/.ssh/{{ env }}_rsa"),
            ("ansible_ssh_private_key_file", "/Users/ann/{{ x }}", "/Users/ann/{{ x }}"),
            ("ansible_ssh_private_key_file", "{{ lookup('env','HOME') }}/.ssh/id_rsa", ".ssh/id_rsa"),
            ("ansible_become_exe", "/home/ann/sudo", "/home/ann/sudo"),
            ("cert", "{{ lookup('file', '/home/ann/cert.pem') }}", "/home/ann/cert.pem"),
            ("cert", "{{ lookup(\"ansible.builtin.file\", \"~/.ssh/id.pub\") }}", "~/.ssh/id.pub"),
            ("cert", "{{ q('file','~/x') }}", "~/x"),
            ("cert", "{{ query('fileglob', '/home/alice/*') | map('basename') }}", "/home/alice/*"),
            ("cert", "{{ lookup('template', '~/x.j2') }}", "~/x.j2"),
            ("cert", "{{ lookup( 'ansible.builtin.unvault' , '~/x' ) | string }}", "~/x"),
            ("cert", "{{ lookup('file', '/etc/x', \"/home/ann/x\", errors='ignore') }}", "/home/ann/x"),
            ("cert", "{{ lookup('csvfile', 'a file=~/x.csv delimiter=,') }}", "~/x.csv"),
            ("cert", "{{ lookup('csvfile', 'a', file='~/x.csv', col=1) }}", "~/x.csv"),
            ("cert", "{{ lookup('ini', 'user', section='a', file = '/home/ann/x.ini') }}", "/home/ann/x.ini"),
            ("cert", "{{ lookup('env', 'A') ~ lookup('file', ('~/x')) }}", "~/x"),
            ("kubeconfig", "~/.kube/config", "~/.kube/config"),
            ("kubeconfig", "{{ lookup('file', '~/.kube/config') }}", "~/.kube/config"),
            ("KUBECONFIG", "/home/ann/.kube/config", "/home/ann/.kube/config"),
            ("k8s_auth_kubeconfig", "/Users/ann/.kube/config", "/Users/ann/.kube/config"),
            ("admin_kubeconfig_path", "~/config", "~/config"),
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
            ("ansible_ssh_args", "-o SecurityKeyProvider=internal -o IdentityAgent=$SSH_AUTH_SOCK"),
            ("ansible_ssh_args", "-o ControlPath=/home/{{ u }}/cp"),
            ("ansible_ssh_args", "-J include -v"),
            ("etcd_data_dir", "/home/etcd"),
            ("cert", "{{ lookup('file', '/etc/ssl/ca.pem') }}"),
            ("cert", "{{ lookup('env', 'HOME') }}"),
            ("cert", "{{ lookup('file', path) }}"),
            ("cert", "{{ lookup('file', path) | default('~/x') }}"),
            ("cert", "{{ lookup(plugin, 'file', '~/x') }}"),
            ("cert", "{{ lookup('csvfile', '~ delimiter=.', file='/etc/x.csv', default='$') }}"),
            ("cert", "{{ lookup('template', 'x.j2', variable_start_string='${') }}"),
            ("cert", "{{ lookup('first_found', ['~/x', '/etc/x']) }}"),
            ("cert", "{{ my_q('file', '~/x') }} faq('file', '~/x') x.q('file', '~/x')"),
            ("kubeconfig", "/etc/kubernetes/admin.conf"),
            ("kubeconfig", "/root/.kube/config"),
            ("kubeconfig", "{{ home }}/.kube/config"),
            ("kubeconfig_localhost", "~/x"),
            ("ansible_ssh_common_args", "-o ProxyCommand='ncat -i 10s --proxy p:8080 %h %p'"),
            ("ansible_ssh_common_args", "-o UserKnownHostsFile=/tmp/known_hosts"),
            ("ansible_ssh_common_args", "-o GlobalKnownHostsFile=/etc/ssh/ssh_known_hosts"),
            ("ansible_ssh_common_args", "-o ControlPath=~/.ansible/cp/%r@%h -o IdentityAgent=none"),
            ("ansible_ssh_common_args", "-L 1:2:3 -p 22 -vvv -W %h:%p"),
        ] {
            assert_eq!(missing_file(name, value), None, "{name} {value}");
        }
    }
}
