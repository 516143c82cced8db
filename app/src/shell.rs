//! The HTML document around the app: head, theme, and the boot script.

use std::collections::BTreeMap;

use http::request::Parts;
use leptos::nonce::use_nonce;
use leptos::prelude::*;
use leptos_meta::MetaTags;

use crate::login::HeldForm;
use crate::pages::Page;
use crate::preferences::Preferences;
use crate::wasm_size::split_point::SplitPoint;
use crate::{App, Theme};

/// Paths of the files that the browser loads. Their names contain a hash of their content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assets {
    pub css: String,
    pub js: String,
    pub wasm: String,
    /// The file of each page, by the name of its chunk. Empty where all code is in one wasm file.
    pub pages: BTreeMap<String, String>,
}

/// The whole document. The boot script is its only inline script and carries the nonce of the page.
pub fn shell(assets: &Assets) -> impl IntoView + use<> {
    let Assets { css, js, wasm, .. } = assets.clone();
    let uri = use_context::<Parts>().map(|parts| parts.uri).unwrap_or_default();
    // Request the wasm and the page's chunk before the script arrives that instantiates them; the script looks into `early`
    // first. A preload link would make browsers without JavaScript fetch them, too.
    let file = Page::early(uri.path()).and_then(|page| assets.pages.get(page.chunk()));
    let early = file.map(|file| format!("early[{file:?}]=fetch({file:?});")).unwrap_or_default();
    let boot = format!(
        "const w=fetch({wasm:?}),early=globalThis.early={{}};{early}\
         import({js:?}).then(m=>m.default({{module_or_path:w}}).then(()=>m.hydrate()))"
    );
    let theme = match Preferences::of_request().theme {
        Theme::System => None,
        chosen => Some(chosen.as_str()),
    };
    // The page with a held form has the URL of another page. The app would replace it with that page, so it isn't started.
    let live = use_context::<HeldForm>().is_none();
    view! {
        <!DOCTYPE html>
        <html lang="en" data-theme=theme>
            <head>
                <meta charset="utf-8"/>
                <meta name="viewport" content="width=device-width, initial-scale=1"/>
                <meta name="color-scheme" content="light dark"/>
                <link rel="icon" href="/favicon.svg" type="image/svg+xml"/>
                <link rel="stylesheet" href=css/>
                {live
                    .then(|| {
                        view! {
                            <link rel="modulepreload" href=js nonce=use_nonce()/>
                            <script type="module" nonce=use_nonce()>
                                {boot}
                            </script>
                        }
                    })}
                <MetaTags/>
            </head>
            <body>
                <App/>
            </body>
        </html>
    }
}
