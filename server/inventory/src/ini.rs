//! Recognises ini inventories, which aren't read here.

/// What converts one, as part of a sentence.
pub(crate) const CONVERT: &str = "ansible-inventory -i hosts.ini --list --yaml";

use crate::names;

/// The number of the line with the first header of a section, such as `[kube_node]`, `[all:vars]` or `[all]   # every machine`.
pub(crate) fn header(text: &str) -> Option<usize> {
    before_yaml(text).position(is_header).map(|index| index + 1)
}

/// Whether a text that is no YAML mapping looks like host lines: `node1 ansible_host=10.0.0.1`.
pub(crate) fn has_host_line(text: &str) -> bool {
    let is_host_line = |line: &str| {
        let mut words = line.split_whitespace();
        let is_name = |name: &str| !name.starts_with(['#', ';', '-']) && !name.contains('=');
        let is_set = |word: &str| word.split_once('=').is_some_and(|(name, _)| names::is_variable(name));
        words.next().is_some_and(is_name) && words.next().is_some_and(is_set)
    };
    before_yaml(text).any(is_host_line)
}

/// The lines before the first one with a key of YAML. Below a key, `[a]` may be a list, or part of a text.
fn before_yaml(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|line| line.trim_start_matches('\u{FEFF}').trim()).take_while(|line| !has_yaml_key(line))
}

/// `key:`, `key: value` or `- key: value`, but not `node1:2222 note='a: b'`.
fn has_yaml_key(line: &str) -> bool {
    let colon = |(at, _): &(usize, &str)| line[at + 1..].chars().next().is_none_or(char::is_whitespace);
    let Some((colon, _)) = line.match_indices(':').find(colon) else { return false };
    colon > 0
        && !line.starts_with(['#', ';'])
        && !line[..colon].contains('=')
        && !line[..colon].contains(" #")
        && !is_header(line)
}

/// Any name in brackets that isn't a list or a host: ansible takes `[tag_Name=web]` and `[eu-west-1/a]`.
fn is_header(line: &str) -> bool {
    let Some((section, rest)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) else { return false };
    let rest = rest.trim_start();
    let (name, kind) = section.split_once(':').unwrap_or((section, "vars"));
    let is_name = !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || "[{}\"',:".contains(c));
    is_name && matches!(kind, "vars" | "children" | "hosts") && (rest.is_empty() || rest.starts_with(['#', ';']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_found_wherever_it_stands() {
        for (text, line) in [
            ("[all]\n", 1),
            ("\u{FEFF}[all]\r\n", 1),
            ("# ours\n; mine\n\n  [kube_node]\nn1\n", 4),
            ("n1 ansible_host=10.0.0.1\n[all]   # every machine\n", 2),
            ("n1\n[k8s_cluster:children] ; both\n", 2),
            ("n1\n[all:vars]\n", 2),
            ("[tag_Name=web]\n1.2.3.4\n", 1),
            ("[eu-west-1/a:children]\n", 1),
            ("n1:2222 note='a: b'\n[all]\n", 2),
            ("# our hosts:\n[all] # note: all\n", 2),
        ] {
            assert_eq!(header(text), Some(line), "{text:?}");
        }
        for text in [
            "[fd00::9]:22\n",
            "node[1:3]\n",
            "[1, 2]\n",
            "[a b]\n",
            "[]\n",
            "a: [b]\n",
            "[a]: b\n",
            "[1:3]\n",
            "# [all]\n",
            "all:\n  x:\n    [a]\n",
            "[\"a\"]\n",
            "[a, b]\n",
            "unit: |\n  [Service]\n  Restart=always\n",
            "unit: >-   # systemd\n  [Service]\n",
            "a: 1\nmotd:\n  hello\n  [prod]\n",
            "- a: 1\n- |\n  [b]\n",
            "\"my key\" : x\nb: \"c\n  [d]\n",
        ] {
            assert_eq!(header(text), None, "{text:?}");
        }
    }
}
