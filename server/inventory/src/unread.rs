//! Variables that ansible accepts and never reads, because of their names.

use crate::document::Reading;
use crate::invalid::quoted;
use crate::lookalike::{Lookalike, Looks, hidden};
use crate::names;

/// Words that are values in ansible's templates.
const CONSTANTS: [&str; 8] = ["true", "True", "false", "False", "none", "None", "not", "self"];

/// Further keywords of Python. Ansible's `isidentifier` refuses them, but templates read variables that inventories and variable files set.
const WORDS_OF_PYTHON: [&str; 31] = [
    "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except",
    "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "or", "pass", "raise",
    "return", "try", "while", "with", "yield",
];

/// Variables that ansible sets itself, whatever the inventory or extra variables say. Tried with ansible-core 2.18.
const OWN: [&str; 25] = [
    "ansible_check_mode",
    "ansible_config_file",
    "ansible_dependent_role_names",
    "ansible_diff_mode",
    "ansible_forks",
    "ansible_inventory_sources",
    "ansible_play_batch",
    "ansible_play_hosts",
    "ansible_play_hosts_all",
    "ansible_play_name",
    "ansible_playbook_python",
    "ansible_role_names",
    "ansible_run_tags",
    "ansible_search_path",
    "ansible_skip_tags",
    "ansible_verbosity",
    "ansible_version",
    "environment",
    "groups",
    "hostvars",
    "omit",
    "play_hosts",
    "playbook_dir",
    "role_names",
    "vars",
];

const SETS_ITSELF: &str = "It sets this one itself. Remove it, or choose another name.";

/// Further variables that ansible sets itself, unless they are extra variables. Tried with ansible-core 2.18.
const OWN_IN_INVENTORY: [&str; 5] =
    ["ansible_facts", "ansible_play_role_names", "group_names", "inventory_hostname", "inventory_hostname_short"];

/// The reason, and what to do.
pub(crate) fn why_unread(name: &str, read_as: Option<Reading>, is_of_inventory: bool) -> Option<String> {
    if let Some(read_as) = read_as {
        return Some(format!("It reads this name as {read_as}. Choose another name."));
    }
    if is_of_inventory && OWN_IN_INVENTORY.contains(&name) {
        return Some(SETS_ITSELF.into());
    }
    name_is_unread(name)
}

/// Why ansible never reads a variable with this name, and what to do: two sentences. `None` if it can be read.
#[must_use]
pub fn name_is_unread(name: &str) -> Option<String> {
    if name.is_empty() {
        return Some("Its name is empty. Write a name.".into());
    }
    if CONSTANTS.contains(&name) {
        return Some("In templates this name is a word of the language. Choose another name.".into());
    }
    if OWN.contains(&name) {
        return Some(SETS_ITSELF.into());
    }
    let (at, bad) = name.char_indices().find(|(at, c)| !is_allowed(*at, *c))?;
    let why = match Lookalike::of(bad) {
        Some(odd) => format!("Its name contains {}.", odd.named()),
        None if at == 0 && bad.is_numeric() => "Its name starts with a digit.".into(),
        None if bad == ' ' => "Its name contains a space.".into(),
        None => format!("Its name contains {}.", quoted(&bad.to_string())),
    };
    // Probably with its value, which may be a password.
    if name.contains(['=', ':']) {
        return Some(format!("{why} Write “name: value”, with a name of letters, digits and “_”."));
    }
    let instead = with_underscores(name);
    // Probably meant as indentation.
    if let Some(odd) = Lookalike::of(bad).filter(|odd| at == 0 && odd.looks == Looks::Space) {
        return Some(format!("Its name starts with {}. Indent with spaces, or write {instead}.", odd.named()));
    }
    Some(if names::is_variable(&instead) && instead != "_" {
        format!("{why} Write {instead}.")
    } else {
        format!("{why} Use letters, digits and “_”, and start with a letter.")
    })
}

/// Whether playbooks can't set a variable with this name, and so probably don't expect it.
pub(crate) fn is_word_of_python(name: &str) -> bool {
    WORDS_OF_PYTHON.contains(&name)
}

/// Letters of all scripts are allowed.
fn is_allowed(at: usize, c: char) -> bool {
    c == '_' || c.is_alphabetic() || at > 0 && c.is_numeric()
}

/// The name that was probably meant.
fn with_underscores(name: &str) -> String {
    let is_around = |c: char| Lookalike::of(c).is_some_and(|odd| !matches!(odd.looks, Looks::Sign('-'))) || c == ' ';
    let inside = name.trim_matches(is_around).chars();
    let visible = inside
        .filter(|c| Lookalike::of(*c).is_none_or(|odd| !matches!(odd.looks, Looks::Invisible | Looks::LineBreak)));
    visible.map(|c| if is_allowed(1, c) { c } else { '_' }).collect()
}

/// In a name of letters of two scripts: the first letter that looks like a Latin one, and the name that was probably meant.
pub(crate) fn looks_like(name: &str) -> Option<(char, String)> {
    const LETTERS: [(&str, &str); 2] =
        [("аеорсухіјѕһԁԛԝАВЕКМНОРСТХІЈЅ", "aeopcyxijshdqwABEKMHOPCTXIJS"), ("οΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "oABEZHIKMNOPTYX")];
    let latin = |c: char| {
        let find = |(others, latins): (&str, &str)| others.chars().zip(latins.chars()).find(|(other, _)| *other == c);
        LETTERS.into_iter().find_map(find).map(|(_, latin)| latin)
    };
    let odd = name
        .chars()
        .find(|c| !c.is_ascii() && latin(*c).is_some())
        .filter(|_| name.chars().any(|c| c.is_ascii_alphabetic()))?;
    let meant: String = name.chars().map(|c| latin(c).unwrap_or(c)).collect();
    meant.is_ascii().then_some((odd, meant))
}

/// A space at the start or end of a key, an invisible character in it, or a quotation mark around it.
pub(crate) fn odd_in_key(key: &str) -> Option<Lookalike> {
    let edges = [key.chars().next(), key.chars().next_back()];
    let at_edge = edges.into_iter().flatten().filter_map(Lookalike::of).find(|odd| odd.looks != Looks::Sign('-'));
    at_edge.or_else(|| hidden(key).map(|(_, odd)| odd))
}

#[cfg(test)]
mod tests {
    use super::{looks_like, name_is_unread};

    #[test]
    fn letters_of_another_script_are_found_in_a_latin_name() {
        for (name, odd, meant) in [
            ("kub\u{435}_version", '\u{435}', "kube_version"),
            ("dns_\u{41C}ode", '\u{41C}', "dns_Mode"),
            ("p\u{3BF}rt", '\u{3BF}', "port"),
        ] {
            assert_eq!(looks_like(name), Some((odd, meant.into())), "{name}");
        }
        for name in ["kube_version", "порт", "Größe", "kube_порт", "節点", "х_1"] {
            assert_eq!(looks_like(name), None, "{name}");
        }
    }

    #[test]
    fn a_name_is_read_if_it_is_an_identifier() {
        for name in
            ["kube_version", "_x", "a1", "Größe", "節点", "class", "lambda", "name", "port", "inventory_hostname"]
        {
            assert_eq!(name_is_unread(name), None, "{name}");
        }
    }

    #[test]
    fn the_character_and_the_name_to_write_are_said() {
        for (name, why) in [
            ("container-manager", "Its name contains “-”. Write container_manager."),
            ("a.b", "Its name contains “.”. Write a_b."),
            ("a b", "Its name contains a space. Write a_b."),
            (
                "\u{A0}kube_version",
                "Its name starts with U+00A0 (no-break space). Indent with spaces, or write kube_version.",
            ),
            ("kube\u{200B}_version", "Its name contains U+200B (zero-width space). Write kube_version."),
            ("kube\u{2013}version", "Its name contains U+2013 (en dash). Write kube_version."),
            ("“kube_version”", "Its name contains U+201C (curly quotation mark). Write kube_version."),
            ("kube_version ", "Its name contains a space. Write kube_version."),
            ("1a", "Its name starts with a digit. Use letters, digits and “_”, and start with a letter."),
            ("a/b", "Its name contains “/”. Write a_b."),
        ] {
            assert_eq!(name_is_unread(name).as_deref(), Some(why), "{name:?}");
        }
        for name in ["", "true", "None", "hostvars", "ansible_check_mode"] {
            assert!(name_is_unread(name).is_some(), "{name:?}");
        }
    }
}
