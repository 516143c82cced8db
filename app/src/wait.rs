//! Waits in the browser. Leptos' own timers and frames end with whatever component happens to be at work, for instance the
//! button that was clicked and is gone now; these don't.

#[cfg(feature = "hydrate")]
use leptos::prelude::window;

/// So many milliseconds. On the server for ever: nobody looks at its page so long.
pub(crate) async fn pause(ms: i32) {
    #[cfg(feature = "hydrate")]
    until_called(|resolve| drop(window().set_timeout_with_callback_and_timeout_and_arguments_0(resolve, ms))).await;
    #[cfg(not(feature = "hydrate"))]
    {
        let _ = ms;
        std::future::pending::<()>().await;
    }
}

/// Does it in the next frame: heights that signals just changed are in the document then. Never on the server, where nothing
/// is on screen.
pub(crate) fn after_render(then: impl FnOnce() + 'static) {
    #[cfg(feature = "hydrate")]
    leptos::task::spawn_local(async move {
        until_called(|resolve| drop(window().request_animation_frame(resolve))).await;
        then();
    });
    #[cfg(not(feature = "hydrate"))]
    drop(then);
}

/// Until the browser calls what `ask` hands it.
#[cfg(feature = "hydrate")]
async fn until_called(ask: impl Fn(&js_sys::Function)) {
    let promise = js_sys::Promise::new(&mut |resolve, _| ask(&resolve));
    drop(wasm_bindgen_futures::JsFuture::from(promise).await);
}
