//! Characters that look like those of YAML's syntax, or like nothing.

/// A character that is part of a text in YAML, but looks like something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lookalike {
    pub character: char,
    pub looks: Looks,
}

/// What it looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looks {
    Space,
    /// Like nothing.
    Invisible,
    /// Like nothing, but ansible ends the line there.
    LineBreak,
    /// A tab, which looks like the spaces that indent a line.
    Indentation,
    /// One of `:`, `-`, `"`, `'`, `{`, `}`, `[`, `]`, `,` and `#`.
    Sign(char),
}

impl Lookalike {
    /// `None` if the character looks like what it is. A tab looks like spaces only at the start of a line.
    pub(crate) fn of(character: char) -> Option<Self> {
        let looks = match character {
            '\u{A0}' | '\u{1680}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' | '\u{3164}' => {
                Looks::Space
            }
            '\u{AD}'
            | '\u{180E}'
            | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{FEFF}' => Looks::Invisible,
            '\u{85}' | '\u{2028}' | '\u{2029}' => Looks::LineBreak,
            '\u{FF1A}' | '\u{FE55}' | '\u{2236}' | '\u{A789}' | '\u{FE13}' => Looks::Sign(':'),
            '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{FF0D}' | '\u{FE63}' | '\u{FE58}' => Looks::Sign('-'),
            '\u{201C}'..='\u{201F}' | '\u{AB}' | '\u{BB}' | '\u{FF02}' | '\u{2033}' | '\u{301D}'..='\u{301F}' => {
                Looks::Sign('"')
            }
            '\u{2018}'..='\u{201B}' | '\u{2039}' | '\u{203A}' | '\u{FF07}' | '\u{2032}' | '\u{B4}' | '\u{2BC}' => {
                Looks::Sign('\'')
            }
            '\u{FF5B}' => Looks::Sign('{'),
            '\u{FF5D}' => Looks::Sign('}'),
            '\u{FF3B}' => Looks::Sign('['),
            '\u{FF3D}' => Looks::Sign(']'),
            '\u{FF0C}' | '\u{3001}' => Looks::Sign(','),
            '\u{FF03}' => Looks::Sign('#'),
            _ => return None,
        };
        Some(Self { character, looks })
    }

    pub(crate) const TAB: Self = Self { character: '\t', looks: Looks::Indentation };

    pub(super) fn is_space(self) -> bool {
        matches!(self.looks, Looks::Space | Looks::Invisible | Looks::LineBreak | Looks::Indentation)
    }

    pub(super) fn is_sign(self, sign: char) -> bool {
        self.looks == Looks::Sign(sign)
    }

    pub(super) fn is_quote(self) -> bool {
        self.is_sign('"') || self.is_sign('\'')
    }

    /// What was probably meant.
    pub(super) fn meant(self) -> &'static str {
        match self.looks {
            Looks::Space => " ",
            Looks::Indentation => "  ",
            Looks::Sign(':') => ":",
            Looks::Sign('-') => "-",
            Looks::Sign('"') => "\"",
            Looks::Sign('\'') => "'",
            Looks::Sign('{') => "{",
            Looks::Sign('}') => "}",
            Looks::Sign('[') => "[",
            Looks::Sign(']') => "]",
            Looks::Sign(',') => ",",
            Looks::Sign('#') => "#",
            Looks::Invisible | Looks::LineBreak | Looks::Sign(_) => "",
        }
    }

    /// `U+00A0 (no-break space)`.
    pub(crate) fn named(self) -> String {
        let name = match self.character {
            '\t' => "tab",
            '\u{A0}' => "no-break space",
            '\u{202F}' => "narrow no-break space",
            '\u{3000}' => "ideographic space",
            '\u{AD}' => "soft hyphen",
            '\u{200B}' => "zero-width space",
            '\u{200C}' | '\u{200D}' | '\u{2060}' => "zero-width joiner",
            '\u{FEFF}' => "byte order mark",
            '\u{85}' => "next line",
            '\u{2028}' => "line separator",
            '\u{2029}' => "paragraph separator",
            '\u{FF1A}' => "full-width colon",
            '\u{FF0C}' => "full-width comma",
            '\u{2010}' | '\u{2011}' => "hyphen",
            '\u{2012}' | '\u{2013}' => "en dash",
            '\u{2014}' | '\u{2015}' => "em dash",
            '\u{2212}' => "minus sign",
            '\u{2018}'..='\u{201F}' => "curly quotation mark",
            _ => match self.looks {
                Looks::Space => "wide or narrow space",
                Looks::Invisible | Looks::LineBreak => "invisible character",
                Looks::Indentation => "tab",
                Looks::Sign(':') => "colon of another script",
                Looks::Sign('-') => "dash",
                Looks::Sign('"' | '\'') => "quotation mark of another script",
                Looks::Sign(_) => "full-width sign",
            },
        };
        format!("U+{:04X} ({name})", u32::from(self.character))
    }

    /// Why YAML doesn't read it as meant.
    pub(crate) fn is_none(self) -> String {
        let named = self.named();
        match self.looks {
            Looks::Space => format!("{named} is no space in YAML"),
            Looks::Indentation => format!("{named} can't indent a line in YAML"),
            Looks::Invisible => format!("{named} is invisible, but part of the text in YAML"),
            Looks::LineBreak => format!("{named} is invisible, but ends the line in YAML"),
            Looks::Sign('"' | '\'') => format!("{named} is no quotation mark in YAML"),
            Looks::Sign(sign) => format!("{named} is no “{sign}” in YAML"),
        }
    }

    /// What to do.
    pub(crate) fn instead(self) -> String {
        match self.looks {
            Looks::Space => "Write a space".into(),
            Looks::Indentation => "Write spaces".into(),
            Looks::Invisible => "Remove it".into(),
            Looks::LineBreak => "Remove it, or start a new line".into(),
            Looks::Sign(sign @ ('"' | '\'')) => format!("Write {sign}"),
            Looks::Sign(sign) => format!("Write “{sign}”"),
        }
    }
}
