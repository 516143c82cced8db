//! A URL that leads nowhere.

use leptos::prelude::*;

use crate::{respond, routes, ui::PageTitle};

/// Says so, and leads back.
#[component]
pub fn NotFoundPage() -> impl IntoView {
    respond::status(404);
    view! {
        <main class="alone">
            <PageTitle text="There is no such page"/>
            <p class="muted">"The address may be mistyped, or what it showed is gone."</p>
            <p><a class="btn primary" href=routes::HOME>"To the clusters"</a></p>
        </main>
    }
}
