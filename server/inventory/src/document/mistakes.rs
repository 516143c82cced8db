//! What to do about the mistakes that YAML's syntax invites. The parser only says what it hasn't found.

use granit_parser::{ErrorKind, Parser};

/// Why YAML can't be read at this place, both from 1, and what to do: behind “this is not YAML: ”. `None` for rare mistakes.
pub(super) fn advice(text: &str, line: usize, column: usize) -> Option<String> {
    let own = text.lines().nth(line.checked_sub(1)?).unwrap_or_default();
    if own.chars().skip(column.saturating_sub(2)).take(2).eq("{{".chars()) {
        return Some(
            "a value that starts with “{{” needs quotes, because “{” starts a mapping. Write it in quotes".into(),
        );
    }
    let mut read = 0;
    for event in Parser::new_from_str(text) {
        match event {
            Ok((_, span)) => read = span.end.byte_offset().unwrap_or(read),
            Err(error) => return of_syntax(error.kind(), text, own, (line, column), read),
        }
    }
    None
}

/// `own`: the line of the error. `read`: how many bytes the parser has understood.
fn of_syntax(kind: &ErrorKind, text: &str, own: &str, (line, column): (usize, usize), read: usize) -> Option<String> {
    let says = match kind {
        ErrorKind::InvalidQuotedScalarIndent | ErrorKind::UnclosedQuotedScalar => return of_quotes(text, line, read),
        ErrorKind::MappingValueNotAllowed => return Some(of_colon(text, own, line, column)),
        ErrorKind::UnexpectedCharacter { character } => {
            return Some(format!("a value can't start with “{character}”. Write it in quotes"));
        }
        ErrorKind::InvalidTrailingSingleQuotedScalar => {
            "text follows the closing quote. Write the whole value in quotes, and each apostrophe in it as ''"
        }
        ErrorKind::InvalidTrailingDoubleQuotedScalar => {
            "text follows the closing quote. Write the whole value in quotes, and each quote in it as \\\""
        }
        ErrorKind::UnknownQuotedScalarEscape | ErrorKind::InvalidQuotedScalarHexEscape => {
            "in double quotes, “\\” starts an escape, and this one doesn't exist. Write “\\” twice, or use single quotes"
        }
        ErrorKind::ExpectedBlockMappingKey | ErrorKind::ExpectedBlockSequenceEntry
            if own.trim_start().starts_with("- ") =>
        {
            "a list item (“- ”) can't follow here. Indent it below the name that it belongs to"
        }
        ErrorKind::ExpectedBlockMappingKey | ErrorKind::ExpectedBlockSequenceEntry | ErrorKind::InvalidIndentation => {
            "the indentation of this line fits no line above it. Indent it like the lines that it belongs to"
        }
        ErrorKind::BlockSequenceEntryNotAllowed => {
            "a list item (“- ”) can't start behind a name. Write each item in its own line below the name"
        }
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => {
            "this line has no “: ” behind its name. Write “name: value”, or indent the line if it belongs to the value above it"
        }
        ErrorKind::ExpectedFlowMappingSeparator
        | ErrorKind::ExpectedFlowSequenceSeparator
        | ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnexpectedEofFlowSequence
        | ErrorKind::InvalidFlowScalarIndent
        | ErrorKind::InvalidColonPlacement => {
            "a “[” or “{” is not closed, or a comma is missing. Close the bracket, or write the value in quotes if the \
             bracket is a part of it"
        }
        ErrorKind::MisplacedFlowCollectionEnd | ErrorKind::MismatchedFlowCollectionEnd { .. } => {
            "this bracket doesn't close an open one. Remove it, or write the value in quotes if the bracket is a part of it"
        }
        ErrorKind::UnknownAnchor => {
            "“*” refers to a value that no line above names with “&”. Write the value in quotes if “*” is a part of it"
        }
        ErrorKind::MissingAnchorOrAliasName => {
            "“&” and “*” need a name behind them. Write the value in quotes if the sign is a part of it"
        }
        ErrorKind::InvalidBlockScalarHeader => {
            "text follows “|” or “>” in the same line. Write it in the next line, indented, or write the value in quotes"
        }
        _ => return None,
    };
    Some(says.to_owned())
}

/// About a text in quotes that isn't closed, or whose next line isn't indented. YAML 1.1, and so ansible, would read the latter.
fn of_quotes(text: &str, line: usize, read: usize) -> Option<String> {
    let rest = text.get(read..)?;
    // Not an apostrophe within a word, such as in a comment.
    let begins = |start: &usize| {
        let before = text[..read + start].rsplit('\n').next().unwrap_or_default();
        let word = before.split_whitespace().next_back().unwrap_or("-");
        word.starts_with(['!', '&']) || word.ends_with([':', '-', '?', '[', '{', ','])
    };
    let start = rest.match_indices(['"', '\'']).map(|(start, _)| start).find(begins)?;
    let (quote, within) = rest[start..].split_at(1);
    let first = 1 + text[..read + start].matches('\n').count();
    if !within.contains(quote) {
        return Some(format!("the quoted text that starts in line {first} is not closed. Write “{quote}” at its end"));
    }
    Some(format!(
        "the quoted text that starts in line {first} goes on in line {line}, which YAML 1.2 wants indented further than its \
         name. Indent line {line}, write the text below “|”, or close the quote in line {first}"
    ))
}

/// About a “: ” where no name can be.
fn of_colon(text: &str, own: &str, line: usize, column: usize) -> String {
    if own.chars().take(column.saturating_sub(1)).collect::<String>().contains(": ") {
        return "the value contains “: ”, which separates a name from a value. Write the value in quotes".into();
    }
    let is_content = |content: &str| !content.trim().is_empty() && !content.trim_start().starts_with('#');
    let above = (1..line).zip(text.lines()).filter(|(_, content)| is_content(content)).last();
    let indentation = |content: &str| content.len() - content.trim_start().len();
    match above {
        Some((number, above)) if above.contains(": ") && indentation(own) > indentation(above) => format!(
            "line {line} is indented further than line {number}, which has a value already. Give both lines the same \
             indentation"
        ),
        Some((number, _)) => {
            format!("line {number} has no “: ” between a name and a value. Write “name: value” there")
        }
        None => "a “: ” can't be here. Write the value in quotes".into(),
    }
}
