//! A text diff.

use api::configuration::{DiffKind, DiffLine};
use leptos::prelude::*;

/// Each line starts with a sign, so that colour is not needed to read the diff.
#[component]
pub fn Diff(lines: Vec<DiffLine>, #[prop(into)] label: String) -> impl IntoView {
    view! {
        <div class="diff" role="region" aria-label=label tabindex="0">
            {lines
                .into_iter()
                .map(|line| {
                    let (class, sign) = match line.kind {
                        DiffKind::Same => ("ctx", " "),
                        DiffKind::Added => ("add", "+"),
                        DiffKind::Removed => ("del", "-"),
                        DiffKind::Skipped => ("skip", "…"),
                    };
                    view! {
                        <div class=class>
                            <span class="sign">{sign}</span>
                            {line.text}
                        </div>
                    }
                })
                .collect_view()}
        </div>
    }
}
