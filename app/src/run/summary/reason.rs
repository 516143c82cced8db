//! Why a run failed: the first thing on its page.

use leptos::prelude::*;

use super::super::selection::Selection;
use super::super::state::Run;
use super::sentences;
use crate::ui::optional;

/// Why the run failed, with links to the lines of the log. A piece of the page.
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
                                    <a class="btn" rel="external" href=run.url_of(lines) on:click=move |event| run.follow_link(&event, lines)>
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

/// `line 602`, as a link to that line.
#[component]
fn LineLink(run: Run, lines: Selection) -> impl IntoView {
    view! {
        <a class="link" rel="external" href=run.url_of(lines) on:click=move |event| run.follow_link(&event, lines)>
            {format!("line {}", lines.first())}
        </a>
    }
}
