//! The coloured mark at the left of a line: the kind of result that the line belongs to.
//!
//! It is derived from the text of the line, so it also works in images without the callback plugin. ansible prints *every*
//! line of a result in the colour of the result, also the further lines of a long message.

use super::ansi::{self, Colour};

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Ok,
    Changed,
    Skipped,
    Failed,
    /// `TASK [` and `RUNNING HANDLER [`.
    Task,
    /// `PLAY [`.
    Play,
    /// `PLAY RECAP`.
    Recap,
}

impl Mark {
    /// The mark of a line, if it has one.
    #[must_use]
    pub fn of(line: &str) -> Option<Self> {
        let spans = ansi::spans(line);
        let first = spans.first()?;
        let text = first.text.trim_start();
        let starts_with = |words: &[&str]| words.iter().any(|word| text.starts_with(word));
        if starts_with(&["TASK [", "RUNNING HANDLER ["]) {
            return Some(Self::Task);
        }
        if starts_with(&["PLAY ["]) {
            return Some(Self::Play);
        }
        if starts_with(&["PLAY RECAP"]) {
            return Some(Self::Recap);
        }
        if starts_with(&["ok: ["]) {
            return Some(Self::Ok);
        }
        if starts_with(&["changed: ["]) {
            return Some(Self::Changed);
        }
        if starts_with(&["skipping: ["]) {
            return Some(Self::Skipped);
        }
        if starts_with(&["fatal: [", "failed: [", "ERROR! ", "[ERROR]"]) {
            return Some(Self::Failed);
        }
        // The further lines of a result: one colour from start to end.
        (spans.len() == 1 && line.starts_with("\u{1b}[0;") || line.starts_with("\u{1b}[1;31m") && spans.len() == 1)
            .then(|| match first.style.front?.plain() {
                Colour::GREEN => Some(Self::Ok),
                Colour::YELLOW => Some(Self::Changed),
                Colour::CYAN => Some(Self::Skipped),
                Colour::RED => Some(Self::Failed),
                _ => None,
            })
            .flatten()
    }

    /// Whether the lines below fold.
    #[must_use]
    pub fn folds(self) -> bool {
        matches!(self, Self::Task | Self::Play)
    }

    /// Class of `style/50-run.css`.
    #[must_use]
    pub fn class(self) -> &'static str {
        match self {
            Self::Ok => "ln-ok",
            Self::Changed => "ln-changed",
            Self::Skipped => "ln-skipped",
            Self::Failed => "ln-failed",
            Self::Task => "ln-task",
            Self::Play | Self::Recap => "ln-play",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_known_by_their_first_word() {
        assert_eq!(Mark::of("\u{1b}[0;32mok: [a]\u{1b}[0m"), Some(Mark::Ok));
        assert_eq!(Mark::of("changed: [a] => (item=x)"), Some(Mark::Changed));
        assert_eq!(Mark::of("\u{1b}[0;31mfatal: [a]: FAILED! => {\u{1b}[0m"), Some(Mark::Failed));
        assert_eq!(Mark::of("TASK [Ping] *****"), Some(Mark::Task));
    }

    #[test]
    fn the_further_lines_of_a_result_share_its_colour() {
        assert_eq!(Mark::of("\u{1b}[0;31m  \"msg\": \"no\"\u{1b}[0m"), Some(Mark::Failed));
        assert_eq!(Mark::of("\u{1b}[1;31mUNREACHABLE\u{1b}[0m"), Some(Mark::Failed));
    }

    #[test]
    fn the_recap_and_plain_text_have_none() {
        assert_eq!(Mark::of("\u{1b}[0;32ma\u{1b}[0m : \u{1b}[0;32mok=1\u{1b}[0m"), None);
        assert_eq!(Mark::of("hello"), None);
        assert_eq!(Mark::of(""), None);
    }
}
