//! The first thing on the page of a failed run.

use leptos::{ev::MouseEvent, prelude::*};

use super::{
    selection::Selection,
    sentences,
    state::{Run, is_plain},
};
use crate::ui::optional;

/// Why the run failed, with the way to the line; a piece of the run page.
#[component]
pub fn ReasonAlert() -> impl IntoView {
    let run = expect_context::<Run>();
    let reason =
        Memo::new(move |_| run.detail.with(|detail| run.progress.with(|progress| sentences::reason(detail, progress))));
    optional(move || {
        reason.get().map(|reason| {
            let others = (!reason.others.is_empty()).then(|| {
                let more = (reason.more > 0).then(|| view! { <li>{format!("and {} more", reason.more)}</li> });
                view! {
                    <ul class="reason-others">
                        {reason
                            .others
                            .into_iter()
                            .map(|(words, lines)| view! { <li>{words} " " {lines.map(|lines| view! { <LineLink run lines/> })}</li> })
                            .collect_view()} {more}
                    </ul>
                }
            });
            view! {
                <section class="alert err reason" role="alert">
                    <h2>{reason.title}</h2>
                    {(!reason.text.is_empty()).then(|| view! { <p>{reason.text}</p> })}
                    {(!reason.quote.is_empty()).then(|| view! { <pre>{reason.quote}</pre> })} {others}
                    {reason
                        .lines
                        .map(|lines| {
                            let words = format!("Go to line {}", lines.first());
                            view! {
                                <div class="bar">
                                    <a class="btn" rel="external" href=run.url_of(lines) on:click=move |event| go(&event, run, lines)>
                                        {words}
                                    </a>
                                </div>
                            }
                        })}
                </section>
            }
        })
    })
}

/// `line 602`, as a link to it.
#[component]
fn LineLink(run: Run, lines: Selection) -> impl IntoView {
    view! {
        <a class="link" rel="external" href=run.url_of(lines) on:click=move |event| go(&event, run, lines)>
            {format!("line {}", lines.first())}
        </a>
    }
}

/// Opens the log at the lines, where there is a page that can.
pub(super) fn go(event: &MouseEvent, run: Run, lines: Selection) {
    if is_plain(event) {
        event.prevent_default();
        run.jump(lines);
    }
}
