//! Which paths are valid for a playbook of the image.

/// Maximum length of a path, in bytes.
const LONGEST: usize = 255;

/// Whether `path` may be run: it is relative, stays in the image's folder of playbooks, and has no character that is special to a
/// shell or a template.
pub fn is_playbook_path(path: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    path.len() <= LONGEST && path.split('/').all(|part| !matches!(part, "" | "." | "..") && part.chars().all(is_plain))
}

/// Whether the form accepts `path`: it may be run, ends in `.yml` or `.yaml`, is not hidden and doesn't start with `-`. Stricter
/// than [`is_playbook_path`], to catch typing mistakes.
pub fn is_playbook_file(path: &str) -> bool {
    let is_yaml = std::path::Path::new(path).extension().is_some_and(|end| end == "yml" || end == "yaml");
    is_playbook_path(path) && is_yaml && path.split('/').all(|part| !part.starts_with(['.', '-']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_leaves_its_folder_or_reaches_a_shell_is_refused() {
        for bad in
            ["", "../ping.yml", "/ping.yml", "a;rm.yml", "a b.yml", "a//b.yml", "$(x).yml", "a\n.yml", "a/./b.yml"]
        {
            assert!(!is_playbook_path(bad) && !is_playbook_file(bad), "{bad:?}");
        }
        assert!(is_playbook_path("playbooks/facts.yml") && is_playbook_file("playbooks/facts.yml"));
    }

    #[test]
    fn a_form_accepts_only_visible_yaml_files() {
        for odd in ["ping", "-x.yml", ".yml", "a/.hidden.yml"] {
            assert!(is_playbook_path(odd) && !is_playbook_file(odd), "{odd:?}");
        }
    }
}
