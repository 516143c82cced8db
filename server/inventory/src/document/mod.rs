//! Reads YAML with limits, and keeps the position of every key.

mod dates;
mod mistakes;
mod reading;
mod scalars;
mod tabs;
mod unreadable;

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value as Json};
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{
    DuplicateKeyPolicy, Error, Location, MessageFormatter, NonFiniteFloatPolicy, Spanned, UserMessageFormatter,
    from_str_with_options,
};

pub use self::reading::Reading;
pub(crate) use self::scalars::scalars;
use self::scalars::{Place, Scalars};
use crate::invalid::{Invalid, Kind};
use crate::limits;

/// A key and its position. Values have no position: `Spanned` around every value would triple the stack that each level of
/// nesting takes.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) value: String,
    /// Where the text has it. For a key of a merged mapping: where it is merged.
    pub(crate) referenced: Location,
    /// Where the text of a merged or repeated key is.
    pub(crate) defined: Place,
    /// What ansible reads the key as, if not as a text: a name such as `1001` or `on` without quotes.
    pub(crate) read_as: Option<Reading>,
    /// The same for the value below it, if that is a single one.
    pub(crate) value_read_as: Option<Reading>,
}

/// A YAML value. Tags of applications are dropped: a `!vault |` value is the text below it.
#[derive(Debug)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Value>),
    Map(Vec<(Key, Value)>),
}

/// Reads one document. `None` if it has nothing but comments.
///
/// It is read as YAML 1.1, like ansible does: `yes` is true, and `<<` merges. One thing is stricter: a duplicate key is an
/// error, while ansible only logs a warning. A few plain scalars become other values than in ansible (`12:30:45`, `1e3`,
/// `0o17`, `y`, `089`). This only affects summaries, because ansible reads the file itself.
pub(crate) fn read(text: &str) -> Result<Option<Value>, Invalid> {
    if text.len() > limits::BYTES {
        return Err(Invalid::whole(Kind::TooLarge { bytes: text.len() }));
    }
    refuse_control_characters(text)?;
    if text.lines().map(str::trim).all(|line| line.is_empty() || line.starts_with('#')) {
        return Ok(None);
    }
    let (mut value, readable) = match value_of(text) {
        Ok(value) => (value, Cow::Borrowed(text)),
        Err(why) => {
            let spaced = tabs::as_spaces(text);
            let readable = spaced.as_deref().unwrap_or(text);
            match spaced.as_deref().map(value_of) {
                Some(Ok(value)) => (value, Cow::Owned(readable.to_owned())),
                other => {
                    // A tab may stand where ansible reads it. Then the text with spaces has the error that counts.
                    let why = other.and_then(Result::err).unwrap_or(why);
                    let is_before = |tab: &Invalid| {
                        matches!(why.kind, Kind::NotYaml { .. }) && tab.line <= why.line.map(|line| line + 1)
                    };
                    return Err(tabs::refused(text, readable).filter(is_before).unwrap_or(why));
                }
            }
        }
    };
    if let Some(why) = tabs::refused(text, &readable) {
        return Err(why);
    }
    let scalars = Scalars::of(&readable);
    if let Some(((line, column), why)) = scalars.refused {
        return Err(Invalid::at(line as usize, column as usize, why));
    }
    value.note(&scalars);
    Ok(Some(value).filter(|value| !matches!(value, Value::Null)))
}

fn value_of(text: &str) -> Result<Value, Invalid> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: limits::DEPTH,
            max_aliases: limits::ALIASES,
            max_anchors: limits::ALIASES,
            max_merge_keys: limits::ALIASES,
            max_nodes: limits::VALUES,
            max_events: limits::VALUES * 3,
            max_recorded_anchor_events: limits::VALUES,
            max_recorded_anchor_bytes: limits::VALUE_BYTES,
            max_total_scalar_bytes: limits::VALUE_BYTES,
            enforce_alias_anchor_ratio: false,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: limits::VALUES,
            max_replay_stack_depth: 16,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        legacy_octal_numbers: true,
        ignore_binary_tag_for_string: true,
        with_snippet: false,
    };
    from_str_with_options(&dates::as_texts(text), options).map_err(|e| refusal(&e, text))
}

// Ansible's YAML reader also refuses these, with a Python traceback. Here a binary file gets an error that names the
// character.
fn refuse_control_characters(text: &str) -> Result<(), Invalid> {
    let strange = |c: char| {
        (c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}')) || matches!(c, '\u{FFFE}' | '\u{FFFF}')
    };
    let Some((offset, c)) = text.char_indices().find(|&(_, c)| strange(c)) else { return Ok(()) };
    let before = &text[..offset];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
    Err(Invalid::at(line, column, Kind::ControlCharacter { code: u32::from(c) }))
}

fn refusal(error: &Error, text: &str) -> Invalid {
    let kind = match innermost(error) {
        Error::DuplicateMappingKey { key, .. } => {
            Kind::DuplicateKey { key: key.clone().unwrap_or_else(|| "a key".into()) }
        }
        Error::Budget { breach, .. } => match breach {
            BudgetBreach::Depth { .. } => Kind::TooDeep,
            BudgetBreach::Events { .. } | BudgetBreach::Nodes { .. } | BudgetBreach::ScalarBytes { .. } => {
                Kind::TooManyValues
            }
            _ => Kind::TooManyAliases,
        },
        Error::AliasReplayLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayCounterOverflow { .. } => Kind::TooManyAliases,
        Error::RecursiveReferencesRequireWeakTypes { .. } => Kind::EndlessAlias,
        Error::MultipleDocuments { .. } => Kind::SeveralDocuments,
        Error::Eof { .. } => Kind::Empty,
        other => Kind::NotYaml { what: what(&UserMessageFormatter.format_message(other)) },
    };
    let at = error.location().filter(|at| at.line() > 0);
    // The parser's own words about a tag or value don't say what to do.
    if let (Kind::NotYaml { .. }, Some(at)) = (&kind, at)
        && let Some(((line, column), why)) = Scalars::of(text).refused
        && u64::from(line) == at.line()
    {
        return Invalid::at(line as usize, column as usize, why);
    }
    match at.map(|at| (at.line() as usize, at.column() as usize)) {
        Some((line, column)) => {
            let kind = match kind {
                Kind::NotYaml { what } => Kind::NotYaml { what: mistakes::advice(text, line, column).unwrap_or(what) },
                other => other,
            };
            Invalid::at(line, column, kind)
        }
        None => Invalid::whole(kind),
    }
}

fn innermost(error: &Error) -> &Error {
    match error {
        Error::WithSnippet { error, .. } | Error::AliasError { error, .. } => innermost(error),
        other => other,
    }
}

fn what(message: &str) -> String {
    message
        .chars()
        .take(200)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect::<String>()
        .trim_end_matches('.')
        .into()
}

impl Value {
    /// The kind of value, for “must be a mapping, but it is …”.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "empty",
            Self::Bool(_) => "true or false",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Map(_) => "a mapping",
        }
    }

    /// Notes at every key what ansible reads it as. The limit of the document's depth also limits the recursion.
    fn note(&mut self, scalars: &Scalars) {
        match self {
            Self::Map(entries) => {
                for (key, value) in entries {
                    let place = key.defined;
                    if let Some((spelling, read_as)) = scalars.key(place) {
                        key.value = spelling.to_owned();
                        key.read_as = Some(read_as);
                    }
                    key.value_read_as = scalars.value(place);
                    value.note(scalars);
                }
            }
            Self::List(items) => items.iter_mut().for_each(|item| item.note(scalars)),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) => {}
        }
    }

    pub(crate) fn to_json(&self) -> Json {
        match self {
            Self::Null => Json::Null,
            Self::Bool(b) => Json::Bool(*b),
            Self::Number(n) => Json::Number(n.clone()),
            Self::Text(t) => Json::String(t.clone()),
            Self::List(items) => items.iter().map(Self::to_json).collect(),
            Self::Map(entries) => Json::Object(to_object(entries)),
        }
    }
}

/// The entries of a mapping, in their order.
pub(crate) fn to_object(entries: &[(Key, Value)]) -> Map<String, Json> {
    entries.iter().map(|(key, value)| (key.value.clone(), value.to_json())).collect()
}

/// An error of this kind at the position of a key.
pub(crate) fn at(place: &Key, kind: Kind) -> Invalid {
    Invalid::at(place.referenced.line() as usize, place.referenced.column() as usize, kind)
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // `None` is a null without quotes. `Value::note` has its spelling.
        let Spanned { value, referenced, defined } = Spanned::<Option<String>>::deserialize(deserializer)?;
        let value = value.unwrap_or_default();
        let defined = scalars::place(defined.line() as usize, defined.column() as usize);
        Ok(Self { value, referenced, defined, read_as: None, value_read_as: None })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or_else(|| Value::Text(value.to_string()), Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Value::Map(entries))
    }
}
