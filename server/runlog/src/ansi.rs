//! Turns the bytes of a line into text that is safe to store and to show.

use anstyle_parse::{DefaultCharAccumulator, Params, Parser, Perform};

/// The longest text of a line, in bytes. A longer one is cut, and says so.
pub(crate) const TEXT_LIMIT: usize = 64 * 1024;

const ESC: char = '\u{1b}';

/// Ends all colours.
const RESET: &str = "\u{1b}[0m";

/// The text of a line, as a terminal would show it:
/// - invalid UTF-8 becomes U+FFFD;
/// - of a progress bar that redraws itself after `\r`, the last state remains;
/// - colours (SGR, `ESC [ … m`) remain. All other escape sequences and control characters are dropped, and a tab becomes
///   spaces.
pub(crate) fn clean(raw: &[u8]) -> String {
    let raw = last_state(raw);
    if raw.iter().all(|b| matches!(b, b' '..=b'~')) {
        return raw.iter().map(|b| *b as char).collect();
    }
    let mut cleaned = Cleaned::default();
    let mut parser = Parser::<DefaultCharAccumulator>::new();
    for c in String::from_utf8_lossy(raw).chars() {
        let mut bytes = [0; 4];
        match c {
            // Control sequences and strings may also start with one C1 character. The parser only knows the form with `ESC`.
            '\u{90}' | '\u{98}' | '\u{9b}'..='\u{9f}' => {
                parser.advance(&mut cleaned, ESC as u8);
                parser.advance(&mut cleaned, c as u8 - 0x40);
            }
            c => c.encode_utf8(&mut bytes).bytes().for_each(|byte| parser.advance(&mut cleaned, byte)),
        }
    }
    cleaned.text
}

#[derive(Default)]
struct Cleaned {
    text: String,
    column: usize,
}

impl Perform for Cleaned {
    fn print(&mut self, c: char) {
        if !c.is_control() {
            self.text.push(c);
            self.column += 1;
        }
    }

    fn execute(&mut self, byte: u8) {
        if byte == b'\t' {
            let spaces = 8 - self.column % 8;
            self.text.extend(std::iter::repeat_n(' ', spaces));
            self.column += spaces;
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], ignore: bool, action: u8) {
        if action == b'm' && intermediates.is_empty() && !ignore {
            let joined = |numbers: &[u16]| numbers.iter().map(u16::to_string).collect::<Vec<_>>().join(":");
            let params = params.iter().map(joined).collect::<Vec<_>>().join(";");
            self.text.extend([ESC, '[']);
            self.text.push_str(&params);
            self.text.push('m');
        }
    }
}

/// The bytes after the last `\r` that has any.
fn last_state(raw: &[u8]) -> &[u8] {
    let end = raw.iter().rposition(|b| *b != b'\r').map_or(0, |at| at + 1);
    let raw = &raw[..end];
    raw.iter().rposition(|b| *b == b'\r').map_or(raw, |at| &raw[at + 1..])
}

/// Cuts a text that is longer than [`TEXT_LIMIT`], or whose line was too long to be kept whole. `length` is the number of
/// bytes that the container wrote.
pub(crate) fn cut(mut text: String, length: u64) -> String {
    let mark = format!(" … [cut here: this line has {length} bytes]");
    if text.len() <= TEXT_LIMIT && length <= crate::upstream::RAW_LIMIT as u64 {
        return text;
    }
    shorten(&mut text, TEXT_LIMIT - mark.len());
    text + &mark
}

/// Cuts a text to at most `limit` bytes, between its characters and colours. What follows has no colour.
fn shorten(text: &mut String, limit: usize) {
    text.truncate(text.floor_char_boundary(limit.saturating_sub(RESET.len())));
    if let Some(last) = text.rfind(ESC) {
        // Without its final byte, a sequence would end in what follows.
        let sequence = &text.as_bytes()[last + 1..];
        if sequence.strip_prefix(b"[").unwrap_or(sequence).iter().all(|byte| matches!(byte, b'0'..=b'?')) {
            text.truncate(last);
        }
        text.push_str(RESET);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_colours_remain() {
        let cases: [(&[u8], &str); 13] = [
            (b"plain", "plain"),
            (b"\x1b[0;32mok: [m1]\x1b[0m", "\x1b[0;32mok: [m1]\x1b[0m"),
            (b"\x1b[2J\x1b[1;1Hhome", "home"),
            (b"\x1b[?25lhidden cursor\x1b[?25h", "hidden cursor"),
            (b"\x1b]0;title\x07after", "after"),
            (b"\x1b]8;;http://evil/\x1b\\link\x1b]8;;\x1b\\", "link"),
            (b"\x1b(Bcharset\x1b=", "charset"),
            (b"\xc2\x9b31mred as C1", "\x1b[31mred as C1"),
            (b"nul\0 bell\x07 back\x08", "nul bell back"),
            (b"a\tb", "a       b"),
            (b"\xff\xfe broken", "\u{fffd}\u{fffd} broken"),
            (b"cut short \x1b[31", "cut short "),
            ("ünïcode ✓".as_bytes(), "ünïcode ✓"),
        ];
        for (raw, wanted) in cases {
            assert_eq!(clean(raw), wanted, "{raw:?}");
        }
    }

    #[test]
    fn the_same_sequences_are_dropped_outside_of_the_log() {
        let texts = [
            "\u{1b}[31mred\u{1b}[0m",
            "\u{1b}[2J\u{1b}[1;1Hhome\u{1b}[2 q",
            "\u{1b}]0;title\u{7}after\u{1b}]8;;http://x/\u{1b}\\link",
            "\u{1b}(Bcharset\u{1b}=\u{1b}c\u{1b}7",
            "\u{1b}Pq#0\u{1b}\\device \u{1b}_apc\u{1b}\\\u{1b}^pm\u{1b}\\\u{1b}Xsos\u{1b}\\end",
            "\u{9b}31mred\u{9d}0;title\u{9c}C1\u{90}q\u{9c}",
            "cut \u{1b}[31",
            "cut \u{1b}]0;title",
            "cut \u{1b}",
        ];
        for text in texts {
            assert_eq!(masking::without_colours(&clean(text.as_bytes())), masking::without_escapes(text), "{text:?}");
        }
    }

    #[test]
    fn of_a_progress_bar_the_last_state_remains() {
        assert_eq!(clean(b" 10%\r 20%\r100%\r"), "100%");
        assert_eq!(clean(b"windows line\r"), "windows line");
        assert_eq!(clean(b"\r\r"), "");
    }

    #[test]
    fn a_line_of_colours_is_cut_between_them() {
        let whole = "ä\u{1b}[0;31mred\u{1b}[38;2;1;2;3m✓\u{1b}[0mm plain";
        let plain = masking::without_colours(whole);
        for limit in 0..=whole.len() + RESET.len() {
            let mut cut = whole.to_owned();
            shorten(&mut cut, limit);
            assert!(cut.len() <= limit.max(RESET.len()), "{limit}: {cut:?}");
            let shown = masking::without_colours(&(cut.clone() + " … [cut]"));
            let kept = shown.strip_suffix(" … [cut]").unwrap_or_else(|| panic!("{limit}: {cut:?}"));
            assert!(plain.starts_with(kept) && !kept.contains(['[', ';']), "{limit}: {kept:?}");
        }
    }

    #[test]
    fn a_cut_at_any_position_keeps_the_mark() {
        let mixed = "ä\u{1b}[0;31mred\u{1b}[38:2::1:2:3m✓\u{1b}[m\u{1b}[1mm 3; plain \u{1b}[0m".repeat(2);
        for padding in 0..mixed.len() {
            let whole = "x".repeat(TEXT_LIMIT - 2 * RESET.len() - padding) + &mixed.repeat(2);
            let text = cut(whole.clone(), whole.len() as u64);
            let mark = format!(" … [cut here: this line has {} bytes]", whole.len());
            assert!(text.len() <= TEXT_LIMIT, "{}", text.len());
            let shown = masking::without_colours(&text);
            let kept =
                shown.strip_suffix(&mark).unwrap_or_else(|| panic!("{padding}: {:?}", &text[TEXT_LIMIT - 200..]));
            assert!(masking::without_colours(&whole).starts_with(kept), "{padding}");
            // Only whole colours are kept, and the last one ends them.
            let before = text.strip_suffix(&mark).expect("the mark is whole");
            let is_whole = |after_esc: &str| {
                let numbers = after_esc.strip_prefix('[');
                numbers.is_some_and(|s| s.trim_start_matches(|c| matches!(c, '0'..=';')).starts_with('m'))
            };
            assert!(before.split(ESC).skip(1).all(is_whole), "{padding}");
            assert!(!before.contains(ESC) || before.ends_with(RESET), "{padding}");
        }
    }

    #[test]
    fn the_mark_of_a_line_of_colours_survives() {
        let colours = "\u{1b}[31m".repeat(60_000);
        let cut = cut(colours.clone(), colours.len() as u64);
        assert_eq!(masking::without_colours(&cut), " … [cut here: this line has 300000 bytes]");
        assert!(cut.contains("\u{1b}[0m … [cut here") && cut.len() <= TEXT_LIMIT);
    }

    #[test]
    fn a_long_line_is_cut_and_says_so() {
        let long = "ä".repeat(TEXT_LIMIT);
        let text = cut(long.clone(), long.len() as u64);
        assert!(text.len() <= TEXT_LIMIT);
        assert!(
            text.ends_with(&format!("… [cut here: this line has {} bytes]", long.len())),
            "{}",
            &text[text.len() - 80..]
        );
        assert_eq!(cut("short".into(), 5), "short");
    }
}
