//! The response of a page.

/// Sets the HTTP status of the page. In the browser there is no response, so this does nothing.
#[cfg(feature = "ssr")]
pub(crate) fn status(status: u16) {
    use leptos::prelude::use_context;
    if let (Some(response), Ok(status)) =
        (use_context::<leptos_axum::ResponseOptions>(), http::StatusCode::from_u16(status))
    {
        response.set_status(status);
    }
}

#[cfg(not(feature = "ssr"))]
pub(crate) fn status(_: u16) {}
