//! The preferences of a browser: theme, width of the sidebar, wrapping of log lines. They are cookies, so that the server renders them right.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::server;
use leptos_router::hooks::use_location;
use serde::{Deserialize, Serialize};

use crate::{Failure, json, routes};

/// Light, dark, or the system's choice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    #[default]
    System,
    Light,
    Dark,
}

impl Theme {
    pub const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    /// Its name in the cookie `theme` and in `data-theme`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// The reverse of [`Theme::as_str`]. Any other text is `System`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Self::ALL.into_iter().find(|theme| theme.as_str() == text).unwrap_or_default()
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::System => "System",
            Self::Light => "Light",
            Self::Dark => "Dark",
        }
    }
}

/// All preferences of one browser.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Preferences {
    pub(crate) theme: Theme,
    /// Whether the sidebar shows icons only.
    pub(crate) narrow: bool,
    /// Whether logs wrap long lines.
    pub(crate) wrap: bool,
}

impl Preferences {
    /// On the server, from the cookies of the request. In the browser, the defaults: it takes the server's values from
    /// [`json::shared`].
    pub(crate) fn of_request() -> Self {
        #[cfg(feature = "ssr")]
        {
            let cookie = |name: &str| {
                let parts = use_context::<http::request::Parts>()?;
                let header = parts.headers.get(http::header::COOKIE)?.to_str().ok()?;
                let mut pairs = header.split(';').filter_map(|pair| pair.trim().split_once('='));
                pairs.rfind(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
            };
            let theme = use_context::<Theme>().unwrap_or_else(|| Theme::parse(&cookie("theme").unwrap_or_default()));
            let is = |name, value| cookie(name).as_deref() == Some(value);
            Self { theme, narrow: is("sidebar", "narrow"), wrap: is("wrap", "on") }
        }
        #[cfg(not(feature = "ssr"))]
        Self::default()
    }
}

/// The current theme, for all components that show or change it.
#[derive(Clone, Copy)]
pub(crate) struct Theming(pub(crate) RwSignal<Theme>);

/// Whether logs wrap long lines, for all runs that the browser shows.
#[derive(Clone, Copy)]
pub(crate) struct Wrapping(pub(crate) RwSignal<bool>);

/// Puts the preferences into context. Called once, by the app.
pub(crate) fn provide() {
    let preferences = json::shared(Preferences::of_request);
    provide_context(preferences);
    provide_context(Theming(RwSignal::new(preferences.theme)));
    provide_context(Wrapping(RwSignal::new(preferences.wrap)));
}

/// A form that sets a preference and leads back to this page. With JavaScript `apply` sets the cookie and nothing is sent.
#[component]
pub(crate) fn PreferenceForm(
    function: &'static str,
    apply: Callback<SubmitEvent>,
    #[prop(optional)] class: &'static str,
    children: Children,
) -> impl IntoView {
    let location = use_location();
    let here = move || routes::here(&location.pathname.get(), &location.search.get());
    view! {
        <form class=class method="post" action=here on:submit=move |event| apply.run(event)>
            <input type="hidden" name="form" value=function/>
            <input type="hidden" name="next" value=here/>
            {children()}
        </form>
    }
}

/// Switches the theme in the browser: in the document at once, and in the cookie for the next page.
pub(crate) fn keep_theme(theme: RwSignal<Theme>, chosen: Theme) {
    keep_in_browser("theme", chosen.as_str());
    #[cfg(feature = "hydrate")]
    if let Some(root) = document().document_element() {
        let _ = match chosen {
            Theme::System => root.remove_attribute("data-theme"),
            chosen => root.set_attribute("data-theme", chosen.as_str()),
        };
    }
    theme.set(chosen);
}

/// Sets a preference's cookie from the browser.
pub(crate) fn keep_in_browser(name: &str, value: &str) {
    #[cfg(feature = "hydrate")]
    {
        use wasm_bindgen::JsCast;
        let _ = document().unchecked_into::<web_sys::HtmlDocument>().set_cookie(&cookie(name, value));
    }
    #[cfg(not(feature = "hydrate"))]
    let _ = (name, value);
}

fn cookie(name: &str, value: &str) -> String {
    format!("{name}={value}; Path=/; Max-Age=31536000; SameSite=Lax")
}

/// Keeps the theme in a cookie for a year.
#[server(prefix = "/api", endpoint = "set_theme", output = crate::json::Json)]
pub async fn set_theme(theme: String, #[server(default)] next: String) -> Result<(), Failure> {
    crate::session::signed_in()?;
    keep("theme", Theme::parse(&theme).as_str());
    crate::redirect::to(&next);
    Ok(())
}

/// Keeps the width of the sidebar in a cookie for a year.
#[server(prefix = "/api", endpoint = "set_sidebar", output = crate::json::Json)]
pub async fn set_sidebar(sidebar: String, #[server(default)] next: String) -> Result<(), Failure> {
    crate::session::signed_in()?;
    keep("sidebar", if sidebar == "narrow" { "narrow" } else { "wide" });
    crate::redirect::to(&next);
    Ok(())
}

/// Keeps in a cookie for a year whether logs wrap long lines.
#[server(prefix = "/api", endpoint = "set_wrap", output = crate::json::Json)]
pub async fn set_wrap(wrap: String, #[server(default)] next: String) -> Result<(), Failure> {
    crate::session::signed_in()?;
    keep("wrap", if wrap == "on" { "on" } else { "off" });
    crate::redirect::to(&next);
    Ok(())
}

#[cfg(feature = "ssr")]
fn keep(name: &str, value: &str) {
    if let (Some(response), Ok(value)) = (use_context::<leptos_axum::ResponseOptions>(), cookie(name, value).parse()) {
        response.append_header(http::header::SET_COOKIE, value);
    }
}
