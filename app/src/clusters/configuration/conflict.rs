//! A save conflict: both versions side by side, and a link that loads the saved one.

use std::collections::HashSet;

use leptos::prelude::*;

use crate::form::Submission;

/// Shows the two texts. The problem's sentence is shown at the end of the form.
#[component]
pub(super) fn Conflict(
    theirs: String,
    yours: String,
    version: String,
    take: Callback<(String, String)>,
) -> impl IntoView {
    let submission = expect_context::<Submission>();
    let taken = theirs.clone();
    let take_theirs = move |event: leptos::ev::MouseEvent| {
        event.prevent_default();
        take.run((taken.clone(), version.clone()));
        submission.clear();
    };
    view! {
        <section class="conflict" tabindex="-1" aria-label="Both versions">
            <h3>"The document was changed after you opened it"</h3>
            <p>
                "Nothing was saved, and your text is kept below. To save your version, review its changes to the saved version first."
            </p>
            <div class="sides">
                <div>
                    <h4>"Saved version"</h4>
                    <SideText text=theirs.clone() other=yours.clone()/>
                    // Without JavaScript the link reloads this page, which shows the saved version.
                    <a class="btn" href="" rel="external" on:click=take_theirs>"Discard mine, use saved version"</a>
                </div>
                <div>
                    <h4>"Your version"</h4>
                    <SideText text=yours other=theirs/>
                </div>
            </div>
        </section>
    }
}

/// One side; lines that the other side lacks are marked.
#[component]
fn SideText(text: String, other: String) -> impl IntoView {
    let lines =
        marked(&text, &other).into_iter().map(|(line, differs)| view! { <span class:differs=differs>{line}</span> });
    view! { <pre class="side-text" tabindex="0">{lines.collect_view()}</pre> }
}

/// Each line of `text`, and whether `other` lacks it.
fn marked(text: &str, other: &str) -> Vec<(String, bool)> {
    let known: HashSet<_> = other.lines().collect();
    text.lines().map(|line| (line.to_owned(), !known.contains(line))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_missing_on_the_other_side_are_marked() {
        let marked = marked("all:\n  a:\n", "all:\n  b:\n");
        assert_eq!(marked, [("all:".to_owned(), false), ("  a:".to_owned(), true)]);
    }
}
