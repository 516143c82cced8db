//! Recognises ini inventories, which aren't read here.

/// What converts one, as part of a sentence.
pub(crate) const CONVERT: &str = "ansible-inventory -i hosts.ini --list --yaml";

/// The number of the line with the first header of a section, such as `[kube_node]`, `[all:vars]` or `[all]   # every machine`.
pub(crate) fn header(text: &str) -> Option<usize> {
    let index = text.lines().position(is_header)?;
    let is_in_yaml = text.lines().take(index).any(is_yaml_key);
    (!is_in_yaml).then_some(index + 1)
}

/// `all:`, below which a list such as `[a]` may stand.
fn is_yaml_key(line: &str) -> bool {
    let line = line.split(" #").next().unwrap_or_default().trim_end();
    line.strip_suffix(':').is_some_and(|name| !name.is_empty() && !name.contains(['=', '#', ';', '[']))
}

/// Whether a text that is no YAML mapping looks like host lines: `node1 ansible_host=10.0.0.1`.
pub(crate) fn has_host_line(text: &str) -> bool {
    let is_host_line = |line: &str| {
        let mut words = line.split_whitespace();
        let is_name = |name: &str| !name.starts_with(['#', ';', '-']) && !name.contains([':', '=']);
        words.next().is_some_and(is_name)
            && words.next().is_some_and(|word| word.starts_with("ansible_") && word.contains('='))
    };
    text.lines().any(is_host_line)
}

fn is_header(line: &str) -> bool {
    let line = line.trim_start_matches('\u{FEFF}').trim();
    let Some((section, rest)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) else { return false };
    let rest = rest.trim_start();
    let (name, kind) = section.split_once(':').unwrap_or((section, "vars"));
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
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
        ] {
            assert_eq!(header(text), None, "{text:?}");
        }
    }
}
