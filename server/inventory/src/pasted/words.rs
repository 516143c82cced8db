//! Splits a pasted line into words, by the rules of ansible's ini inventories.

use serde_json::Value;

/// Splits a line at white space. Quotes keep a word together and are removed (`args='-o ProxyJump=x'`). A `#` at the start
/// of a word, or a `;` at the start of the line, starts a comment.
pub(super) fn split(line: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    if let Some(c) = line.chars().find(|c| c.is_control() && *c != '\t') {
        return Err(format!(
            "This line contains the control character U+{:04X}, so it is not plain text.",
            u32::from(c)
        ));
    }
    if line.trim_start().starts_with(';') {
        return Ok(words);
    }
    for c in line.trim_start_matches('\u{FEFF}').chars() {
        match (c, quote) {
            (c, Some(q)) if c == q => quote = None,
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            ('#', None) if word.is_none() => break,
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err("A quotation mark is not closed.".into());
    }
    words.extend(word);
    Ok(words)
}

/// The value of a variable. As in an ini inventory, `True` and `False` are booleans, and whole numbers are numbers.
pub(super) fn value(text: &str) -> Value {
    let number = || text.parse::<i64>().ok().filter(|n| n.to_string() == text);
    match text {
        "True" => Value::Bool(true),
        "False" => Value::Bool(false),
        _ => number().map_or_else(|| Value::String(text.to_owned()), Value::from),
    }
}
