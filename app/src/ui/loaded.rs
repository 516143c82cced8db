//! A resource on a page, in its states: loading, error, stale, content. Each page shows its own empty state.

use api::Problem;
use leptos::prelude::*;
use leptos_router::hooks::use_location;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Alert, Icon, PageTitle, Tone, all, icon};
use crate::json::Data;
use crate::{Failure, live, respond, routes};

/// Shows `resource` with `children`, as in `<Loaded resource let:list>…</Loaded>`.
///
/// Until the first load ends: a skeleton, after 300 ms. If the first load fails: the error, and a link to try again. If a
/// later load fails with a server error: the same error, above the last values, which are dimmed. If a later load finds that the
/// session has ended, the view stays, and the frame around the page says it.
#[component]
pub fn Loaded<T, F, V>(
    resource: Data<T>,
    /// The number of rows of the skeleton.
    #[prop(default = 6)]
    rows: usize,
    /// The page's title if the first load fails, for pages whose title is part of the content.
    #[prop(optional, into)]
    title: Option<Signal<String>>,
    children: F,
) -> impl IntoView
where
    T: Clone + Serialize + DeserializeOwned + Send + Sync + 'static,
    F: Fn(T) -> V + Clone + Send + Sync + 'static,
    V: IntoView + 'static,
{
    let last = StoredValue::new(None::<T>);
    let report_sign_out = live::reporting_sign_out();
    let shown = when_known(resource, move |result| match result {
        Ok(value) => {
            last.set_value(Some(value.clone()));
            children(value).into_any()
        }
        Err(Failure(problem)) => {
            respond::status(problem.status());
            match last.get_value() {
                // The page may hold what the user typed.
                Some(value) if problem == Problem::SignedOut => {
                    report_sign_out();
                    children(value).into_any()
                }
                Some(value) if matches!(problem, Problem::Unavailable { .. } | Problem::Internal) => view! {
                    <LoadProblem problem resource stale=true/>
                    <div class="stale">{children(value)}</div>
                }
                .into_any(),
                _ => view! {
                    {title.map(|title| view! { <PageTitle text=title.get()/> }.into_any())}
                    <LoadProblem problem resource/>
                }
                .into_any(),
            }
        }
    });
    view! { <Transition fallback=move || view! { <Skeleton rows/> }>{shown}</Transition> }
}

/// The `view` of `resource` once it is loaded, for the inside of a `<Transition>`.
///
/// The server awaits the value itself. `resource.get()` would be a race in Leptos 0.9.0-rc1: `ArcAsyncDerived` of
/// `reactive_graph` clears its loading flag *before* it sets the value. A thread that reads in between gets `None`, and the
/// page is sent without its content.
#[cfg(feature = "ssr")]
pub fn when_known<T, F, V>(resource: Data<T>, view: F) -> impl Fn() -> Suspend<V> + Clone + Send + Sync + 'static
where
    T: Clone + Send + Sync + 'static,
    F: Fn(Result<T, Failure>) -> V + Clone + Send + Sync + 'static,
    V: 'static,
{
    move || {
        let view = view.clone();
        Suspend::new(async move { view(resource.await) })
    }
}

/// The `view` of `resource` once it is loaded, for the inside of a `<Transition>`.
#[cfg(not(feature = "ssr"))]
pub fn when_known<T, F, V>(resource: Data<T>, view: F) -> impl Fn() -> Option<V> + Clone + Send + Sync + 'static
where
    T: Clone + Send + Sync + 'static,
    F: Fn(Result<T, Failure>) -> V + Clone + Send + Sync + 'static,
    V: 'static,
{
    move || resource.get().map(&view)
}

/// Why the resource can't be shown, and what to do next.
#[component]
fn LoadProblem<T>(problem: Problem, resource: Data<T>, #[prop(optional)] stale: bool) -> impl IntoView
where
    T: Serialize + DeserializeOwned + Send + Sync + 'static,
{
    let location = use_location();
    let here = move || routes::here(&location.pathname.get(), &location.search.get());
    let action = match &problem {
        Problem::SignedOut => {
            view! { <a class="btn primary" href=move || routes::login(&here()) rel="external">"Sign in"</a> }.into_any()
        }
        Problem::NotFound { what, .. } if what == "operation" => {
            view! { <a class="btn" href=routes::OPERATIONS>"All operations"</a> }.into_any()
        }
        Problem::NotFound { .. } => view! { <a class="btn" href=routes::CLUSTERS>"All clusters"</a> }.into_any(),
        Problem::Forbidden { .. } => ().into_any(),
        _ => {
            let again = move |event: leptos::ev::MouseEvent| {
                event.prevent_default();
                resource.refetch();
            };
            // The same request is probably refused again.
            let parent = matches!(problem, Problem::Invalid { .. }).then(|| parent(&location.pathname.get_untracked()));
            view! {
                {parent.flatten().map(|parent| view! { <a class="btn" href=parent>"Back"</a> })}
                <a class="btn" href=here on:click=again>{icon(Icon::Retry)} "Try again"</a>
            }
            .into_any()
        }
    };
    // The style sheet hides what follows such an alert.
    let gone = matches!(problem, Problem::NotFound { .. } | Problem::SignedOut);
    let tone = if stale { Tone::Warn } else { Tone::Err };
    view! {
        <div role="alert" class:gone=gone>
            <Alert tone title=problem.to_string()>
                {stale.then_some("The values below are from the last successful load.")}
                <div class="bar">{action}</div>
            </Alert>
        </div>
    }
}

/// The path of the page above; `None` for a page at the top.
fn parent(path: &str) -> Option<String> {
    let (parent, _) = path.trim_end_matches('/').rsplit_once('/')?;
    (!parent.is_empty()).then(|| parent.to_owned())
}

/// Grey rows. The style sheet shows them after 300 ms, because most pages load faster.
#[component]
pub fn Skeleton(#[prop(default = 6)] rows: usize) -> impl IntoView {
    view! {
        <div class="skeleton" role="status" aria-label="Loading">
            {all((0..rows).map(|_| view! { <i></i> }))}
        </div>
    }
}
