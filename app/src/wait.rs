//! Timers in the browser that belong to no component. Leptos cancels its own timers with the component whose code started
//! them, for instance a button that was clicked and then removed.

#[cfg(feature = "hydrate")]
use leptos::prelude::window;

/// Waits for `ms` milliseconds. On the server it never ends: only the browser waits for anything on a page.
pub(crate) async fn pause(ms: i32) {
    #[cfg(feature = "hydrate")]
    until_called(|resolve| drop(window().set_timeout_with_callback_and_timeout_and_arguments_0(resolve, ms))).await;
    #[cfg(not(feature = "hydrate"))]
    {
        let _ = ms;
        std::future::pending::<()>().await;
    }
}

/// Runs `then` in the next animation frame, when the document shows what signals have just changed. Never runs on the
/// server.
pub(crate) fn after_render(then: impl FnOnce() + 'static) {
    #[cfg(feature = "hydrate")]
    leptos::task::spawn_local(async move {
        until_called(|resolve| drop(window().request_animation_frame(resolve))).await;
        then();
    });
    #[cfg(not(feature = "hydrate"))]
    drop(then);
}

/// Waits until the browser calls the function that `ask` passes to it.
#[cfg(feature = "hydrate")]
async fn until_called(ask: impl Fn(&js_sys::Function)) {
    let promise = js_sys::Promise::new(&mut |resolve, _| ask(&resolve));
    drop(wasm_bindgen_futures::JsFuture::from(promise).await);
}
