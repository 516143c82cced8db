//! The colour at the left of a line: what kind of result it tells of.
//!
//! Told from the line itself, so it works for every line ever shown, for images without the callback plugin, and costs
//! nothing to keep. ansible colours *every* line of a result, also those of a long message, in the colour of the result.

use super::ansi::{self, Colour};

/// What a line tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Ok,
    Changed,
    Skipped,
    Failed,
    /// `TASK [` and `RUNNING HANDLER [`.
    Task,
    /// `PLAY [` and `PLAY RECAP`.
    Play,
}

impl Mark {
    /// The mark of a line, if it has one.
    #[must_use]
    pub fn of(line: &str) -> Option<Self> {
        let spans = ansi::spans(line);
        let first = spans.first()?;
        let text = first.text.trim_start();
        let begins = |words: &[&str]| words.iter().any(|word| text.starts_with(word));
        if begins(&["TASK [", "RUNNING HANDLER ["]) {
            return Some(Self::Task);
        }
        if begins(&["PLAY [", "PLAY RECAP"]) {
            return Some(Self::Play);
        }
        if begins(&["ok: ["]) {
            return Some(Self::Ok);
        }
        if begins(&["changed: ["]) {
            return Some(Self::Changed);
        }
        if begins(&["skipping: ["]) {
            return Some(Self::Skipped);
        }
        if begins(&["fatal: [", "failed: [", "ERROR! ", "[ERROR]"]) {
            return Some(Self::Failed);
        }
        // The lines of a result after its first: coloured from end to end.
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

    /// Class of `style/50-run.css`.
    #[must_use]
    pub fn class(self) -> &'static str {
        match self {
            Self::Ok => "ln-ok",
            Self::Changed => "ln-changed",
            Self::Skipped => "ln-skipped",
            Self::Failed => "ln-failed",
            Self::Task => "ln-task",
            Self::Play => "ln-play",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_told_from_their_first_word() {
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
