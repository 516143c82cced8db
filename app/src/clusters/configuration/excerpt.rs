//! The lines around the line number in an error message.

use leptos::prelude::*;

/// Shows the line with up to two lines before and after, numbered; the line itself is marked.
#[component]
pub(super) fn Excerpt(text: String, message: String) -> impl IntoView {
    let lines = excerpt(&text, &message);
    (!lines.is_empty()).then(|| {
        view! {
            <pre class="excerpt" aria-label="Lines with the problem" tabindex="0">
                {lines
                    .into_iter()
                    .map(|(number, line, named)| {
                        view! {
                            <span class:named=named>
                                <i>{format!("{number:>5}  ")}</i>
                                {line}
                            </span>
                        }
                    })
                    .collect_view()}
            </pre>
        }
    })
}

/// For each line: its number, its text, and whether the message names it.
fn excerpt(text: &str, message: &str) -> Vec<(usize, String, bool)> {
    let Some(named) = line_in(message) else { return Vec::new() };
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.chars().take(200).collect(), index + 1 == named))
        .filter(|(number, _, _)| number.abs_diff(named) <= 2)
        .collect()
}

/// The number after the first word `line`.
fn line_in(message: &str) -> Option<usize> {
    let (_, rest) = message.split_once("line ").or_else(|| message.split_once("Line "))?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_named_line_is_shown_with_two_around_it() {
        let text = "a\nb\nc\nd\ne\nf\n";
        let shown = excerpt(text, "The inventory is not valid YAML: line 4, column 2: found a tab.");
        assert_eq!(shown.iter().map(|(n, ..)| *n).collect::<Vec<_>>(), [2, 3, 4, 5, 6]);
        assert_eq!(shown[2], (4, "d".to_owned(), true));
    }

    #[test]
    fn a_message_without_a_line_shows_nothing() {
        assert!(excerpt("a\n", "It has no hosts.").is_empty());
        assert!(excerpt("a\n", "line x").is_empty());
        assert!(excerpt("a\n", "line 99999999999999999999999").is_empty());
    }
}
