//! The shortcuts and what they do.

use leptos::prelude::*;

/// What a key does.
#[cfg_attr(not(any(feature = "hydrate", test)), expect(dead_code, reason = "keys are pressed in a browser"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Command {
    Go(&'static str),
    Filter,
    NextRow,
    PreviousRow,
    Help,
}

/// The command of a key. `after_g`: the key before it was `g`.
#[cfg(any(feature = "hydrate", test))]
pub(super) fn command(key: &str, after_g: bool) -> Option<Command> {
    use crate::routes;
    Some(match (after_g, key) {
        (true, "c") => Command::Go(routes::CLUSTERS),
        (true, "o") => Command::Go(routes::OPERATIONS),
        (true, "s") => Command::Go(routes::SETTINGS),
        (false, "/") => Command::Filter,
        (false, "j") => Command::NextRow,
        (false, "k") => Command::PreviousRow,
        (false, "?") => Command::Help,
        _ => return None,
    })
}

/// The row to focus. Without a focused row: the first one (down) or the last one (up). Stops at both ends.
#[cfg(any(feature = "hydrate", test))]
pub(super) fn next_row(at: Option<usize>, by: i32, count: usize) -> Option<usize> {
    let last = count.checked_sub(1)?;
    Some(match (at, by) {
        (None, 1..) => 0,
        (None, _) => last,
        (Some(at), 1..) => (at + 1).min(last),
        (Some(at), _) => at.saturating_sub(1),
    })
}

const KEYS: [(&[&str], &str); 12] = [
    (&["/"], "Filter this list, or find in a log"),
    (&["j"], "Next row"),
    (&["k"], "Previous row"),
    (&["Enter"], "Open the row"),
    (&["g", "c"], "Go to clusters"),
    (&["g", "o"], "Go to operations"),
    (&["g", "s"], "Go to settings"),
    (&["n", "N"], "Next or previous hit in a log"),
    (&["↑", "↓"], "Next line number of a log"),
    (&["End"], "Follow a log"),
    (&["Esc"], "Close what is open"),
    (&["?"], "Show this list"),
];

/// All shortcuts with what they do.
#[component]
pub(crate) fn KeyList() -> impl IntoView {
    view! {
        <dl class="facts">
            {KEYS
                .into_iter()
                .map(|(keys, what)| {
                    view! {
                        <dt>{keys.iter().map(|key| view! { <kbd>{*key}</kbd> " " }).collect_view()}</dt>
                        <dd>{what}</dd>
                    }
                })
                .collect_view()}
        </dl>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g_then_a_letter_goes_and_the_letter_alone_does_not() {
        assert_eq!(command("c", true), Some(Command::Go("/clusters")));
        assert_eq!(command("c", false), None);
        assert_eq!(command("j", true), None, "after g, only the letters of pages do anything");
    }

    #[test]
    fn rows_end_at_both_ends() {
        assert_eq!(next_row(None, 1, 3), Some(0));
        assert_eq!(next_row(None, -1, 3), Some(2));
        assert_eq!(next_row(Some(2), 1, 3), Some(2));
        assert_eq!(next_row(Some(0), -1, 3), Some(0));
        assert_eq!(next_row(None, 1, 0), None);
    }
}
