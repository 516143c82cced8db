//! One style sheet: Tailwind's preflight, our own layers of `style/*.css` in name order, then the utilities that the views use.
//!
//! encre-css generates nothing for a class it doesn't know, and reports no error. So the build checks each class that a view
//! uses: it must be a utility that yields CSS or have a selector in `style/`. Otherwise the build stops and names the class.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::bail;
use encre_css::{Config, Scanner};

use crate::clean_command::root;

/// Colours of `style/` that utilities may use: `text-muted`, `bg-surface-2`, `border-line`.
const COLOURS: &[&str] = &[
    "bg",
    "surface",
    "surface-2",
    "surface-3",
    "line",
    "line-strong",
    "text",
    "muted",
    "faint",
    "accent",
    "accent-strong",
    "on-accent",
    "ok",
    "warn",
    "err",
    "run",
    "idle",
];

pub(super) fn build() -> anyhow::Result<String> {
    let layers = sources(&root().join("style"), "css")?;
    let views = sources(&root().join("app/src"), "rs")?;
    let own = layers.concat();
    let classes: BTreeSet<String> = views.iter().flat_map(|text| classes(text)).collect();
    let config = config();
    let preflight = encre_css::generate(std::iter::empty::<&str>(), &config);
    let utility = |class: &str| encre_css::generate([class], &config).len() > preflight.len();
    let unknown: Vec<_> = classes.iter().filter(|class| !selects(&own, class) && !utility(class)).collect();
    if !unknown.is_empty() {
        bail!(
            "these classes in app/src have neither a rule in style/ nor a Tailwind utility that yields CSS: {unknown:?}"
        );
    }
    let used: Vec<&str> = classes.iter().map(String::as_str).collect();
    let all = encre_css::generate(used, &config);
    let utilities = all.strip_prefix(preflight.as_str()).unwrap_or(&all);
    Ok(minify(&format!("{preflight}\n{own}\n{utilities}")))
}

fn config() -> Config {
    let mut config = Config::default();
    for colour in COLOURS {
        config.theme.colors.add(*colour, format!("var(--{colour})"));
    }
    config.scanner = Scanner::from_fn(|text| text.split_whitespace().collect());
    config
}

/// The contents of all files with this extension below a folder, ordered by path.
fn sources(folder: &Path, extension: &str) -> anyhow::Result<Vec<String>> {
    let mut paths = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                paths.push(path);
            }
        }
    }
    paths.sort();
    paths.iter().map(|path| Ok(fs::read_to_string(path)?)).collect()
}

/// The classes that a Rust source gives to elements: the words of string literals after `class=` (to the end of the
/// attribute's expression, so `match` arms count) and the names in `class:name=`.
fn classes(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in source.match_indices("class=") {
        if source[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        for literal in attribute_literals(&source[at + "class=".len()..]) {
            found.extend(literal.split_whitespace().filter(|word| !word.contains(['{', '}'])).map(str::to_owned));
        }
    }
    for (at, _) in source.match_indices("class:") {
        let name: String = source[at + "class:".len()..]
            .chars()
            .take_while(|c| !c.is_whitespace() && *c != '=' && *c != '"')
            .collect();
        if !name.is_empty() && !name.starts_with(':') {
            found.push(name);
        }
    }
    found
}

/// The string literals of one attribute value: `"a b"`, or everything quoted inside balanced braces or parentheses.
fn attribute_literals(text: &str) -> Vec<&str> {
    let mut literals = Vec::new();
    let mut depth = 0usize;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        match c {
            '"' => {
                let Some(end) = rest[1..].find('"') else { break };
                literals.push(&rest[1..=end]);
                rest = &rest[end + 2..];
                if depth == 0 {
                    break;
                }
                continue;
            }
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' if depth <= 1 => break,
            '}' | ')' | ']' => depth -= 1,
            '>' | '/' if depth == 0 => break,
            c if c.is_whitespace() && depth == 0 => break,
            _ => {}
        }
        rest = &rest[c.len_utf8()..];
    }
    literals
}

/// Whether our CSS has a selector for the class.
fn selects(css: &str, class: &str) -> bool {
    css.match_indices(&format!(".{class}"))
        .any(|(at, found)| !css[at + found.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_'))
}

/// Removes comments and unneeded white space; strings stay unchanged.
fn minify(css: &str) -> String {
    let mut out = String::with_capacity(css.len());
    let mut chars = css.chars().peekable();
    let mut quote: Option<char> = None;
    while let Some(c) = chars.next() {
        if let Some(q) = quote {
            out.push(c);
            if c == '\\' {
                out.extend(chars.next());
            } else if c == q {
                quote = None;
            }
            continue;
        }
        match c {
            '"' | '\'' => {
                quote = Some(c);
                out.push(c);
            }
            '/' if chars.peek() == Some(&'*') => {
                chars.next();
                let mut last = ' ';
                for c in chars.by_ref() {
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
            }
            c if c.is_whitespace() => {
                while chars.peek().is_some_and(|c| c.is_whitespace()) {
                    chars.next();
                }
                let tight = |c: Option<char>| c.is_none_or(|c| matches!(c, '{' | '}' | ';' | ','));
                if !tight(out.chars().next_back()) && !tight(chars.peek().copied()) {
                    out.push(' ');
                }
            }
            c => out.push(c),
        }
    }
    out.replace(";}", "}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_plain_and_computed_attributes_are_found() {
        let source = r#"view! { <a class="btn primary" class:active=x title="no"> <b class=move || match s { A => "st ok", B => "st err" }> </b> }"#;
        assert_eq!(classes(source), ["btn", "primary", "active"]);
        let braces = r#"<b class={match s { A => "st ok", B => "st err" }} title="no">"#;
        assert_eq!(classes(braces), ["st", "ok", "st", "err"]);
        assert_eq!(classes(r#"<b class=format!("x {y}")>"#), ["x"]);
    }

    #[test]
    fn a_longer_class_name_does_not_count_as_its_prefix() {
        assert!(selects(".btn-primary{} .btn:hover{}", "btn"));
        assert!(!selects(".btn-primary{}", "btn"));
    }

    #[test]
    fn minifying_keeps_strings_and_meaning() {
        assert_eq!(
            minify("a { content: \" /* x */ \"; }\n/* gone */ b  c { d : e; }"),
            "a{content: \" /* x */ \"}b c{d : e}"
        );
    }
}
