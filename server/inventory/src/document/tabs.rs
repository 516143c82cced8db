//! Tabs where ansible allows only spaces. Its YAML reader, libyaml, is stricter than ours about some tabs, and takes others.

use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, StructureStyle};
use serde::de::IgnoredAny;

use crate::invalid::{Invalid, Kind};
use crate::lookalike::Lookalike;

/// The text with each tab that starts a line as one space, so that positions stay. `None` if it has none.
pub(super) fn as_spaces(text: &str) -> Option<String> {
    let mut is_start = true;
    let replaced = text.chars().map(|c| {
        let is_tab = is_start && c == '\t';
        is_start = c == '\n' || is_start && matches!(c, ' ' | '\t');
        if is_tab { ' ' } else { c }
    });
    let spaced: String = replaced.collect();
    (spaced != text).then_some(spaced)
}

/// The first tab that ansible refuses. `readable` is the text, or what [`as_spaces`] made of it.
pub(super) fn refused(text: &str, readable: &str) -> Option<Invalid> {
    // Ansible reads JSON with another reader.
    if !text.contains('\t') || serde_json::from_str::<IgnoredAny>(text).is_ok() {
        return None;
    }
    let nodes = Nodes::of(readable);
    let mut block: Option<Block> = None;
    let mut start = 0;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        block = nodes.block_from(start).or(block);
        if let Some((column, kind)) = in_line(&nodes, &mut block, text, start, line) {
            return Some(Invalid::at(number, column + 1, kind));
        }
        start += line.len();
    }
    None
}

/// The column, from 0, of a tab that ansible refuses in a line at `start`.
fn in_line(nodes: &Nodes, block: &mut Option<Block>, text: &str, start: usize, line: &str) -> Option<(usize, Kind)> {
    let line = line.trim_end_matches(['\n', '\r']);
    let spaces = line.len() - line.trim_start_matches(' ').len();
    let rest = &line[spaces..];
    let tab = Kind::Lookalike { found: Lookalike::TAB };
    if let Some(inside) = block {
        match inside.indentation {
            None if rest.starts_with('\t') => {
                return Some((spaces, inside.starts_with_tab(spaces, rest).unwrap_or(tab)));
            }
            None if rest.is_empty() => return None,
            None if spaces >= inside.least => {
                inside.indentation = Some(spaces);
                return None;
            }
            Some(indentation) if spaces >= indentation => return None,
            Some(_) if rest.starts_with('\t') => return Some((spaces, tab)),
            Some(_) if rest.is_empty() => return None,
            _ => *block = None,
        }
    }
    if rest.starts_with('\t') {
        return nodes.is_refused(text, start + spaces, spaces).then_some((spaces, tab));
    }
    if nodes.scalar_at(start + spaces).is_some() || nodes.is_in_flow(start + spaces) {
        return None;
    }
    after_signs(rest).map(|offset| (spaces + offset, tab))
}

/// The offset of a tab behind `-`, `?` or `:` at the start of an entry.
fn after_signs(entry: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(rest) = entry[at..].strip_prefix(['-', '?', ':']) {
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        if let Some(tab) = rest[..blanks].find('\t') {
            return Some(at + 1 + tab);
        }
        if blanks == 0 {
            return None;
        }
        at += 1 + blanks;
    }
    None
}

/// A text below `|` or `>`.
struct Block {
    /// The least indentation that its lines can have.
    least: usize,
    /// Known from the number behind the sign, or from the first line.
    indentation: Option<usize>,
}

impl Block {
    /// For a text that may start with a tab, such as a recipe of a Makefile.
    fn starts_with_tab(&self, spaces: usize, rest: &str) -> Option<Kind> {
        let number = (spaces + 1).checked_sub(self.least).filter(|number| (1..=9).contains(number))?;
        (!rest.trim().is_empty()).then_some(Kind::TextStartsWithTab { number })
    }
}

/// Where a text has scalars and mappings or lists in brackets, in bytes.
#[derive(Default)]
struct Nodes {
    scalars: Vec<Scalar>,
    flows: Vec<Range<usize>>,
    /// Where the first line below `|` or `>` starts, the least indentation, and the number behind the sign.
    blocks: Vec<(usize, usize, Option<usize>)>,
}

struct Scalar {
    range: Range<usize>,
    style: ScalarStyle,
    /// The least indentation of its further lines.
    least: usize,
}

/// What a node is in, with its column.
enum Around {
    Map(usize),
    List(usize),
    Brackets,
}

impl Around {
    fn column(&self) -> Option<usize> {
        match self {
            Self::Map(column) | Self::List(column) => Some(*column),
            Self::Brackets => None,
        }
    }
}

impl Nodes {
    fn of(text: &str) -> Self {
        let mut nodes = Self::default();
        let mut around: Vec<Around> = Vec::new();
        let (mut flow_start, mut before) = (0, 0);
        for event in Parser::new_from_str(text) {
            let Ok((event, span)) = event else { break };
            let (Some(start), Some(end)) = (span.start.byte_offset(), span.end.byte_offset()) else { continue };
            let is_in_flow = matches!(around.last(), Some(Around::Brackets));
            match event {
                Event::Scalar(_, style, ..) => {
                    let least = around.iter().rev().find_map(Around::column).map_or(0, |column| column + 1);
                    if matches!(style, ScalarStyle::Literal | ScalarStyle::Folded) {
                        nodes.blocks.push(below_sign(text, before, start, least));
                    }
                    nodes.scalars.push(Scalar { range: start..end, style, least });
                }
                Event::SequenceStart(StructureStyle::Block, ..) => {
                    let column = match around.last() {
                        Some(Around::Map(key)) => column_of_list(text, start, span.start.col(), *key),
                        _ => span.start.col(),
                    };
                    around.push(Around::List(column));
                }
                Event::MappingStart(StructureStyle::Block, ..) => around.push(Around::Map(span.start.col())),
                Event::SequenceStart(..) | Event::MappingStart(..) => {
                    if !is_in_flow {
                        flow_start = start;
                    }
                    around.push(Around::Brackets);
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    around.pop();
                    if is_in_flow && !matches!(around.last(), Some(Around::Brackets)) {
                        nodes.flows.push(flow_start..end);
                    }
                }
                _ => {}
            }
            before = end;
        }
        nodes
    }

    /// The last scalar that starts at or before this offset.
    fn scalar_before(&self, at: usize) -> Option<&Scalar> {
        let next = self.scalars.partition_point(|scalar| scalar.range.start <= at);
        self.scalars.get(next.checked_sub(1)?)
    }

    fn scalar_at(&self, at: usize) -> Option<&Scalar> {
        self.scalar_before(at).filter(|scalar| scalar.range.contains(&at) && scalar.range.start < at)
    }

    fn is_in_flow(&self, at: usize) -> bool {
        let next = self.flows.partition_point(|flow| flow.start <= at);
        next > 0 && self.flows[next - 1].contains(&at)
    }

    /// Whether ansible refuses the tab at the start of a line.
    fn is_refused(&self, text: &str, at: usize, column: usize) -> bool {
        match self.scalar_before(at) {
            Some(scalar) if scalar.style == ScalarStyle::Plain && is_blank(text, scalar.range.end, at) => {
                column < scalar.least
            }
            Some(scalar) if scalar.range.contains(&at) => false,
            _ => !self.is_in_flow(at),
        }
    }

    /// The text below `|` or `>` that starts in the line at this offset.
    fn block_from(&self, start: usize) -> Option<Block> {
        let at = self.blocks.binary_search_by_key(&start, |(start, ..)| *start).ok()?;
        let (_, least, number) = self.blocks[at];
        Some(Block { least: least.max(1), indentation: number.map(|number| least.saturating_sub(1) + number) })
    }
}

fn is_blank(text: &str, from: usize, to: usize) -> bool {
    from >= to || text[from..to].chars().all(char::is_whitespace)
}

/// Where the first line of the text below `|` or `>` starts, its least indentation, and the number behind the sign.
fn below_sign(text: &str, before: usize, content: usize, least: usize) -> (usize, usize, Option<usize>) {
    let between = &text[before..content.max(before)];
    let is_sign = |(at, _): &(usize, &str)| between[..*at].ends_with([' ', '\t']);
    let sign = between.match_indices(['|', '>']).find(is_sign).map_or(0, |(at, _)| at + 1);
    let number = between[sign..].trim_start_matches(['-', '+']).chars().next().and_then(|c| c.to_digit(10));
    let line = between[sign..].find('\n').map_or(content, |end| before + sign + end + 1);
    (line, least, number.map(|number| number as usize))
}

/// The column of a list that is the value of a key in this column. The parser gives the place of the first item if the dash isn't
/// indented.
fn column_of_list(text: &str, start: usize, column: usize, key: usize) -> usize {
    let line = text[..start].rfind('\n').map_or(0, |end| end + 1);
    let is_dash = text[start..].starts_with('-') && text[line..start].trim().is_empty();
    if is_dash { column } else { key }
}
