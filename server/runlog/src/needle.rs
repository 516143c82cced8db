//! The text that a search is for.

use std::borrow::Cow;

use memchr::memmem::Finder;
use memchr::{memchr, memrchr};

const ESC: u8 = 0x1b;

/// The text to find. Capitals count only if it has one, and colours of the log don't.
pub(crate) struct Needle<'a> {
    text: Cow<'a, str>,
    /// Whether capitals and small letters differ.
    exact: bool,
    /// Searches bytes, where that finds the same as searching characters.
    quick: Finder<'static>,
}

impl<'a> Needle<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        let exact = text.chars().any(char::is_uppercase);
        let text: Cow<'a, str> = if exact { text.into() } else { text.to_lowercase().into() };
        let quick = Finder::new(text.as_bytes()).into_owned();
        Self { text, exact, quick }
    }

    pub(crate) fn is_in(&self, line: &str) -> bool {
        if self.text.is_empty() {
            return true;
        }
        // Colours may be in the middle of a word.
        let line =
            if line.contains(char::from(ESC)) { Cow::Owned(masking::without_colours(line)) } else { line.into() };
        if self.exact { line.contains(&*self.text) } else { line.to_lowercase().contains(&*self.text) }
    }

    /// The same for the bytes of a line. Much quicker for most lines. `small` is a buffer for the line in small letters: searching such
    /// a copy for bytes is four times as quick as searching the line without regard to capitals.
    pub(crate) fn is_in_bytes(&self, line: &[u8], small: &mut Vec<u8>) -> bool {
        let inner = without_outer_colours(line);
        if !self.exact && !inner.is_ascii() || memchr(ESC, inner).is_some() {
            return str::from_utf8(line).is_ok_and(|line| self.is_in(line));
        }
        if self.exact {
            return self.quick.find(inner).is_some();
        }
        small.clear();
        small.extend_from_slice(inner);
        small.make_ascii_lowercase();
        self.quick.find(small).is_some()
    }
}

/// The line without the colours at its start and end: ansible colours whole lines.
fn without_outer_colours(mut line: &[u8]) -> &[u8] {
    let is_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b';' | b':');
    while let Some(numbers) = line.strip_prefix(b"\x1b[") {
        let Some(end) = numbers.iter().position(|byte| !is_number(byte)).filter(|end| numbers[*end] == b'm') else {
            break;
        };
        line = &numbers[end + 1..];
    }
    while let Some(before) = line.strip_suffix(b"m") {
        let is_colour = |start: &usize| {
            before[*start + 1..].strip_prefix(b"[").is_some_and(|numbers| numbers.iter().all(is_number))
        };
        let Some(start) = memrchr(ESC, before).filter(is_colour) else { break };
        line = &line[..start];
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_what_their_text_has() {
        let lines = [
            "",
            "ok: [m1]",
            "\u{1b}[0;32mok: [M1]\u{1b}[0m",
            "\u{1b}[0;31mfatal\u{1b}[0m: [m1] \u{1b}[1;30mOK: x\u{1b}[0m",
            "o\u{1b}[1mk: [m1]",
            "\u{1b}[0;32mm\u{1b}[0m\u{1b}[1mm",
            "\u{1b}[0;32",
            "\u{1b}[0;32 [m1]",
            "\u{1b}[0;32 … [cut here]",
            "ok\u{1b}[0;3",
            "\u{1b}[2Jok: [m1]\u{1b}[K",
            "\u{1b}[?25lok\u{1b}[>4m",
            "\u{1b}[\u{1b}[0mm",
            "\u{1b}m",
            "ok: [m1]\u{1b}[m\u{1b}[0 m",
            "m",
            "Größe ÄÖ: \u{212a}elvin ok: [m1]",
            "\u{1b}[0mGRÖSSE\u{1b}[0m",
            "İstanbul",
        ];
        for text in [
            "",
            "ok: [m1]",
            "OK",
            "0;32",
            "m",
            "[m1]",
            "mm",
            "größe",
            "äö",
            "k",
            "kelvin",
            "i",
            "fatal: [m1]",
            "\u{1b}",
        ] {
            let needle = Needle::of(text);
            for line in lines {
                assert_eq!(
                    needle.is_in_bytes(line.as_bytes(), &mut Vec::new()),
                    needle.is_in(line),
                    "{text:?} in {line:?}"
                );
            }
        }
    }
}
