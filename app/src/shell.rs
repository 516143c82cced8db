//! The document around the app: head, theme, and the one boot script.

use std::collections::BTreeMap;

use http::request::Parts;
use leptos::{nonce::use_nonce, prelude::*};
use leptos_meta::MetaTags;

use crate::{App, Theme, chunks::Page, login::HeldForm, preferences::Preferences};

/// Paths of the hashed files that the browser loads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assets {
    pub css: String,
    pub js: String,
    pub wasm: String,
    /// The file of each page that has one ([`crate::chunks`]); none where the wasm is one file.
    pub pages: BTreeMap<String, String>,
}

/// The whole document. Nothing inline but the boot script, which carries the nonce of the page.
pub fn shell(assets: &Assets) -> impl IntoView + use<> {
    let Assets { css, js, wasm, .. } = assets.clone();
    let uri = use_context::<Parts>().map(|parts| parts.uri).unwrap_or_default();
    // The wasm and the page's part of it are asked for before the script that instantiates them has arrived. No preload link:
    // that would make browsers without JavaScript fetch them, too. The script looks into `early` first.
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
    // A held form stands under the address of another page, which the app would put in its place.
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
