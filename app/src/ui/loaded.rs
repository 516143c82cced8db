//! A resource on a page, in all its states: loading, error, stale, content. (Empty is the page's own.)

use api::Problem;
use leptos::prelude::*;
use leptos_router::hooks::use_location;
use serde::{Serialize, de::DeserializeOwned};

use super::{Alert, Icon, PageTitle, Tone, all, icon};
use crate::{Failure, json::Data, respond, routes};

/// Shows `resource` by `children`, as in `<Loaded resource let:list>…</Loaded>`.
///
/// While it loads for the first time: a skeleton, after 300 ms. When it can't be loaded: what failed, and a way to try
/// again. When only a later load fails: the last values, dimmed, and the same message above them.
#[component]
pub fn Loaded<T, F, V>(
    resource: Data<T>,
    /// Rows of the skeleton.
    #[prop(default = 6)]
    rows: usize,
    /// The page's title where nothing can be shown, for pages whose title is part of the content.
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
    let shown = when_known(resource, move |result| match result {
        Ok(value) => {
            last.set_value(Some(value.clone()));
            children(value).into_any()
        }
        Err(Failure(problem)) => {
            respond::status(problem.status());
            match last.get_value().filter(|_| matches!(problem, Problem::Unavailable { .. } | Problem::Internal)) {
                Some(value) => view! {
                    <LoadProblem problem resource stale=true/>
                    <div class="stale">{children(value)}</div>
                }
                .into_any(),
                None => view! {
                    {title.map(|title| view! { <PageTitle text=title.get()/> }.into_any())}
                    <LoadProblem problem resource/>
                }
                .into_any(),
            }
        }
    });
    view! { <Transition fallback=move || view! { <Skeleton rows/> }>{shown}</Transition> }
}

/// What `view` makes of `resource` once that is known, for the inside of a `<Transition>`.
///
/// The server waits for the value itself. `resource.get()` waits for a mark that Leptos 0.9.0-rc1 takes away a moment
/// *before* it sets the value (`reactive_graph`, `ArcAsyncDerived`): a thread that comes in between reads nothing, and
/// the page arrives without its content.
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

/// What `view` makes of `resource` once that is known, for the inside of a `<Transition>`.
#[cfg(not(feature = "ssr"))]
pub fn when_known<T, F, V>(resource: Data<T>, view: F) -> impl Fn() -> Option<V> + Clone + Send + Sync + 'static
where
    T: Clone + Send + Sync + 'static,
    F: Fn(Result<T, Failure>) -> V + Clone + Send + Sync + 'static,
    V: 'static,
{
    move || resource.get().map(&view)
}

/// Why something can't be shown, and how to go on.
#[component]
fn LoadProblem<T>(problem: Problem, resource: Data<T>, #[prop(optional)] stale: bool) -> impl IntoView
where
    T: Serialize + DeserializeOwned + Send + Sync + 'static,
{
    let location = use_location();
    let here = move || routes::here(&location.pathname.get(), &location.search.get());
    let action = match &problem {
        Problem::SignedOut => {
            view! { <a class="btn primary" href=routes::login(&here()) rel="external">"Sign in"</a> }.into_any()
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
            view! { <a class="btn" href=here on:click=again>{icon(Icon::Retry)} "Try again"</a> }.into_any()
        }
    };
    // Then there is nothing to show below either (see the style sheet).
    let gone = matches!(problem, Problem::NotFound { .. } | Problem::SignedOut);
    let tone = if stale { Tone::Warn } else { Tone::Err };
    view! {
        <div role="alert" class:gone=gone>
            <Alert tone title=problem.to_string()>
                {stale.then_some("What you see below is the last that was known.")}
                <div class="bar">{action}</div>
            </Alert>
        </div>
    }
}

/// Grey rows that appear after 300 ms: most pages are there before.
#[component]
pub fn Skeleton(#[prop(default = 6)] rows: usize) -> impl IntoView {
    view! {
        <div class="skeleton" role="status" aria-label="Loading">
            {all((0..rows).map(|_| view! { <i></i> }))}
        </div>
    }
}
