//! The one-line title of an operation.

use crd::{ActionSource, ActionType, ClusterOperationSpec};
use masking::{hide_in_script, without_escapes};

use super::Options;

/// Maximum length of a title, in characters.
const LONGEST: usize = 60;

/// The title of an operation, as `status.action` and the console show it: the playbook, or the first line of code of a script. Says so if
/// the playbook only checks what it would change.
pub fn title(operation: &ClusterOperationSpec) -> String {
    let title = step_title(operation.action_type, operation.action_source, &operation.action);
    if Options::is_check(operation) { format!("{title} (check only)") } else { title }
}

/// Whether the action is the text of a script and not the name of a file.
pub fn is_script(operation: &ClusterOperationSpec) -> bool {
    is_text(operation.action_type, operation.action_source)
}

/// The one-line title of a step.
pub(crate) fn step_title(kind: ActionType, source: ActionSource, action: &str) -> String {
    let line = if is_text(kind, source) {
        let mut lines = action.lines().map(str::trim);
        lines.find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or("script")
    } else {
        action
    };
    // More people can read a title than the script. Escape sequences first: they may split the name of a secret.
    cut(&hide_in_script(&without_escapes(line)), LONGEST)
}

fn is_text(kind: ActionType, source: ActionSource) -> bool {
    (kind, source) == (ActionType::Shell, ActionSource::Builtin)
}

/// `text` on one line and without escape sequences, at most `limit` characters, with an ellipsis if something is left out.
pub fn cut(text: &str, limit: usize) -> String {
    let line = one_line(&without_escapes(text));
    match line.char_indices().nth(limit) {
        None => line,
        Some(_) => line.chars().take(limit.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// Control characters, with the space around them, become one space, or nothing at the start and end.
fn one_line(text: &str) -> String {
    let mut parts = text.split(char::is_control);
    let mut line = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        line.truncate(line.trim_end().len());
        let part = part.trim_start();
        if !line.is_empty() && !part.is_empty() {
            line.push(' ');
        }
        line.push_str(part);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(text: &str) -> ClusterOperationSpec {
        ClusterOperationSpec { action_type: ActionType::Shell, action: text.into(), ..Default::default() }
    }

    #[test]
    fn the_title_of_a_check_says_so() {
        let playbook = |arguments: &str| {
            title(&ClusterOperationSpec {
                action: "a.yml".into(),
                extra_args: Some(arguments.into()),
                ..Default::default()
            })
        };
        assert_eq!(playbook("-e --check"), "a.yml");
        assert_eq!(playbook("-CD"), "a.yml (check only)");
        let script = ClusterOperationSpec { extra_args: Some("--check".into()), ..script("uptime") };
        assert_eq!(title(&script), "uptime");
    }

    #[test]
    fn the_title_of_a_script_is_its_first_line_of_code() {
        assert_eq!(title(&script("#!/bin/bash\n\n  uptime -p\nfree\n")), "uptime -p");
        assert_eq!(title(&script("# nothing\n")), "script");
        let file = ClusterOperationSpec { action_source: ActionSource::Configmap, ..script("fix.sh") };
        assert_eq!((title(&file).as_str(), is_script(&file)), ("fix.sh", false));
    }

    #[test]
    fn a_title_contains_no_secret() {
        assert_eq!(title(&script("export DB_PASSWORD=hunter22 A=1\n")), "export DB_PASSWORD=(hidden) A=1");
    }

    #[test]
    fn a_long_title_is_shortened_to_one_line() {
        let long = title(&script(&format!("echo\t{}", "x".repeat(100))));
        assert_eq!((long.chars().count(), &long[..6]), (60, "echo x"));
        assert!(long.ends_with('…'));
    }

    #[test]
    fn a_cut_text_has_no_rests_of_control_characters() {
        let red = "\u{1b}[31mERROR\u{1b}[0m";
        assert_eq!(cut(&format!("{red}: a\r\n \u{7}b\u{0}\n"), 60), "ERROR: a b");
        assert_eq!(cut("\u{7} \u{9b}1ma\u{9c}\u{1b}]0;title\u{7}b\u{1b}(B\u{1b}c \u{1b}[3", 60), "a b ");
        assert_eq!((cut("\n\t", 60).as_str(), cut("a  b", 60).as_str()), ("", "a  b"));
        assert_eq!(cut(&red.repeat(3), 10), "ERRORERRO…");
    }

    #[test]
    fn an_escape_sequence_does_not_reveal_a_secret() {
        assert_eq!(title(&script("A=1 DB_PASS\u{1b}[0mWORD=hunter22 uptime\n")), "A=1 DB_PASSWORD=(hidden) uptime");
    }
}
