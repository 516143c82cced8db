//! Sets top-level variables in the text of a variables file. Everything else in the text stays: comments, order, quotes.
//!
//! As for inventories, the result is parsed again, and is refused unless the wanted variables are the only difference.

use std::ops::Range;

use super::text::Lines;
use crate::document::{self, Value};
use crate::vars::{Vars, parse_vars};

/// The variables file with these values, each written as YAML on one line. Existing variables are changed in place, others added at
/// the end.
///
/// # Errors
/// A sentence that says why the text can't be changed in this way.
pub fn set_variables(text: &str, values: &[(&str, String)]) -> Result<String, String> {
    let before = parse_vars(text).map_err(|why| why.to_string())?;
    let mut edited = if before.is_empty() { without_empty_mapping(text) } else { text.to_owned() };
    let mut wanted = before;
    for (name, value) in values {
        edited = set(&edited, name, value).ok_or_else(by_hand)?;
        let parsed = parse_vars(&format!("{name}: {value}\n")).map_err(|_| by_hand())?;
        wanted.extend(parsed);
    }
    let is_as_wanted = parse_vars(&edited).is_ok_and(|after: Vars| after == wanted);
    if is_as_wanted { Ok(edited) } else { Err(by_hand()) }
}

fn by_hand() -> String {
    "The variables can't be changed automatically, because the text has an unusual layout. Change them as YAML.".into()
}

/// A file without variables may hold `{}`, after which no variable can be added.
fn without_empty_mapping(text: &str) -> String {
    let is_kept = |line: &&str| !matches!(line.trim(), "{}" | "null" | "~");
    text.split_inclusive('\n').filter(is_kept).collect()
}

fn set(text: &str, name: &str, value: &str) -> Option<String> {
    let document = document::read(text).ok()?;
    let entries = match &document {
        Some(Value::Map(entries)) => entries.as_slice(),
        _ => &[],
    };
    let Some((key, _)) = entries.iter().find(|(key, _)| key.value == name) else {
        let line_break = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        return Some(format!("{text}{line_break}{name}: {value}\n"));
    };
    let entry = Lines::of(text).entry(key)?.removal;
    let old = old_value(&text[entry.clone()], entry.start)?;
    let mut edited = text.to_owned();
    edited.replace_range(old, &format!(" {value}"));
    Some(edited)
}

/// Where the value of `key: value # comment` is, from after the colon up to the comment or the line break. `start` is the offset of `entry`.
fn old_value(entry: &str, start: usize) -> Option<Range<usize>> {
    let colon = entry.find(':')? + 1;
    let line_end = entry.trim_end_matches(['\n', '\r']).len();
    let first = &entry[colon..entry.find('\n').unwrap_or(line_end)];
    let quote = first.trim_start().chars().next().filter(|c| matches!(c, '"' | '\''));
    let after_quoted = match quote {
        // Up to the quote that ends the text.
        Some(quote) => first.rfind(quote)? + 1,
        None => 0,
    };
    let comment = first[after_quoted..].find(" #").map(|at| after_quoted + at);
    match comment {
        // A comment on the line of the key, with a value that follows below: too unusual.
        Some(_) if line_end > colon + first.len() => None,
        Some(at) => {
            let value = first[..at].trim_end().len();
            Some(start + colon..start + colon + value)
        }
        None => Some(start + colon..start + line_end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_all(text: &str, values: &[(&str, &str)]) -> String {
        let values: Vec<_> = values.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        set_variables(text, &values).unwrap()
    }

    #[test]
    fn a_new_variable_is_added_at_the_end() {
        let pods = [("kube_pods_subnet", "10.1.0.0/16")];
        assert_eq!(set_all("", &pods), "kube_pods_subnet: 10.1.0.0/16\n");
        assert_eq!(set_all("# none yet\n{}\n", &pods), "# none yet\nkube_pods_subnet: 10.1.0.0/16\n");
        assert_eq!(set_all("a: 1", &pods), "a: 1\nkube_pods_subnet: 10.1.0.0/16\n");
    }

    #[test]
    fn a_variable_is_changed_in_place_and_comments_stay() {
        let text = "# ours\nkube_version: '1.33.1'   # pinned\nmotd: \"a # b\"\n";
        assert_eq!(
            set_all(text, &[("kube_version", "1.34.4"), ("motd", "hi")]),
            "# ours\nkube_version: 1.34.4   # pinned\nmotd: hi\n"
        );
    }

    #[test]
    fn a_mapping_is_replaced_as_a_whole() {
        let text = "loadbalancer_apiserver:\n  address: a\n  port: 1\nb: 2\n";
        let value = "{address: lb.example, port: 6443}";
        let expected = format!("loadbalancer_apiserver: {value}\nb: 2\n");
        assert_eq!(set_all(text, &[("loadbalancer_apiserver", value)]), expected);
    }

    #[test]
    fn a_layout_that_is_not_understood_is_refused() {
        for text in
            ["{a: 1}\n", "a: 1\n...\n", "? kube_version\n: 1.33.1\n", "kube_version: # pinned\n  1.33.1\n", "- a\n"]
        {
            assert!(set_variables(text, &[("kube_version", "1.34.4".into())]).is_err(), "{text}");
        }
    }
}
