//! Pieces of a page whose code comes when they are needed, on a page that is alive without them.
//!
//! What the server rendered of a piece stands there as it is until its code has come, and works as without JavaScript. Then
//! the living piece takes its place. The page hydrates around it, so a piece creates no resources: the server would count
//! them and the browser would not.

use leptos::{html, prelude::*, task::spawn_local};

use crate::{
    chunks::Page,
    routes,
    ui::{Alert, Skeleton, Tone, optional},
};

/// Where the code of a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    Asleep,
    Coming,
    Here,
    Missing,
}

/// A piece of a page. From the first time on that it is wanted, it stays.
#[component]
pub(crate) fn Piece(
    page: Page,
    /// The server renders it.
    rendered: bool,
    wanted: Signal<bool>,
) -> impl IntoView {
    let place = NodeRef::<html::Div>::new();
    let code = RwSignal::new(Code::Asleep);
    // Every time it is wanted until it is there.
    Effect::new(move |_| {
        if !wanted.get() || matches!(code.get_untracked(), Code::Coming | Code::Here) {
            return;
        }
        code.set(Code::Coming);
        spawn_local(async move {
            let came = page.fetch().await.is_ok();
            if let (true, Some(Some(place))) = (came, place.try_get_untracked()) {
                place.replace_children_with_node_0();
            }
            code.try_set(if came { Code::Here } else { Code::Missing });
        });
    });
    let missing = || view! { <MissingPiece/> }.into_any();
    let living = move || match code.get() {
        Code::Asleep => None,
        Code::Coming => is_empty(place).then(|| view! { <Skeleton/> }.into_any()),
        Code::Here => Some(page.open_now().unwrap_or_else(missing)),
        Code::Missing => Some(missing()),
    };
    view! {
        {from_the_server(page, rendered, place)}
        {optional(living)}
    }
}

/// Nothing came from the server: the piece is wanted on a page that was there before it.
fn is_empty(place: NodeRef<html::Div>) -> bool {
    place.get_untracked().is_none_or(|place| place.child_element_count() == 0)
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

/// The code of a piece did not come: the page around it goes on.
#[component]
fn MissingPiece() -> impl IntoView {
    let here = window().location();
    let href = routes::here(&here.pathname().unwrap_or_default(), &here.search().unwrap_or_default());
    view! {
        <div class="tab-empty" role="alert">
            <Alert tone=Tone::Warn title="This part of the page can't be loaded.">
                <p>"The server can't be reached, or it was upgraded since this page was opened. The rest of the page goes on; open this part again to try once more."</p>
                <div class="bar"><a class="btn" href=href rel="external">"Load the whole page anew"</a></div>
            </Alert>
        </div>
    }
}
