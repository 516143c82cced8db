//! The colours of a log line: SGR escapes (ECMA-48, 8.3.117) become spans with CSS classes. All other escapes and control
//! characters are dropped.
//!
//! Other colours than the sixteen named ones become the nearest of these, so that a log is readable in both themes and needs
//! no inline styles. The parameters 38 and 48 are read as in ISO 8613-6, and as xterm reads them.
//!
//! Most of this file is about the meaning of SGR parameters, for which there is no crate in use here. Only the loop in
//! [`spans`] finds escapes. `anstyle-parse` could replace that loop, but not shorten the file, and it is 1 KB of Brotli larger
//! (measured in a program with this file alone). The page of a run has no such room: see `docs/benchmarks.md`.

/// A part of a line in one style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span<'a> {
    pub text: &'a str,
    pub style: Style,
}

/// The style of a span.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Style {
    pub front: Option<Colour>,
    pub back: Option<Colour>,
    pub bold: bool,
    pub dim: bool,
    pub italic: bool,
    pub underline: bool,
    pub strike: bool,
    pub inverse: bool,
}

/// One of the sixteen named colours: 0–7 are SGR 30–37, 8–15 are SGR 90–97.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour(u8);

impl Colour {
    pub(super) const RED: Self = Self(1);
    pub(super) const GREEN: Self = Self(2);
    pub(super) const YELLOW: Self = Self(3);
    pub(super) const CYAN: Self = Self(6);

    const FRONT: [&'static str; 16] = [
        "a-black",
        "a-red",
        "a-green",
        "a-yellow",
        "a-blue",
        "a-magenta",
        "a-cyan",
        "a-white",
        "a-gray",
        "a-red",
        "a-green",
        "a-yellow",
        "a-blue",
        "a-magenta",
        "a-cyan",
        "a-bright",
    ];
    const BACK: [&'static str; 16] = [
        "b-black",
        "b-red",
        "b-green",
        "b-yellow",
        "b-blue",
        "b-magenta",
        "b-cyan",
        "b-white",
        "b-gray",
        "b-red",
        "b-green",
        "b-yellow",
        "b-blue",
        "b-magenta",
        "b-cyan",
        "b-white",
    ];

    /// The colour without its brightness.
    pub(super) fn plain(self) -> Self {
        Self(self.0 % 8)
    }

    /// Entry `index` of xterm's palette of 256.
    fn of_palette(index: u8) -> Self {
        match index {
            0..=15 => Self(index),
            16..=231 => {
                let level = |i: u8| if i == 0 { 0 } else { 55 + 40 * i };
                let i = index - 16;
                Self::of_rgb(level(i / 36), level(i / 6 % 6), level(i % 6))
            }
            232..=255 => {
                let grey = 8 + 10 * (index - 232);
                Self::of_rgb(grey, grey, grey)
            }
        }
    }

    /// The nearest named colour by hue. Colours with little saturation become a grey by their lightness.
    fn of_rgb(r: u8, g: u8, b: u8) -> Self {
        let (r, g, b) = (i32::from(r), i32::from(g), i32::from(b));
        let (max, min) = (r.max(g).max(b), r.min(g).min(b));
        let (spread, light) = (max - min, (max + min) / 2);
        if spread < 40 {
            return match light {
                0..=47 => Self(0),
                48..=143 => Self(8),
                144..=223 => Self(7),
                _ => Self(15),
            };
        }
        let hue = match max {
            m if m == r => (60 * (g - b) / spread + 360) % 360,
            m if m == g => 60 * (b - r) / spread + 120,
            _ => 60 * (r - g) / spread + 240,
        };
        let base = match hue {
            0..=25 | 335..=360 => 1,
            26..=74 => 3,
            75..=164 => 2,
            165..=204 => 6,
            205..=264 => 4,
            _ => 5,
        };
        Self(if light > 150 { base + 8 } else { base })
    }
}

impl Style {
    /// Its classes in `style/`; `None` for the default style.
    #[must_use]
    pub fn classes(&self) -> Option<String> {
        let (front, back) = if self.inverse { (self.back, self.front) } else { (self.front, self.back) };
        let mut classes = Vec::new();
        classes.extend(front.map(|c| Colour::FRONT[usize::from(c.0)]));
        classes.extend(back.map(|c| Colour::BACK[usize::from(c.0)]));
        let inverse = self.inverse && front.is_none() && back.is_none();
        let flags = [
            (self.bold, "a-bold"),
            (self.dim, "a-dim"),
            (self.italic, "a-italic"),
            (self.underline, "a-underline"),
            (self.strike, "a-strike"),
            (inverse, "a-inverse"),
        ];
        classes.extend(flags.iter().filter(|(on, _)| *on).map(|(_, class)| *class));
        (!classes.is_empty()).then(|| classes.join(" "))
    }

    fn apply(&mut self, parameters: &str) {
        // Parameters with sub-parameters (`38:2::r:g:b`) are split later: an empty colour space must not shift the others.
        let mut codes = parameters.split(';');
        while let Some(code) = codes.next() {
            if code.contains(':') {
                self.apply_colon_form(code);
                continue;
            }
            match number(code) {
                Some(38) => self.front = extended(&mut codes).or(self.front),
                Some(48) => self.back = extended(&mut codes).or(self.back),
                Some(code) => self.apply_code(code),
                None => {}
            }
        }
    }

    fn apply_code(&mut self, code: u8) {
        match code {
            0 => *self = Self::default(),
            1 => self.bold = true,
            2 => self.dim = true,
            3 => self.italic = true,
            4 | 21 => self.underline = true,
            7 => self.inverse = true,
            9 => self.strike = true,
            22 => (self.bold, self.dim) = (false, false),
            23 => self.italic = false,
            24 => self.underline = false,
            27 => self.inverse = false,
            29 => self.strike = false,
            30..=37 => self.front = Some(Colour(code - 30)),
            39 => self.front = None,
            40..=47 => self.back = Some(Colour(code - 40)),
            49 => self.back = None,
            90..=97 => self.front = Some(Colour(code - 82)),
            100..=107 => self.back = Some(Colour(code - 92)),
            _ => {}
        }
    }

    fn apply_colon_form(&mut self, code: &str) {
        let parts: Vec<&str> = code.split(':').collect();
        let value = |at: usize| parts.get(at).and_then(|part| number(part));
        let colour = match (value(1), parts.len()) {
            (Some(5), _) => value(2).map(Colour::of_palette),
            // Five parts: without a colour space, as many programs write it. Otherwise with one.
            (Some(2), 5) => rgb(value(2), value(3), value(4)),
            (Some(2), _) => rgb(value(3), value(4), value(5)),
            _ => None,
        };
        match parts[0] {
            "38" => self.front = colour.or(self.front),
            "48" => self.back = colour.or(self.back),
            "4" => self.underline = value(1) != Some(0),
            _ => {}
        }
    }
}

/// `5;n` or `2;r;g;b` after 38 or 48.
fn extended<'a>(codes: &mut impl Iterator<Item = &'a str>) -> Option<Colour> {
    let mut next = || codes.next().and_then(number);
    match next()? {
        5 => next().map(Colour::of_palette),
        2 => rgb(next(), next(), next()),
        _ => None,
    }
}

fn rgb(r: Option<u8>, g: Option<u8>, b: Option<u8>) -> Option<Colour> {
    Some(Colour::of_rgb(r?, g?, b?))
}

/// An absent parameter is 0. A number above 255 is `None`.
fn number(code: &str) -> Option<u8> {
    if code.is_empty() { Some(0) } else { code.parse().ok() }
}

/// The spans of a line, in order.
#[must_use]
pub fn spans(text: &str) -> Vec<Span<'_>> {
    let mut spans: Vec<Span<'_>> = Vec::new();
    let mut style = Style::default();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(char::is_control).unwrap_or(rest.len());
        if end > 0 {
            spans.push(Span { text: &rest[..end], style });
        }
        rest = &rest[end..];
        if let Some(sequence) = rest.strip_prefix("\u{1b}[") {
            // Parameters, then one final byte. If that is missing, the line was cut here, and what follows is text.
            let end = sequence.find(|c: char| !matches!(c, '0'..='?')).unwrap_or(sequence.len());
            rest = &sequence[end..];
            if let Some(after) = rest.strip_prefix(|c| matches!(c, '@'..='~')) {
                if rest.starts_with('m') {
                    style.apply(&sequence[..end]);
                }
                rest = after;
            }
        } else if !rest.is_empty() {
            let mut after = rest.chars();
            after.next();
            rest = after.as_str();
        }
    }
    spans
}

/// The number of characters that are shown. Those of East Asian scripts and emoji are as wide as two others.
#[must_use]
pub fn width(text: &str) -> usize {
    let wide = |c| matches!(c, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{ff60}' | '\u{1f300}'..='\u{1faff}');
    spans(text).iter().flat_map(|span| span.text.chars()).map(|c| 1 + usize::from(wide(c))).sum()
}

/// The text without its colours.
#[must_use]
pub fn plain(text: &str) -> String {
    spans(text).into_iter().map(|span| span.text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn styled(text: &str) -> Vec<(String, String)> {
        let classes = |style: Style| style.classes().unwrap_or_default();
        spans(text).into_iter().map(|span| (span.text.to_owned(), classes(span.style))).collect()
    }

    fn one(text: &str) -> String {
        styled(text).remove(0).1
    }

    #[test]
    fn ansible_colours_become_classes() {
        let line = "\u{1b}[0;32mok: [a]\u{1b}[0m => done";
        assert_eq!(styled(line), [("ok: [a]".into(), "a-green".into()), (" => done".into(), String::new())]);
        assert_eq!(one("\u{1b}[1;31mx"), "a-red a-bold");
        assert_eq!(one("\u{1b}[mx"), "");
    }

    #[test]
    fn other_colours_become_the_nearest_named_one() {
        assert_eq!(one("\u{1b}[38;5;196mx"), "a-red");
        assert_eq!(one("\u{1b}[38;5;244mx"), "a-gray");
        assert_eq!(one("\u{1b}[38;2;30;200;60mx"), "a-green");
        assert_eq!(one("\u{1b}[38:2::255:165:0mx"), "a-yellow");
        assert_eq!(one("\u{1b}[38:2:0:0:255mx"), "a-blue");
        assert_eq!(one("\u{1b}[48;5;21;1mx"), "b-blue a-bold", "parameters after a palette colour are read");
    }

    #[test]
    fn attributes_go_on_and_off() {
        let line = "\u{1b}[1;3;4;9mx\u{1b}[22;23;24;29my";
        assert_eq!(styled(line)[0].1, "a-bold a-italic a-underline a-strike");
        assert_eq!(styled(line)[1].1, "");
        assert_eq!(one("\u{1b}[7mx"), "a-inverse");
        assert_eq!(one("\u{1b}[31;7mx"), "b-red");
    }

    #[test]
    fn everything_else_is_inert() {
        assert_eq!(plain("a\u{1b}[2Jb\u{1b}]8;;http://x\u{7}c\u{8}\u{0}d"), "ab]8;;http://xcd");
        assert_eq!(plain("cut \u{1b}[38;5"), "cut ");
        assert_eq!(plain("\u{1b}[38;5 … [cut here]"), " … [cut here]");
        assert_eq!(plain("\u{1b}"), "");
        assert_eq!(one("\u{1b}[38;5;999;31mx"), "a-red", "an invalid number changes nothing");
        assert_eq!(plain("<b>&</b> ä€\u{9b}31m"), "<b>&</b> ä€31m");
    }
}
