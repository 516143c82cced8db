//! The page for an unknown URL.

use leptos::prelude::*;

use crate::layout::Frame;
use crate::ui::PageTitle;
use crate::{respond, routes};

#[component]
pub fn NotFoundPage() -> impl IntoView {
    respond::status(404);
    view! {
        <Frame>
            <PageTitle text="Page not found"/>
            <p class="muted">"The address may be wrong, or the page no longer exists."</p>
            <p><a class="btn primary" href=routes::HOME>"Go to clusters"</a></p>
        </Frame>
    }
}
