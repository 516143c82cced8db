//! The settings page: version and mode, theme, keyboard shortcuts.

use api::backend::About;
use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::server;
use server_fn::codec::GetUrl;

use crate::form::endpoint;
use crate::json::data;
use crate::keyboard::KeyList;
use crate::preferences::{PreferenceForm, SetTheme, Theming, keep_theme};
use crate::ui::{Fact, Facts, Loaded, PageTitle, Panel};
use crate::{Failure, Theme};

#[server(prefix = "/api", endpoint = "load_about", input = GetUrl, output = crate::json::Json)]
pub async fn load_about() -> Result<About, Failure> {
    let (_, backend) = crate::session::signed_in()?;
    Ok((*backend.about).clone())
}

#[component]
pub fn SettingsPage() -> impl IntoView {
    let about = data(|| (), |()| load_about());
    view! {
        <PageTitle text="Settings"/>
        <div class="two">
            <div class="stack">
                <Panel title="About">
                    <Loaded resource=about rows=3 let:about>
                        <Facts>
                            <Fact label="kubeonkube"><span class="mono">{about.version}</span></Fact>
                            <Fact label="Mode">{about.mode}</Fact>
                            {about
                                .facts
                                .into_iter()
                                .map(|(label, value)| view! { <Fact label><span class="mono">{value}</span></Fact> })
                                .collect_view()}
                        </Facts>
                    </Loaded>
                </Panel>
                <Panel title="Theme"><div class="pad"><Themes/></div></Panel>
            </div>
            <Panel title="Keyboard"><KeyList/></Panel>
        </div>
    }
}

#[component]
fn Themes() -> impl IntoView {
    let theme = expect_context::<Theming>().0;
    let apply = move |event: SubmitEvent| {
        event.prevent_default();
        if let Some(chosen) = pressed(&event) {
            keep_theme(theme, Theme::parse(&chosen));
        }
    };
    view! {
        <PreferenceForm function={endpoint::<SetTheme>()} apply=Callback::new(apply)>
            <div class="bar">
                {Theme::ALL
                    .into_iter()
                    .map(|option| {
                        view! {
                            <button
                                type="submit"
                                class="btn"
                                name="theme"
                                value=option.as_str()
                                aria-pressed=move || if theme.get() == option { "true" } else { "false" }
                            >
                                {option.word()}
                            </button>
                        }
                    })
                    .collect_view()}
            </div>
        </PreferenceForm>
    }
}

/// The value of the pressed button.
#[cfg(feature = "hydrate")]
fn pressed(event: &SubmitEvent) -> Option<String> {
    use wasm_bindgen::JsCast;
    Some(event.submitter()?.dyn_into::<web_sys::HtmlButtonElement>().ok()?.value())
}

#[cfg(not(feature = "hydrate"))]
fn pressed(_: &SubmitEvent) -> Option<String> {
    None
}
