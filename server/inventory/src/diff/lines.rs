//! The difference of two texts, line by line.

use std::time::Duration;

use api::configuration::{DiffKind, DiffLine as ShownLine};
use similar::{ChangeTag, TextDiff};

/// A line of either text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    pub kind: ChangeKind,
    /// Without its line end.
    pub text: String,
    /// Its number in the old text, from 1. `None` for an added line.
    pub old_line: Option<usize>,
    /// Its number in the new text, from 1. `None` for a removed line.
    pub new_line: Option<usize>,
}

/// Whether a line was added, removed or left unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    Context,
    Added,
    Removed,
}

/// After this time the diff gets coarser, but stays correct: comparing two very different texts of 1 MiB could take minutes.
const PATIENCE: Duration = Duration::from_millis(300);

/// All lines of both texts. Removed lines come before the added lines that replace them.
#[must_use]
pub fn lines(old: &str, new: &str) -> Vec<DiffLine> {
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(old, new);
    diff.iter_all_changes()
        .map(|change| DiffLine {
            kind: match change.tag() {
                ChangeTag::Equal => ChangeKind::Context,
                ChangeTag::Insert => ChangeKind::Added,
                ChangeTag::Delete => ChangeKind::Removed,
            },
            text: change.value().trim_end_matches(['\n', '\r']).to_owned(),
            old_line: change.old_index().map(|i| i + 1),
            new_line: change.new_index().map(|i| i + 1),
        })
        .collect()
}

/// [`lines`] as a page shows them: `context` unchanged lines around each change, and the number of those left out.
#[must_use]
pub fn shown(old: &str, new: &str, context: usize) -> Vec<ShownLine> {
    let all = lines(old, new);
    let changed: Vec<usize> = (0..all.len()).filter(|&i| all[i].kind != ChangeKind::Context).collect();
    let mut near = vec![false; all.len()];
    for i in changed {
        near[i.saturating_sub(context)..all.len().min(i + context + 1)].fill(true);
    }
    let (mut shown, mut skipped) = (Vec::new(), 0);
    let gap = |skipped: &mut usize| {
        let n = std::mem::take(skipped);
        let text = if n == 1 { "1 unchanged line".to_owned() } else { format!("{n} unchanged lines") };
        (n > 0).then_some(ShownLine { kind: DiffKind::Skipped, text })
    };
    for (line, near) in all.into_iter().zip(near) {
        if !near {
            skipped += 1;
            continue;
        }
        shown.extend(gap(&mut skipped));
        let kind = match line.kind {
            ChangeKind::Context => DiffKind::Same,
            ChangeKind::Added => DiffKind::Added,
            ChangeKind::Removed => DiffKind::Removed,
        };
        shown.push(ShownLine { kind, text: line.text });
    }
    shown.extend(gap(&mut skipped));
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_line_is_removed_and_added_with_its_numbers() {
        let diff = lines("a\nb\nc\n", "a\nB\nc\nd");
        let shape: Vec<_> = diff.iter().map(|l| (l.kind, l.text.as_str(), l.old_line, l.new_line)).collect();
        assert_eq!(
            shape,
            [
                (ChangeKind::Context, "a", Some(1), Some(1)),
                (ChangeKind::Removed, "b", Some(2), None),
                (ChangeKind::Added, "B", None, Some(2)),
                (ChangeKind::Context, "c", Some(3), Some(3)),
                (ChangeKind::Added, "d", None, Some(4)),
            ]
        );
    }

    #[test]
    fn lines_far_from_a_change_are_only_counted() {
        let old: String = (1..=9).map(|n| format!("{n}\n")).collect();
        let diff = shown(&old, &old.replace('5', "five"), 1);
        let texts: Vec<_> = diff.iter().map(|l| l.text.as_str()).collect();
        assert_eq!(texts, ["3 unchanged lines", "4", "5", "five", "6", "3 unchanged lines"]);
        assert_eq!(diff[0].kind, DiffKind::Skipped);
    }

    #[test]
    fn equal_texts_are_one_gap_and_empty_texts_have_no_lines() {
        assert_eq!(shown("a\nb\n", "a\nb\n", 3).len(), 1);
        assert!(shown("", "", 3).is_empty());
    }
}
