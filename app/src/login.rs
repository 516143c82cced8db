//! The sign-in page: a plain form for a one-time link or a token. It posts to a route of the binary.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::ui::{Alert, Icon, PageTitle, Tone, icon};
use crate::{form, json, redirect, routes};

/// What the sign-in page shows. The binary provides it as context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoginPage {
    pub mode: LoginMode,
    /// Why the last attempt was refused.
    pub problem: Option<String>,
    /// The path to open after signing in. Empty: the start page.
    pub next: String,
    /// The name of the OIDC provider at which users can sign in, if there is one.
    pub provider: Option<String>,
}

/// A form that was posted without JavaScript after the session had ended. The binary provides it as context, and the sign-in
/// page keeps its fields. That page loads no script: the browser's URL is still the form's, so hydration would render the
/// form's page instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldForm {
    /// The URL it was posted to.
    pub action: String,
    /// Its fields in their order, including `form`.
    pub fields: Vec<(String, String)>,
}

/// How users sign in to this server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoginMode {
    /// Standalone: with a link that works once. `valid` holds the token if the page was opened with a valid link; `command` prints
    /// another link.
    Link { valid: Option<String>, command: String },
    /// In a cluster: with a Kubernetes token.
    Token,
}

/// The sign-in page. Opening a one-time link only shows a button, and pressing the button uses the link up: mail scanners and
/// link previews follow links but don't press buttons.
#[component]
pub fn SignInPage() -> impl IntoView {
    if let Some(held) = use_context::<HeldForm>() {
        return view! { <Held held/> }.into_any();
    }
    let unknown = || LoginPage { mode: LoginMode::Token, problem: None, next: String::new(), provider: None };
    let page = json::shared(|| use_context::<LoginPage>().unwrap_or_else(unknown));
    let next = Some(page.next).filter(|next| redirect::is_local(next)).unwrap_or_default();
    view! {
        <main class="sign-in">
            <div class="sign-in-card">
                <p class="brand">{icon(Icon::Logo)} <span>"kubeonkube"</span></p>
                <PageTitle text="Sign in"/>
                {page.problem.map(|problem| view! { <div role="alert"><Alert tone=Tone::Err title=problem/></div> })}
                {match page.mode {
                    LoginMode::Link { valid: Some(token), .. } => view! { <OneTimeLink token next/> }.into_any(),
                    LoginMode::Link { valid: None, command } => view! { <NeedsLink command/> }.into_any(),
                    LoginMode::Token => view! { <InCluster next provider=page.provider/> }.into_any(),
                }}
            </div>
        </main>
    }
    .into_any()
}

/// Keeps the typed values until the user has signed in again. Only pressing the button sends them, because another user may
/// have signed in meanwhile.
#[component]
fn Held(held: HeldForm) -> impl IntoView {
    let filled = held.fields.iter().filter(|(_, value)| !value.is_empty()).count();
    let fields = form::without_secrets(held.fields);
    let has_secret = fields.iter().filter(|(_, value)| !value.is_empty()).count() < filled;
    view! {
        <main class="sign-in">
            <div class="sign-in-card">
                <p class="brand">{icon(Icon::Logo)} <span>"kubeonkube"</span></p>
                <PageTitle text="Sign in to send this"/>
                <div role="alert">
                    <Alert tone=Tone::Warn title="Your session ended before this was sent, so nothing was changed."/>
                </div>
                <p>"What you typed is kept on this page. Sign in in a new tab, then come back here and send it again."</p>
                {has_secret.then(|| view! { <p class="muted">"The SSH key is not kept. The form will ask for it again."</p> })}
                <a class="btn wide" href=routes::LOGIN target="_blank" autofocus>"Sign in in a new tab"</a>
                <form method="post" action=held.action>
                    {fields
                        .into_iter()
                        .map(|(name, value)| view! { <input type="hidden" name=name value=value/> })
                        .collect_view()}
                    <button class="btn primary wide" type="submit">"Send it again"</button>
                </form>
            </div>
        </main>
    }
}

#[component]
fn OneTimeLink(token: String, next: String) -> impl IntoView {
    view! {
        <p class="muted">"This link signs in this browser. It works once."</p>
        <form method="post" action=routes::LOGIN>
            <input type="hidden" name="token" value=token/>
            <input type="hidden" name="next" value=next/>
            <button class="btn primary wide" type="submit" autofocus>"Sign in"</button>
        </form>
    }
}

#[component]
fn NeedsLink(command: String) -> impl IntoView {
    view! {
        <p>"Open the sign-in link that the server printed when it started."</p>
        <p class="muted">"Each link works once. To get a new one, run this on the server's machine:"</p>
        <pre class="command"><code>{command}</code></pre>
    }
}

/// The provider first, if there is one. The form for tokens stays, for robots and for the day on which the provider can't be reached.
#[component]
fn InCluster(next: String, provider: Option<String>) -> impl IntoView {
    let Some(name) = provider else { return view! { <WithToken next is_first=true/> }.into_any() };
    view! {
        // The binary answers this address, so the browser must load it.
        <a class="btn primary wide" href=routes::sign_in_at_provider(&next) rel="external" autofocus>{format!("Sign in with {name}")}</a>
        <p class="muted">"Or sign in with a token:"</p>
        <WithToken next is_first=false/>
    }
    .into_any()
}

#[component]
fn WithToken(next: String, is_first: bool) -> impl IntoView {
    let button = if is_first { "btn primary wide" } else { "btn wide" };
    view! {
        <form method="post" action=routes::LOGIN class="stack">
            <input type="hidden" name="next" value=next/>
            <div class="field">
                <label for="token">"Kubernetes token"</label>
                <input id="token" name="token" type="password" autocomplete="current-password" aria-describedby="token-hint" autofocus=is_first/>
                <small id="token-hint">"The console acts with this token's permissions. To create a token:"</small>
            </div>
            <pre class="command"><code>"kubectl create token NAME --namespace NAMESPACE"</code></pre>
            <button class=button type="submit">"Sign in"</button>
        </form>
    }
}
