//! Pieces of a page whose code comes when they are needed, on a page that is alive without them.
//!
//! What the server rendered of a piece stands there as it is, and works as without JavaScript, until the piece has to live: then
//! its code is fetched and the living piece takes its place. The page hydrates around it, so a piece creates no resources:
//! the server would count them and the browser would not. Its links to lines are `rel="external"`: the router would go
//! there without a word to the page.

use leptos::{html, prelude::*, task::spawn_local};

use crate::{
    chunks::Page,
    routes,
    ui::{Alert, Icon, Skeleton, Tone, icon, optional},
};

/// Where the code of a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    Asleep,
    Coming,
    Here,
    Missing,
}

/// A piece of a page. Once it lives, it stays.
#[component]
pub(crate) fn Piece(
    page: Page,
    /// The server renders it.
    rendered: bool,
    /// It is on screen.
    #[prop(into)]
    shown: Signal<bool>,
    /// What is in it may change, or needs the browser. Else what the server rendered will do.
    #[prop(into)]
    lives: Signal<bool>,
) -> impl IntoView {
    let place = NodeRef::<html::Div>::new();
    let code = RwSignal::new(Code::Asleep);
    // Else the page was there before the piece, and its place may still hold that of another page.
    let is_there = rendered && Owner::current_shared_context().is_some_and(|shared| shared.during_hydration());
    // Once it had to live, what the server rendered is no longer so, whether its code came or not.
    let lived = Memo::new(move |before: Option<&bool>| before == Some(&true) || lives.get());
    let tries = RwSignal::new(0);
    Effect::new(move |_| {
        if !is_there && let Some(place) = place.get() {
            place.replace_children_with_node_0();
        }
    });
    Effect::new(move |_| {
        tries.track();
        let lived = lived.get();
        if !shown.get() || is_there && !lived || matches!(code.get_untracked(), Code::Coming | Code::Here) {
            return;
        }
        code.set(Code::Coming);
        spawn_local(async move {
            let came = page.fetch().await.is_ok();
            let Some(place) = place.try_get_untracked().flatten().filter(|_| came) else {
                code.try_set(Code::Missing);
                return;
            };
            let focused = focused_in(&place);
            place.replace_children_with_node_0();
            code.try_set(Code::Here);
            focus(focused).await;
        });
    });
    let missing = move || view! { <MissingPiece tries/> }.into_any();
    let living = move || match code.get() {
        Code::Asleep => None,
        Code::Coming => (!is_there).then(|| view! { <Skeleton/> }.into_any()),
        Code::Here => Some(page.open_now().unwrap_or_else(missing)),
        Code::Missing => Some(missing()),
    };
    view! {
        {from_the_server(page, rendered, place)}
        {optional(living)}
    }
}

/// What only the server renders.
#[cfg(feature = "ssr")]
fn from_the_server(page: Page, rendered: bool, place: NodeRef<html::Div>) -> impl IntoView {
    view! { <div class="piece" node_ref=place>{rendered.then(|| page.open_now())}</div> }
}

/// Its place: hydration looks at nothing in it.
#[cfg(not(feature = "ssr"))]
fn from_the_server(_: Page, _: bool, place: NodeRef<html::Div>) -> impl IntoView {
    view! { <div class="piece" node_ref=place></div> }
}

/// The id of the element in `place` that has the keyboard.
fn focused_in(place: &leptos::web_sys::Element) -> Option<String> {
    let focused = document().active_element().filter(|element| place.contains(Some(element)))?;
    Some(focused.id()).filter(|id| !id.is_empty())
}

/// Gives the keyboard back to the element that has come in its place.
async fn focus(id: Option<String>) {
    let Some(id) = id else { return };
    leptos::task::tick().await;
    if let Some(element) = document().get_element_by_id(&id) {
        use leptos::wasm_bindgen::JsCast;
        let _ = element.unchecked_into::<leptos::web_sys::HtmlElement>().focus();
    }
}

/// The code of a piece did not come: the page around it goes on.
#[component]
fn MissingPiece(tries: RwSignal<u32>) -> impl IntoView {
    let here = window().location();
    let href = routes::here(&here.pathname().unwrap_or_default(), &here.search().unwrap_or_default());
    view! {
        <div class="tab-empty" role="alert">
            <Alert tone=Tone::Warn title="This part of the page can't be loaded.">
                <p>"The server can't be reached, or it was upgraded since this page was opened. The rest of the page goes on."</p>
                <div class="bar">
                    <button class="btn" type="button" on:click=move |_| tries.update(|n| *n += 1)>{icon(Icon::Retry)} "Try again"</button>
                    <a class="btn" href=href rel="external">"Load the whole page anew"</a>
                </div>
            </Alert>
        </div>
    }
}
