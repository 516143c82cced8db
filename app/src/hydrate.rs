//! The start of the app in the browser.

use leptos::prelude::*;

use crate::App;
use crate::pages::Page;
use crate::wasm_size::split_point::SplitPoint;

/// Loads the code of the page that the server rendered, then hydrates it. Where the code can't be loaded, the server's HTML
/// stays, works as it does without JavaScript, and says so.
pub async fn hydrate() {
    let path = window().location().pathname().unwrap_or_default();
    // Innermost first: its file contains what the pages around it need.
    for page in Page::at(&path).into_iter().rev() {
        if page.fetch().await.is_err() {
            return warn();
        }
    }
    crate::form::listen_before_the_router();
    leptos::mount::hydrate_body(App);
}

/// Says at the top of the page that it does not update.
fn warn() {
    let notice = document().create_element("p").ok();
    let place = document().query_selector("main").ok().flatten();
    if let (Some(notice), Some(place)) = (notice, place) {
        notice.set_class_name("alert warn");
        let _ = notice.set_attribute("role", "alert");
        notice.set_text_content(Some(
            "A part of this page can't be loaded, so the page doesn't update by itself. Its links and forms work. Reload the page to try again.",
        ));
        let _ = place.prepend_with_node_1(&notice);
    }
}
