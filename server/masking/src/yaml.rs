//! YAML as a tree: what ansible's own reader gets from an inventory, a variables file or a playbook, with escapes, folding and
//! blocks resolved, and with the notation of each scalar. Duplicate keys, several documents and any tags are kept.

use std::collections::HashMap;

use granit_parser::{Event, Options, Parser, ScalarStyle};

/// How deeply maps and lists may be nested. A deeper text is read as text.
const DEEPEST: usize = 64;

/// Tags that ansible knows.
const TAGS: [&str; 13] =
    ["binary", "bool", "float", "int", "map", "null", "omap", "pairs", "seq", "set", "str", "timestamp", "unsafe"];

/// The documents of one text. Nodes are numbered; an alias is the number of the node that it repeats, so a map may contain
/// itself.
pub(crate) struct Documents {
    nodes: Vec<Node>,
    /// The topmost node of each document.
    pub(crate) roots: Vec<usize>,
}

pub(crate) enum Node {
    Scalar(Scalar),
    List(Vec<usize>),
    /// Keys and values in their order.
    Map(Vec<(usize, usize)>),
}

pub(crate) struct Scalar {
    pub(crate) text: String,
    /// Written without quotes and not as a block, so that it may be a number or a switch.
    pub(crate) is_plain: bool,
    /// What ansible-vault encrypted.
    pub(crate) is_vault: bool,
    /// Its lines as the document has them, if folding joins them.
    pub(crate) lines: Vec<String>,
    /// The tag and the name of the anchor of an empty scalar, with their sign and without: a password without quotes may look like one
    /// (`!hunter22`).
    pub(crate) marks: Vec<String>,
}

impl Documents {
    /// `None` if the text isn't YAML, or has neither a map nor a list.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut options = Options::default();
        (options.flow_nesting_limit, options.block_nesting_limit) = (DEEPEST, DEEPEST);
        let mut reading = Reading::default();
        let lines: Vec<&str> = text.lines().collect();
        for event in Parser::new_from_str_with_options(text, options) {
            let (event, span) = event.ok()?;
            let (first, last) = (span.start.line().saturating_sub(1), span.end.line().min(lines.len()));
            reading.take(event, lines.get(first..last).unwrap_or_default())?;
        }
        let Reading { nodes, roots, .. } = reading;
        let has_structure = roots.iter().any(|root| !matches!(nodes[*root], Node::Scalar(_)));
        has_structure.then_some(Self { nodes, roots })
    }

    pub(crate) fn node(&self, number: usize) -> &Node {
        &self.nodes[number]
    }

    /// The text of a scalar; `None` for a map or a list.
    pub(crate) fn text(&self, number: usize) -> Option<&str> {
        match self.node(number) {
            Node::Scalar(scalar) => Some(&scalar.text),
            Node::List(_) | Node::Map(_) => None,
        }
    }

    /// The entries of all maps that are scalars: the number of the map, the key, and the value.
    pub(crate) fn scalars(&self) -> impl Iterator<Item = (usize, &str, &str)> {
        let maps = self.nodes.iter().enumerate();
        let entries =
            maps.filter_map(|(map, node)| if let Node::Map(entries) = node { Some((map, entries)) } else { None });
        let entries = entries.flat_map(|(map, entries)| entries.iter().map(move |entry| (map, entry)));
        entries.filter_map(|(map, (key, value))| Some((map, self.text(*key)?, self.text(*value)?)))
    }

    /// Whether a map has a key without a value that is more than a name. In braces, YAML reads other notations so: `{password=…}`,
    /// `{ password => '…' }`.
    pub(crate) fn has_other_notation(&self) -> bool {
        let is_empty =
            |node: &usize| matches!(self.node(*node), Node::Scalar(value) if value.is_plain && is_empty(&value.text));
        let is_more = |key: &str| key.contains(|c: char| c.is_whitespace() || matches!(c, '=' | ':'));
        let entries =
            self.nodes.iter().filter_map(|node| if let Node::Map(entries) = node { Some(entries) } else { None });
        entries.flatten().any(|(key, value)| is_empty(value) && self.text(*key).is_some_and(is_more))
    }

    /// The text under `key` of maps that also have one of `others`, in any spelling.
    pub(crate) fn beside(&self, key: &[&str], others: &[&str]) -> impl Iterator<Item = &str> {
        let is_one_of = |node: &usize, names: &[&str]| {
            self.text(*node).is_some_and(|text| names.iter().any(|name| text.eq_ignore_ascii_case(name)))
        };
        let maps =
            self.nodes.iter().filter_map(|node| if let Node::Map(entries) = node { Some(entries) } else { None });
        let maps = maps.filter(move |entries| entries.iter().any(|(key, _)| is_one_of(key, others)));
        maps.flatten().filter(move |(name, _)| is_one_of(name, key)).filter_map(|(_, value)| self.text(*value))
    }

    /// The keys of all maps.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        let maps =
            self.nodes.iter().filter_map(|node| if let Node::Map(entries) = node { Some(entries) } else { None });
        maps.flatten().filter_map(|(key, _)| self.text(*key))
    }
}

/// Whether this is a plain scalar that isn't there: the reader writes it as `~`.
fn is_empty(text: &str) -> bool {
    matches!(text, "" | "~")
}

/// A line of a scalar without its name, its quotes and the backslash that joins it with the next one.
fn unquoted(line: &str) -> &str {
    let value =
        line.find([':', '"', '\'']).filter(|at| line[*at..].starts_with(": ")).map_or(line, |at| &line[at + 2..]);
    value.trim().trim_matches(['"', '\'']).trim_end_matches('\\')
}

#[derive(Default)]
struct Reading {
    nodes: Vec<Node>,
    roots: Vec<usize>,
    anchors: HashMap<usize, usize>,
    /// The maps and lists that haven't ended, the innermost last; a map also with the key whose value comes next.
    open: Vec<(usize, Option<usize>)>,
}

impl Reading {
    /// `source` has the lines of the event. `None` if the text has an alias without its anchor.
    fn take(&mut self, event: Event<'_>, source: &[&str]) -> Option<()> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_plain = style == ScalarStyle::Plain;
                let is_tagged = tag.is_some();
                let is_vault = tag.is_some_and(|tag| matches!(tag.suffix(), "vault" | "vault-encrypted"));
                let is_folded = source.len() > 1 && style != ScalarStyle::Literal;
                let lines = source.iter().filter(|_| is_folded).map(|line| unquoted(line));
                // The lines of a block also have the comment below it.
                let lines = lines.filter(|line| style == ScalarStyle::DoubleQuoted || text.contains(*line));
                let lines = lines.map(str::to_owned).collect();
                let is_marked = is_plain && is_empty(&text) && (is_tagged || anchor != 0);
                let line = source.first().filter(|_| is_marked).copied().unwrap_or_default();
                let marks = line.split([' ', ',', '[', ']', '{', '}']).filter(|word| word.starts_with(['!', '&']));
                let marks = marks.flat_map(|mark| [mark, mark.trim_matches(['!', '&', '<', '>'])]);
                let marks = marks.filter(|mark| !TAGS.contains(mark)).map(str::to_owned).collect();
                self.add(Node::Scalar(Scalar { text: text.into_owned(), is_plain, is_vault, lines, marks }), anchor);
            }
            Event::SequenceStart(_, anchor, _) => self.begin(Node::List(Vec::new()), anchor),
            Event::MappingStart(_, anchor, _) => self.begin(Node::Map(Vec::new()), anchor),
            Event::SequenceEnd | Event::MappingEnd => drop(self.open.pop()),
            Event::Alias(anchor) => {
                let node = *self.anchors.get(&anchor)?;
                self.place(node);
            }
            _ => {}
        }
        Some(())
    }

    fn begin(&mut self, node: Node, anchor: usize) {
        let number = self.add(node, anchor);
        self.open.push((number, None));
    }

    fn add(&mut self, node: Node, anchor: usize) -> usize {
        let number = self.nodes.len();
        self.nodes.push(node);
        self.anchors.insert(anchor, number);
        self.place(number);
        number
    }

    /// Puts a node where the text has it: into the innermost map or list that hasn't ended.
    fn place(&mut self, number: usize) {
        let Some((parent, key)) = self.open.last_mut() else { return self.roots.push(number) };
        match (&mut self.nodes[*parent], key.take()) {
            (Node::Map(entries), Some(key)) => entries.push((key, number)),
            (Node::Map(_), None) => *key = Some(number),
            (Node::List(items), _) => items.push(number),
            (Node::Scalar(_), _) => unreachable!("a scalar contains nothing"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_a_map_or_list_is_no_document() {
        for text in ["", "# nothing\n", "plain text", "a: [", "a: *b", "a: b\n c: d", &"[".repeat(1000)] {
            assert!(Documents::read(text).is_none(), "{text}");
        }
    }

    #[test]
    fn scalars_are_what_ansible_gets() {
        let read = Documents::read("a: &x \"b\\x63\\\n  d\"\nf: >-\n  g\n  h\n---\n- *x\n").map(|read| read.roots);
        assert!(read.is_none(), "an anchor belongs to its document");
        let read = Documents::read("a: &x \"b\\x63\\\n  d\"\nf: >-\n  g\n  h\ni: *x\nj: !vault |\n  k\n").unwrap();
        let Node::Map(entries) = read.node(read.roots[0]) else { panic!("a map") };
        let values: Vec<_> = entries.iter().map(|(_, value)| read.text(*value).unwrap()).collect();
        assert_eq!(values, ["bcd", "g h", "bcd", "k\n"]);
        assert!(matches!(read.node(entries[3].1), Node::Scalar(scalar) if scalar.is_vault && !scalar.is_plain));
        assert_eq!(read.keys().collect::<Vec<_>>(), ["a", "f", "i", "j"]);
    }

    #[test]
    fn a_map_may_contain_itself() {
        let read = Documents::read("a: &a\n  b: *a\n");
        assert!(read.is_none_or(|read| read.roots.len() == 1));
    }
}
