//! Which keys, and which single values of keys, ansible reads as something else than a text.

use std::collections::HashMap;
use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, StructureStyle, Tag};

use super::reading::{Reading, reading};
use super::unreadable::{self, Shape};
use crate::invalid::Kind;

/// Line and column, from 1.
pub(crate) type Place = (u32, u32);

/// By the position of a key.
#[derive(Debug, Default)]
pub(super) struct Scalars {
    /// With their spelling.
    keys: HashMap<Place, (String, Reading)>,
    values: HashMap<Place, Reading>,
    all: Vec<Scalar>,
    /// The first value that ansible can't read.
    pub(super) refused: Option<(Place, Kind)>,
    /// Keys and values that are no text, by their anchors.
    anchored: HashMap<usize, (Place, String, Reading)>,
}

/// A key, or a single value.
#[derive(Debug)]
pub(crate) struct Scalar {
    /// In bytes.
    pub(crate) range: Range<usize>,
    pub(crate) is_key: bool,
    /// Without quotes, and not below `|` or `>`.
    pub(crate) is_plain: bool,
    pub(crate) is_quoted: bool,
}

impl Scalar {
    /// How the document has it.
    pub(crate) fn of<'t>(&self, document: &'t str) -> &'t str {
        &document[self.range.clone()]
    }
}

/// The keys and single values of a text in their order, up to the first error of syntax.
pub(crate) fn scalars(text: &str) -> Vec<Scalar> {
    Scalars::of(text).all
}

impl Scalars {
    /// Finds them in a text that was read before, so that its size and depth have limits.
    pub(super) fn of(source: &str) -> Self {
        let mut scalars = Self::default();
        let mut open: Vec<Collection> = Vec::new();
        // For each collection, whether it is in brackets.
        let mut brackets: Vec<bool> = Vec::new();
        let options = granit_parser::options! { emit_anchor_events: true };
        for event in Parser::new_from_str_with_options(source, options) {
            let Ok((event, span)) = event else { break };
            let place = place(span.start.line(), span.start.col() + 1);
            match event {
                Event::Scalar(text, style, anchor, tag) => {
                    let other = other_than_text(&text, style, tag.as_deref());
                    let node = Collection::take(&mut open, place);
                    scalars.refuse(place, unreadable::scalar(&text, style, tag.as_deref(), matches!(node, Node::Key)));
                    if let (Some(start), Some(end)) = (span.start.byte_offset(), span.end.byte_offset()) {
                        let is_plain = style == ScalarStyle::Plain;
                        if is_plain {
                            let is_in_brackets = brackets.last().is_some_and(|is| *is);
                            scalars.refuse(place, unreadable::colon(&source[start..], end - start, is_in_brackets));
                        }
                        let is_quoted = matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted);
                        let is_key = matches!(node, Node::Key);
                        scalars.all.push(Scalar { range: start..end, is_key, is_plain, is_quoted });
                    }
                    if let Some(other) = other {
                        scalars.note(node, place, &text, other);
                        if anchor != 0 {
                            scalars.anchored.insert(anchor, (place, text.into_owned(), other));
                        }
                    }
                }
                Event::Anchor(_, name) => {
                    if let Some((offset, why)) = unreadable::anchor(&name) {
                        let (line, column) = place;
                        scalars.refuse((line, column + offset), Some(why));
                    }
                }
                Event::Alias(anchor) => {
                    let node = Collection::take(&mut open, place);
                    if let Some((place, text, other)) = scalars.anchored.get(&anchor).cloned() {
                        scalars.note(node, place, &text, other);
                    }
                }
                Event::SequenceStart(style, _, tag) => {
                    brackets.push(style == StructureStyle::Flow);
                    Collection::take(&mut open, place);
                    open.push(Collection::List);
                    scalars.refuse(place, tag.and_then(|tag| unreadable::tagged(Shape::List, &tag)));
                }
                Event::MappingStart(style, _, tag) => {
                    brackets.push(style == StructureStyle::Flow);
                    Collection::take(&mut open, place);
                    open.push(Collection::Map(None));
                    scalars.refuse(place, tag.and_then(|tag| unreadable::tagged(Shape::Map, &tag)));
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    open.pop();
                    brackets.pop();
                }
                _ => {}
            }
        }
        scalars
    }

    fn refuse(&mut self, place: Place, why: Option<Kind>) {
        if self.refused.is_none() {
            self.refused = why.map(|why| (place, why));
        }
    }

    fn note(&mut self, node: Node, place: Place, text: &str, other: Reading) {
        match node {
            Node::Key => _ = self.keys.insert(place, (text.to_owned(), other)),
            Node::ValueOf(key) => _ = self.values.insert(key, other),
            Node::Item => {}
        }
    }

    pub(super) fn key(&self, place: Place) -> Option<(&str, Reading)> {
        self.keys.get(&place).map(|(text, other)| (text.as_str(), *other))
    }

    pub(super) fn value(&self, key: Place) -> Option<Reading> {
        self.values.get(&key).copied()
    }
}

/// Texts are far shorter than these numbers allow.
pub(super) fn place(line: usize, column: usize) -> Place {
    (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}

/// A list or mapping that hasn't ended.
enum Collection {
    List,
    /// With the key whose value comes next.
    Map(Option<Place>),
}

/// What a node of the document is.
#[derive(Clone, Copy)]
enum Node {
    Key,
    ValueOf(Place),
    /// Of a list, or the document itself.
    Item,
}

impl Collection {
    /// What the node at `place` is to the innermost collection.
    fn take(open: &mut [Self], place: Place) -> Node {
        let Some(Self::Map(key)) = open.last_mut() else { return Node::Item };
        match key.take() {
            Some(key) => Node::ValueOf(key),
            None => {
                *key = Some(place);
                Node::Key
            }
        }
    }
}

/// A tag of YAML such as `!!str` decides; without one, only a scalar without quotes may be something else than a text.
fn other_than_text(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Option<Reading> {
    match tag {
        Some(tag) => match unreadable::of_yaml(tag)?.as_ref() {
            "int" | "float" => Some(Reading::Number),
            "bool" => Some(Reading::Switch),
            "null" => Some(Reading::Null),
            "timestamp" => Some(Reading::Date),
            _ => None,
        },
        None if style == ScalarStyle::Plain => reading(text),
        None => None,
    }
}
