//! Why a run failed: the first thing on its page.

use api::operation::Phase;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::super::functions::load_reason;
use super::super::selection::Selection;
use super::super::state::{Run, patiently};
use super::reason::{Next, Other};
use crate::clusters::FixLink;
use crate::routes;
use crate::ui::optional;

/// Why the run failed, with links to the lines of the log. A piece of the page.
#[component]
pub fn ReasonAlert() -> impl IntoView {
    let run = expect_context::<Run>();
    load(run);
    optional(move || {
        run.told.get().reason.map(|reason| {
            let others = (!reason.others.is_empty()).then(|| {
                let more = (reason.more > 0).then(|| view! { <li>{format!("and {} more", reason.more)}</li> });
                view! {
                    <ul class="reason-others">
                        {reason
                            .others
                            .into_iter()
                            .map(|Other { title, text, lines }| {
                                // The style sheet cuts long texts.
                                view! { <li title=text.clone()>{title} ", " <LineLink run lines/> ": " {text.clone()}</li> }
                            })
                            .collect_view()} {more}
                    </ul>
                }
            });
            view! {
                <section class="alert err reason" role="alert">
                    <h2>{reason.title}</h2>
                    {reason.cause.map(|cause| view! { <p>{cause}</p> })}
                    {(!reason.quote.is_empty()).then(|| view! { <pre tabindex="0">{reason.quote}</pre> })}
                    {(!reason.text.is_empty()).then(|| view! { <p class="muted">{reason.text}</p> })} {others}
                    <div class="bar">
                        {reason
                            .lines
                            .map(|lines| {
                                let words = format!("Go to line {}", lines.first());
                                view! {
                                    <a class="btn" rel="external" href=run.url_of(lines)>
                                        {words}
                                    </a>
                                }
                            })} {reason
                            .partial
                            .then(|| {
                                let retry = run.name.with_value(|name| {
                                    routes::with_query(routes::NEW_OPERATION, &[("again", name.as_str()), ("failed", "1")])
                                });
                                view! { <a class="btn" href=retry>{if reason.stopped_early { "Retry on remaining hosts…" } else { "Retry on failed hosts…" }}</a> }
                            })} {reason.next.map(|next| view! { <NextStep run next partial=reason.partial/> })}
                    </div>
                </section>
            }
        })
    })
}

/// Asks the server why the run failed: when it has failed, and again when its log is complete. The browser has no reason at first: the
/// page holds it as HTML only.
fn load(run: Run) {
    let state = Memo::new(move |_| (run.phase.get() == Phase::Failed, run.end.get().is_some()));
    Effect::new(move |before: Option<(bool, bool)>| {
        let now = state.get();
        if now.0 && before != Some(now) {
            let name = run.name.get_value().to_string();
            let is_last = move || state.try_get_untracked() == Some(now);
            spawn_local(async move {
                let reason = patiently(move || load_reason(name.clone()), is_last).await;
                if let Some(reason) = reason.filter(|_| is_last()) {
                    run.told.try_update(|told| told.reason = reason);
                }
            });
        }
        now
    });
}

/// `line 602`, as a link to that line.
#[component]
fn LineLink(run: Run, lines: Selection) -> impl IntoView {
    view! {
        <a class="link" rel="external" href=run.url_of(lines)>
            {format!("line {}", lines.first())}
        </a>
    }
}

/// Leads to where the next step is done. A run that failed on some hosts has a button for these already.
#[component]
fn NextStep(run: Run, next: Next, partial: bool) -> impl IntoView {
    let cluster = run.detail.with_untracked(|detail| detail.row.cluster.clone());
    let (href, words) = match next {
        Next::Edit(fix) => return view! { <FixLink cluster fix class="btn"/> }.into_any(),
        Next::Again if partial => return ().into_any(),
        Next::Again => {
            let again =
                run.name.with_value(|name| routes::with_query(routes::NEW_OPERATION, &[("again", name.as_str())]));
            (again, "Run it again…")
        }
        Next::Nodes => (routes::cluster_tab(&cluster, "nodes"), "Open nodes"),
        Next::Upgrade => (routes::cluster_tab(&cluster, "upgrade"), "Choose a version…"),
        Next::Operation => (routes::new_operation(&cluster, ""), "New operation…"),
    };
    view! { <a class="btn" href=href>{words}</a> }.into_any()
}
