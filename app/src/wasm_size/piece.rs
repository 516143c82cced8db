//! Pieces: sections of a page whose code is loaded when they are activated. The [module above](super) explains their rules.

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::erased::optional;
use super::split_point::SplitPoint;
use crate::routes;
use crate::ui::{Alert, Icon, Skeleton, Tone, icon};

/// The loading state of a piece's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    NotRequested,
    Loading,
    Loaded,
    Failed,
}

/// A piece of a page. Once its component is rendered, it stays.
#[component]
pub(crate) fn Piece<P: SplitPoint>(
    piece: P,
    /// Whether the server renders it.
    rendered: bool,
    /// Whether it is on screen.
    #[prop(into)]
    shown: Signal<bool>,
    /// Whether its content may change or needs the browser. While this is false, the server's HTML is enough.
    #[prop(into)]
    active: Signal<bool>,
) -> impl IntoView {
    let place = NodeRef::<html::Div>::new();
    let code = RwSignal::new(Code::NotRequested);
    // After a navigation in the browser there is no server HTML for this piece. Its element may even be one that Leptos
    // reuses from another page, with that page's HTML still in it.
    let has_server_html = rendered && Owner::current_shared_context().is_some_and(|shared| shared.during_hydration());
    // Once the piece has been activated, the server's HTML is stale, even if the code then fails to load.
    let activated = Memo::new(move |before: Option<&bool>| before == Some(&true) || active.get());
    let retries = RwSignal::new(0);
    Effect::new(move |_| {
        if !has_server_html && let Some(place) = place.get() {
            place.replace_children_with_node_0();
        }
    });
    Effect::new(move |_| {
        retries.track();
        let activated = activated.get();
        let server_html_is_enough = has_server_html && !activated;
        if !shown.get() || server_html_is_enough || matches!(code.get_untracked(), Code::Loading | Code::Loaded) {
            return;
        }
        code.set(Code::Loading);
        spawn_local(async move {
            let is_loaded = piece.fetch().await.is_ok();
            let Some(place) = place.try_get_untracked().flatten().filter(|_| is_loaded) else {
                code.try_set(Code::Failed);
                return;
            };
            let focused = focused_in(&place);
            place.replace_children_with_node_0();
            code.try_set(Code::Loaded);
            focus(focused).await;
        });
    });
    let failed = move || view! { <FailedPiece retries/> }.into_any();
    let component = move || match code.get() {
        Code::NotRequested => None,
        Code::Loading => (!has_server_html).then(|| view! { <Skeleton/> }.into_any()),
        Code::Loaded => Some(piece.open_now().unwrap_or_else(failed)),
        Code::Failed => Some(failed()),
    };
    view! {
        {server_html(piece, rendered, place)}
        {optional(component)}
    }
}

/// The element that holds the server's HTML.
#[cfg(feature = "ssr")]
fn server_html(piece: impl SplitPoint, rendered: bool, place: NodeRef<html::Div>) -> impl IntoView {
    view! { <div class="piece" node_ref=place>{rendered.then(|| piece.open_now())}</div> }
}

/// The same element in the browser: without children, so that hydration skips what the server put into it.
#[cfg(not(feature = "ssr"))]
fn server_html(_: impl SplitPoint, _: bool, place: NodeRef<html::Div>) -> impl IntoView {
    view! { <div class="piece" node_ref=place></div> }
}

/// The id of the element in `place` that has the focus, and what was typed into it.
fn focused_in(place: &leptos::web_sys::Element) -> Option<(String, Option<String>)> {
    let focused = document().active_element().filter(|element| place.contains(Some(element)))?;
    let id = Some(focused.id()).filter(|id| !id.is_empty())?;
    Some((id, field(focused).map(|field| field.value())))
}

/// Focuses the element that has replaced the one with this id, and fills it in as that one was.
async fn focus(focused: Option<(String, Option<String>)>) {
    let Some((id, typed)) = focused else { return };
    leptos::task::tick().await;
    if let Some(element) = document().get_element_by_id(&id) {
        use leptos::wasm_bindgen::JsCast;
        if let (Some(typed), Some(field)) = (typed, field(element.clone())) {
            field.set_value(&typed);
        }
        let _ = element.unchecked_into::<leptos::web_sys::HtmlElement>().focus();
    }
}

/// The element, if text can be typed into it.
fn field(element: leptos::web_sys::Element) -> Option<leptos::web_sys::HtmlInputElement> {
    use leptos::wasm_bindgen::JsCast;
    element.dyn_into().ok()
}

/// Shown where the code of a piece can't be loaded.
#[component]
fn FailedPiece(retries: RwSignal<u32>) -> impl IntoView {
    let here = window().location();
    let href = routes::here(&here.pathname().unwrap_or_default(), &here.search().unwrap_or_default());
    view! {
        <div class="tab-empty" role="alert">
            <Alert tone=Tone::Warn title="This part of the page can't be loaded.">
                <p>"The server can't be reached, or it was upgraded since you opened the page. The rest of the page still works."</p>
                <div class="bar">
                    <button class="btn" type="button" on:click=move |_| retries.update(|n| *n += 1)>{icon(Icon::Retry)} "Try again"</button>
                    <a class="btn" href=href rel="external">"Reload the page"</a>
                </div>
            </Alert>
        </div>
    }
}
