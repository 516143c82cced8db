//! The difference of two texts, line by line.

use std::time::Duration;

use api::configuration::{DiffKind, DiffLine};
use similar::{ChangeTag, TextDiff};

/// After this time the diff gets coarser, but stays correct: comparing two very different texts of 1 MiB could take minutes.
const TIME_LIMIT: Duration = Duration::from_millis(300);

/// The lines of both texts: `context` unchanged lines around each change, and the number of those left out. Removed lines come
/// before the added lines that replace them.
#[must_use]
pub fn lines(old: &str, new: &str, context: usize) -> Vec<DiffLine> {
    let all = all_lines(old, new);
    let changed: Vec<usize> = (0..all.len()).filter(|&i| all[i].kind != DiffKind::Same).collect();
    let mut near = vec![false; all.len()];
    for i in changed {
        near[i.saturating_sub(context)..all.len().min(i + context + 1)].fill(true);
    }
    let (mut shown, mut skipped) = (Vec::new(), 0_u64);
    let gap = |skipped: &mut u64| {
        let n = std::mem::take(skipped);
        let text = api::count(n, "unchanged line", "unchanged lines");
        (n > 0).then_some(DiffLine { kind: DiffKind::Skipped, text })
    };
    for (line, near) in all.into_iter().zip(near) {
        if !near {
            skipped += 1;
            continue;
        }
        shown.extend(gap(&mut skipped));
        shown.push(line);
    }
    shown.extend(gap(&mut skipped));
    shown
}

fn all_lines(old: &str, new: &str) -> Vec<DiffLine> {
    let diff = TextDiff::configure().timeout(TIME_LIMIT).diff_lines(old, new);
    diff.iter_all_changes()
        .map(|change| DiffLine {
            kind: match change.tag() {
                ChangeTag::Equal => DiffKind::Same,
                ChangeTag::Insert => DiffKind::Added,
                ChangeTag::Delete => DiffKind::Removed,
            },
            text: change.value().trim_end_matches(['\n', '\r']).to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_line_is_removed_and_added() {
        let diff = all_lines("a\nb\nc\n", "a\nB\nc\nd");
        let shape: Vec<_> = diff.iter().map(|line| (line.kind, line.text.as_str())).collect();
        assert_eq!(
            shape,
            [
                (DiffKind::Same, "a"),
                (DiffKind::Removed, "b"),
                (DiffKind::Added, "B"),
                (DiffKind::Same, "c"),
                (DiffKind::Added, "d"),
            ]
        );
    }

    #[test]
    fn a_diff_of_a_megabyte_ends_in_time_and_is_correct() {
        let old: String = (0..60_000).map(|n| format!("k{n}: {}\n", n * 7 % 13)).collect();
        let new: String = (0..60_000).map(|n| format!("k{}: {}\n", n * 3, n % 5)).collect();
        let diff = all_lines(&old, &new);
        let kept = diff.iter().filter(|line| line.kind != DiffKind::Removed);
        let rebuilt: String = kept.map(|line| format!("{}\n", line.text)).collect();
        assert!(rebuilt == new, "the new lines of the diff must be the new text");
    }

    #[test]
    fn lines_far_from_a_change_are_only_counted() {
        let old: String = (1..=9).map(|n| format!("{n}\n")).collect();
        let diff = lines(&old, &old.replace('5', "five"), 1);
        let texts: Vec<_> = diff.iter().map(|l| l.text.as_str()).collect();
        assert_eq!(texts, ["3 unchanged lines", "4", "5", "five", "6", "3 unchanged lines"]);
        assert_eq!(diff[0].kind, DiffKind::Skipped);
    }

    #[test]
    fn equal_texts_are_one_gap_and_empty_texts_have_no_lines() {
        assert_eq!(lines("a\nb\n", "a\nb\n", 3).len(), 1);
        assert!(lines("", "", 3).is_empty());
    }
}
