//! Label selectors: `a`, `!a`, `a=1`, `a!=1`, `a in (1,2)`, `a notin (1,2)`, `a>0`, `a<2`, joined by commas.

use serde_json::Value;

use crate::failure::Failure;
use crate::object;

#[derive(Debug, Default, PartialEq)]
pub(super) struct LabelSelector(Vec<(String, Test)>);

#[derive(Debug, PartialEq)]
enum Test {
    Exists,
    Absent,
    In(Vec<String>),
    /// Also matches objects without the label.
    NotIn(Vec<String>),
    Above(i64),
    Below(i64),
}

impl LabelSelector {
    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        let tokens = tokens(text);
        let mut parser = Parser { tokens: &tokens };
        let mut requirements = Vec::new();
        while parser.peek() != "" {
            let requirement = parser.requirement().map_err(|why| format!("unable to parse requirement: {why}"));
            requirements.push(requirement.map_err(Failure::bad_request)?);
            match parser.take() {
                "" => break,
                "," if parser.peek() != "" => {}
                "," => return Err(Failure::bad_request(expected("", "identifier after ','"))),
                other => return Err(Failure::bad_request(expected(other, "',' or 'end of string'"))),
            }
        }
        Ok(Self(requirements))
    }

    pub(super) fn matches(&self, object: &Value) -> bool {
        self.0.iter().all(|(key, test)| {
            let value = object::label(object, key);
            let number = || value.and_then(|value| value.parse::<i64>().ok());
            match test {
                Test::Exists => value.is_some(),
                Test::Absent => value.is_none(),
                Test::In(values) => value.is_some_and(|value| values.iter().any(|known| known == value)),
                Test::NotIn(values) => value.is_none_or(|value| values.iter().all(|known| known != value)),
                Test::Above(limit) => number().is_some_and(|number| number > *limit),
                Test::Below(limit) => number().is_some_and(|number| number < *limit),
            }
        })
    }
}

/// Splits into words and the signs `( ) , ! = == != < >`.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '=' | '!' if rest[1..].starts_with('=') => 2,
            '(' | ')' | ',' | '!' | '=' | '<' | '>' => 1,
            _ => rest.find(|c: char| c.is_whitespace() || "(),!=<>".contains(c)).unwrap_or(rest.len()),
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

struct Parser<'a> {
    tokens: &'a [&'a str],
}

impl<'a> Parser<'a> {
    fn peek(&self) -> &'a str {
        self.tokens.first().copied().unwrap_or_default()
    }

    fn take(&mut self) -> &'a str {
        let token = self.peek();
        self.tokens = self.tokens.get(1..).unwrap_or_default();
        token
    }

    fn requirement(&mut self) -> Result<(String, Test), String> {
        if self.peek() == "!" {
            self.take();
            return Ok((self.key()?, Test::Absent));
        }
        let key = self.key()?;
        let test = match self.peek() {
            "" | "," => return Ok((key, Test::Exists)),
            "=" | "==" => {
                self.take();
                Test::In(vec![self.value()])
            }
            "!=" => {
                self.take();
                Test::NotIn(vec![self.value()])
            }
            "in" => {
                self.take();
                Test::In(self.values()?)
            }
            "notin" => {
                self.take();
                Test::NotIn(self.values()?)
            }
            sign @ ("<" | ">") => {
                self.take();
                let value = self.value();
                let limit = value
                    .parse()
                    .map_err(|_| format!("for 'Gt', 'Lt' operators, the value must be an integer, not \"{value}\""))?;
                if sign == ">" { Test::Above(limit) } else { Test::Below(limit) }
            }
            other => return Err(expected(other, "in, notin, =, ==, !=, gt, lt")),
        };
        Ok((key, test))
    }

    fn key(&mut self) -> Result<String, String> {
        let token = self.take();
        if is_word(token) { Ok(token.to_owned()) } else { Err(expected(token, "identifier")) }
    }

    /// A value may be empty: `a=` selects objects whose label is empty.
    fn value(&mut self) -> String {
        if is_word(self.peek()) { self.take().to_owned() } else { String::new() }
    }

    fn values(&mut self) -> Result<Vec<String>, String> {
        let open = self.take();
        if open != "(" {
            return Err(format!("found '{open}' expected: '('"));
        }
        let mut values = Vec::new();
        loop {
            values.push(self.value());
            match self.take() {
                "," => {}
                ")" => return Ok(values),
                other => return Err(expected(other, "',' or ')'")),
            }
        }
    }
}

fn is_word(token: &str) -> bool {
    !matches!(token, "" | "(" | ")" | "," | "!" | "=" | "==" | "!=" | "<" | ">")
}

fn expected(found: &str, expected: &str) -> String {
    format!("found '{found}', expected: {expected}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn matches(selector: &str, labels: &Value) -> bool {
        LabelSelector::parse(selector).unwrap().matches(&json!({"metadata": {"labels": labels}}))
    }

    #[test]
    fn every_operator_matches_as_in_kubernetes() {
        for yes in [
            "",
            "a",
            "!b",
            "a=1",
            "a == 1",
            "a!=2",
            "b!=2",
            "a in (1, 2)",
            "a notin (2)",
            "a>0",
            "a<2",
            "a,!b,a=1",
            "x.y/z=q",
        ] {
            assert!(matches(yes, &json!({"a": "1", "x.y/z": "q"})), "{yes}");
        }
        for no in ["b", "!a", "a=2", "a!=1", "a in (2,3)", "a notin (1)", "a>1", "b<2", "a=", "a,b"] {
            assert!(!matches(no, &json!({"a": "1"})), "{no}");
        }
    }

    #[test]
    fn a_malformed_selector_is_refused() {
        for bad in [",", "a,", "a in 1", "a in (1", "=1", "a>x", "a b", "a=1 b=2", "!", "a,,b"] {
            assert!(LabelSelector::parse(bad).is_err(), "{bad}");
        }
    }
}
