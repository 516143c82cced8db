//! From the bytes of a line to text that is safe to store and to show.

/// Longest text of a line, in bytes; what is beyond is cut with a mark.
pub(crate) const TEXT_LIMIT: usize = 64 * 1024;

const ESC: char = '\u{1b}';

/// The text of a line as a person would have seen it:
/// - invalid UTF-8 becomes U+FFFD;
/// - of a progress bar that redraws itself with `\r` the last drawing stays;
/// - colours (SGR, `ESC [ … m`) stay, every other escape and control character is dropped; a tab becomes spaces.
pub(crate) fn clean(raw: &[u8]) -> String {
    let raw = last_drawing(raw);
    if raw.iter().all(|b| matches!(b, b' '..=b'~')) {
        return raw.iter().map(|b| *b as char).collect();
    }
    let text = String::from_utf8_lossy(raw);
    let mut out = String::with_capacity(text.len());
    let mut column = 0_usize;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            ESC => match chars.next() {
                Some('[') => control_sequence(&mut chars, &mut out),
                Some(']' | 'P' | 'X' | '^' | '_') => skip_string(&mut chars),
                // Designations and the like: intermediates, then one final character.
                Some(' '..='/') => drop(chars.find(|c| !matches!(c, ' '..='/'))),
                _ => {}
            },
            // The same introducers as one C1 character.
            '\u{9b}' => control_sequence(&mut chars, &mut out),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => skip_string(&mut chars),
            '\t' => {
                let spaces = 8 - column % 8;
                out.extend(std::iter::repeat_n(' ', spaces));
                column += spaces;
            }
            c if c.is_control() => {}
            c => {
                out.push(c);
                column += 1;
            }
        }
    }
    out
}

/// What follows the last `\r` that something was drawn after.
fn last_drawing(raw: &[u8]) -> &[u8] {
    let end = raw.iter().rposition(|b| *b != b'\r').map_or(0, |at| at + 1);
    let raw = &raw[..end];
    raw.iter().rposition(|b| *b == b'\r').map_or(raw, |at| &raw[at + 1..])
}

/// After `ESC [`: kept if it is a colour, else dropped. ECMA-48 5.4: parameters, intermediates, final byte.
fn control_sequence(chars: &mut std::str::Chars<'_>, out: &mut String) {
    let mut parameters = String::new();
    for c in chars.by_ref() {
        match c {
            ' '..='?' if parameters.len() < 64 => parameters.push(c),
            ' '..='?' => {}
            'm' if parameters.len() < 64 && parameters.chars().all(|c| c.is_ascii_digit() || c == ';' || c == ':') => {
                out.push(ESC);
                out.push('[');
                out.push_str(&parameters);
                out.push('m');
                return;
            }
            _ => return,
        }
    }
}

/// After an introducer of a string (OSC, DCS, …): up to BEL or ST.
fn skip_string(chars: &mut std::str::Chars<'_>) {
    let mut escaped = false;
    for c in chars.by_ref() {
        match c {
            '\u{7}' | '\u{9c}' => return,
            '\\' if escaped => return,
            c => escaped = c == ESC,
        }
    }
}

/// Text without the colours that [`clean`] left.
pub(crate) fn without_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(ESC) {
        out.push_str(&rest[..at]);
        rest = rest[at..].find('m').map_or("", |end| &rest[at + end + 1..]);
    }
    out.push_str(rest);
    out
}

/// Cuts a text over [`TEXT_LIMIT`]; `length` is how long the line was on the wire.
pub(crate) fn cut(mut text: String, length: u64) -> String {
    let mark = format!(" … [cut here: this line has {length} bytes]");
    if text.len() <= TEXT_LIMIT && length <= crate::upstream::RAW_LIMIT as u64 {
        return text;
    }
    let mut end = text.len().min(TEXT_LIMIT - mark.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text + &mark
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_colours_survive() {
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
    fn a_progress_bar_is_its_last_drawing() {
        assert_eq!(clean(b" 10%\r 20%\r100%\r"), "100%");
        assert_eq!(clean(b"windows line\r"), "windows line");
        assert_eq!(clean(b"\r\r"), "");
    }

    #[test]
    fn a_long_line_is_cut_with_a_mark() {
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

    #[test]
    fn a_download_has_no_colours() {
        assert_eq!(without_colours("\x1b[0;32mok\x1b[0m: m1"), "ok: m1");
    }
}
