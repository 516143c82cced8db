//! The sort order of a list.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The columns by which a list can be sorted. The default one sorts a list whose URL names none.
pub trait Column: Copy + Default + PartialEq + 'static {
    const ALL: &'static [Self];
    /// The name in the URL.
    fn name(self) -> &'static str;
}

/// A column, in its natural order or reversed. In a URL, a leading `-` reverses the order.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String", bound = "C: Column")]
pub struct Sort<C> {
    pub column: C,
    pub reversed: bool,
}

/// An unknown column means the default order.
impl<C: Column> From<&str> for Sort<C> {
    fn from(text: &str) -> Self {
        let (name, reversed) = text.strip_prefix('-').map_or((text, false), |name| (name, true));
        let column = C::ALL.iter().copied().find(|column| column.name() == name);
        column.map_or_else(Self::default, |column| Self { column, reversed })
    }
}

impl<C: Column> From<String> for Sort<C> {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl<C: Column> From<Sort<C>> for String {
    fn from(sort: Sort<C>) -> Self {
        sort.to_string()
    }
}

/// Empty for the default order.
impl<C: Column> fmt::Display for Sort<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::default() {
            return Ok(());
        }
        f.write_str(if self.reversed { "-" } else { "" })?;
        f.write_str(self.column.name())
    }
}

/// The text in quotation marks.
impl<C: Column> fmt::Debug for Sort<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::OperationColumn;

    #[test]
    fn an_order_survives_its_url_and_an_unknown_one_is_the_default() {
        let read = |text: &str| Sort::<OperationColumn>::from(text);
        for text in ["", "-submitted", "cluster", "-duration"] {
            assert_eq!(read(text).to_string(), text);
        }
        assert_eq!(read("no-such-column"), Sort::default());
        assert_eq!(read("submitted").to_string(), "", "the default is left out of URLs");
    }
}
