//! Which character is the cause of an error: the text is corrected on trial, and read again.

use super::{Found, Lookalike, Looks, in_syntax};
use crate::document::scalars;
use crate::invalid::{Invalid, Kind};

/// How many such characters are corrected on trial. Each doubling costs one more reading.
const CANDIDATES: usize = 1024;

/// Reads a text. If that fails because of such a character, the error names the character, in its own line.
pub(crate) fn explained<T>(text: &str, read: impl Fn(&str) -> Result<T, Invalid>) -> Result<T, Invalid> {
    let result = read(text);
    if matches!(&result, Err(error) if matches!(error.kind, Kind::TooLarge { .. } | Kind::ControlCharacter { .. })) {
        return result;
    }
    if let Some(found) = line_break(text)
        && is_misread(text, &result, &read)
    {
        return Err(Invalid::at(found.line, found.column, Kind::Lookalike { found: found.found }));
    }
    let Err(error) = result else { return result };
    if matches!(error.kind, Kind::Lookalike { .. } | Kind::TextStartsWithTab { .. }) {
        return Err(error);
    }
    let cause = TRIALS.iter().find_map(|trial| trial.cause(text, &error, |text| read(text).err()));
    Err(cause.map_or(error, |Found { line, column, found, .. }| Invalid::at(line, column, Kind::Lookalike { found })))
}

/// One way to correct a text.
struct Trial {
    /// Characters that may be the cause, in their order.
    candidates: fn(&str) -> Vec<Found>,
    /// What to write in their lines in place of each such character, also at the start of a line. `None` keeps it.
    instead: fn(Lookalike, bool) -> Option<&'static str>,
}

const TRIALS: [Trial; 3] = [
    Trial { candidates: in_syntax, instead: |found, _| Some(if found.is_sign(':') { ": " } else { found.meant() }) },
    // A wide space may stand for two.
    Trial {
        candidates: odd_indentation,
        instead: |found, is_start| (is_start && found.looks == Looks::Space).then_some("  "),
    },
    Trial { candidates: odd_spaces, instead: |found, _| is_odd_space(found).then(|| found.meant()) },
];

impl Trial {
    /// The first character that causes an error. `read` is the error of a text.
    fn cause(&self, text: &str, error: &Invalid, read: impl Fn(&str) -> Option<Invalid>) -> Option<Found> {
        let mut all = (self.candidates)(text);
        all.truncate(CANDIDATES);
        if all.is_empty() {
            return None;
        }
        // The error that stays if all these characters but the first ones are corrected.
        let after = |skipped: usize| {
            let corrected = self.corrected(text, &all[skipped..]);
            read(&corrected).map(|error| Place::of(&error, &corrected))
        };
        let (before, best) = (Place::of(error, text), after(0));
        // If the text has other errors, too, it can only be read further.
        let is_corrected = |after: Option<Place>| match (after, &best) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(after), Some(_)) => after.is_further_than(&before),
        };
        if !is_corrected(best.clone()) {
            return None;
        }
        let cause = last_true(all.len(), |skipped| is_corrected(after(skipped)));
        Some(all.swap_remove(cause))
    }

    /// The text with the likely meaning of these characters, and of those behind them in their lines.
    fn corrected(&self, text: &str, found: &[Found]) -> String {
        let first = found.first().map_or(text.len(), |found| found.at);
        let mut out = String::with_capacity(text.len());
        let mut start = 0;
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            let is_of_found = found.binary_search_by_key(&number, |found| found.line).is_ok();
            let mut is_start = true;
            for (at, c) in line.char_indices() {
                let odd = if c == '\t' && is_start { Some(Lookalike::TAB) } else { Lookalike::of(c) };
                is_start &= c == ' ' || odd.is_some_and(Lookalike::is_space);
                let odd = odd.filter(|_| is_of_found && start + at >= first);
                match odd.and_then(|odd| (self.instead)(odd, is_start)) {
                    Some(instead) => out.push_str(instead),
                    None => out.push(c),
                }
            }
            start += line.len();
        }
        out
    }
}

fn odd_indentation(text: &str) -> Vec<Found> {
    let is_first = |found: &Found| text[..found.at].trim_end_matches(' ').chars().next_back().is_none_or(|c| c == '\n');
    in_syntax(text).into_iter().filter(|found| found.found.looks == Looks::Space && is_first(found)).collect()
}

/// All odd spaces, but not those in lines with nothing but a comment.
fn odd_spaces(text: &str) -> Vec<Found> {
    let mut all = Vec::new();
    let mut start = 0;
    for (line, content) in (1..).zip(text.split_inclusive('\n')) {
        if !content.trim_start_matches(' ').starts_with('#') {
            let chars = (1..).zip(content.char_indices());
            all.extend(chars.filter_map(|(column, (at, c))| {
                let found = Lookalike::of(c).filter(|found| is_odd_space(*found))?;
                Some(Found { at: start + at, line, column, found })
            }));
        }
        start += content.len();
    }
    all
}

fn is_odd_space(found: Lookalike) -> bool {
    matches!(found.looks, Looks::Space | Looks::Invisible)
}

/// An error and its place.
#[derive(Clone)]
struct Place {
    error: Invalid,
    /// How many characters its line has behind it.
    rest: usize,
}

impl Place {
    fn of(error: &Invalid, text: &str) -> Self {
        let line = error.line.and_then(|line| text.lines().nth(line.checked_sub(1)?)).unwrap_or_default();
        let rest = line.chars().count().saturating_sub(error.column.unwrap_or_default());
        Self { error: error.clone(), rest }
    }

    /// Whether a text was read further. A correction in the line itself moves the place, too.
    fn is_further_than(&self, before: &Self) -> bool {
        let is_other = self.error.kind != before.error.kind;
        match (before.error.line, self.error.line) {
            (Some(first), Some(line)) if line == first => {
                is_other || self.error.column > before.error.column && self.rest < before.rest
            }
            (Some(first), Some(line)) => line > first,
            (Some(_), None) => true,
            (None, _) => is_other,
        }
    }
}

/// Line breaks to ansible, but not to the parser.
const LINE_BREAKS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

fn line_break(text: &str) -> Option<Found> {
    let at = text.find(LINE_BREAKS)?;
    let found = text[at..].chars().next().and_then(Lookalike::of)?;
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let (line, column) = (text[..at].matches('\n').count() + 1, text[start..at].chars().count() + 1);
    Some(Found { at, line, column, found })
}

/// Whether such line breaks are why ansible, or the parser, can't read the text.
fn is_misread<T>(text: &str, result: &Result<T, Invalid>, read: impl Fn(&str) -> Result<T, Invalid>) -> bool {
    // A text in quotes may go on in the next line.
    let scalars = scalars(text);
    let is_quoted = |at: usize| {
        let next = scalars.partition_point(|scalar| scalar.range.start <= at);
        next > 0 && scalars[next - 1].is_quoted && scalars[next - 1].range.contains(&at)
    };
    let is_read = |instead: &str| {
        let mut out = String::with_capacity(text.len());
        for (at, c) in text.char_indices() {
            match c {
                c if !LINE_BREAKS.contains(&c) => out.push(c),
                _ if is_quoted(at) => out.push(' '),
                _ => out.push_str(instead),
            }
        }
        read(&out).is_ok()
    };
    match result {
        Ok(_) => !is_read("\n"),
        Err(_) => is_read("\n") || is_read(""),
    }
}

/// The last number below `end` for which `is_true`, if that is true for 0 and for no number after a false one.
fn last_true(end: usize, is_true: impl Fn(usize) -> bool) -> usize {
    let (mut last, mut end) = (0, end);
    while end - last > 1 {
        let middle = usize::midpoint(last, end);
        if is_true(middle) {
            last = middle;
        } else {
            end = middle;
        }
    }
    last
}
