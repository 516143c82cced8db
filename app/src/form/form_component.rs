//! The form, its error message, and its buttons.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos_router::hooks::{use_location, use_navigate};

use super::scope::FormScope;
use super::submission::Submission;
use crate::routes;
use crate::ui::{Alert, Icon, Tone};

/// The name of a server function, as sent in the form field `form`.
#[must_use]
pub fn endpoint<F: ServerFn>() -> &'static str {
    F::PATH.rsplit('/').next().unwrap_or(F::PATH)
}

/// A form that posts to its own page.
///
/// If the form has one function, a hidden field names it. If it has several, each [`Submit`] names its own, and Enter presses
/// the first.
#[component]
pub fn Form(
    /// Prefix of the fields' ids. Must be unique on the page.
    id: &'static str,
    /// The functions that its buttons call, from [`endpoint`].
    functions: Vec<&'static str>,
    /// Name and value of a hidden field. It distinguishes two forms of the same function.
    #[prop(optional)]
    only: Option<(&'static str, &'static str)>,
    /// Names of the choices that decide which fields the form shows. After another choice, a refusal is out of date and goes. The
    /// first one names the kind in the style sheet, which hides the refusal without JavaScript.
    #[prop(optional)]
    kinds: &'static [&'static str],
    /// The form has a file field.
    #[prop(optional)]
    multipart: bool,
    #[prop(optional)] class: &'static str,
    children: Children,
) -> impl IntoView {
    let submission = expect_context::<Submission>();
    let hidden = (functions.len() == 1).then(|| functions[0]);
    let scope = FormScope {
        id,
        functions: StoredValue::new(functions),
        only,
        kinds,
        submission,
        shown: StoredValue::new(Vec::new()),
    };
    provide_context(scope);
    let location = use_location();
    let here = location.pathname;
    submission.drop_unless_at(&here.get_untracked());
    on_cleanup(move || {
        // A form that is re-rendered on the same page still waits for its answer.
        if let Some(now) = here.try_get_untracked() {
            submission.drop_unless_at(&now);
        }
        // The answer belongs to the page that was left. The signals may already be disposed together with the app.
        let _ = submission.refused.try_set(None);
        let _ = submission.answered.try_set(None);
    });
    let action = move || routes::here(&location.pathname.get(), &location.search.get());
    let navigate = use_navigate();
    let on_submit = move |event: SubmitEvent| submit(&event, submission, here, navigate.clone());
    let on_change = move |event: leptos::ev::Event| {
        if kinds.contains(&field_of(&event).0.as_str()) && scope.refused_untracked() {
            submission.refused.set(None);
        }
    };
    view! {
        <form id=id class=class method="post" action=action enctype=multipart.then_some("multipart/form-data") novalidate on:submit=on_submit on:change=on_change>
            {hidden.map(|name| view! { <input type="hidden" name="form" value=name/> })}
            {only.map(|(name, value)| view! { <input type="hidden" name=name value=value/> })}
            {children()}
        </form>
    }
}

/// Name and value of the field that an event comes from.
#[must_use]
pub fn field_of(event: &leptos::ev::Event) -> (String, String) {
    // Drop-down lists and text areas have the same two properties.
    let field: leptos::web_sys::HtmlInputElement = event_target(event);
    (field.name(), field.value())
}

/// Whether an event comes from a field in which the user types. Other fields are choices.
#[must_use]
pub fn is_typed(event: &leptos::ev::Event) -> bool {
    let field: leptos::web_sys::HtmlInputElement = event_target(event);
    // A text area has the type `textarea`.
    field.type_().starts_with("text")
}

#[cfg(feature = "hydrate")]
use super::browser::submit;

/// The server only renders forms and never submits one.
#[cfg(not(feature = "hydrate"))]
fn submit<N>(_: &SubmitEvent, _: Submission, _: Memo<String>, _: N) {}

/// The end of a form: the reason if it was refused, and the buttons. Place it after all fields, so
/// that it doesn't repeat problems that fields show.
#[component]
pub fn FormEnd(children: Children) -> impl IntoView {
    let scope = expect_context::<FormScope>();
    let location = use_location();
    let problem = move || {
        let problem = scope.refused()?.problem;
        let (title, elsewhere) = scope.summary(&problem);
        let signed_out = matches!(problem, api::Problem::SignedOut);
        Some(view! {
            <Alert tone=Tone::Err title>
                {(!elsewhere.is_empty())
                    .then(|| view! { <ul class="plain">{elsewhere.into_iter().map(|m| view! { <li>{m}</li> }).collect_view()}</ul> })}
                {signed_out
                    .then(|| {
                        view! {
                            <a class="link" href=routes::login(&location.pathname.get_untracked()) target="_blank">
                                "Sign in in a new tab"
                            </a>
                        }
                    })}
            </Alert>
        })
    };
    view! {
        <div class="form-problem" role="alert" tabindex="-1" data-kind=move || scope.kind()>{problem}</div>
        <div class="form-end">{children()}</div>
    }
}

/// A button that submits the form around it.
#[component]
pub fn Submit(
    #[prop(into)] label: String,
    /// The function to call, if the form has several.
    #[prop(optional)]
    function: Option<&'static str>,
    #[prop(default = "btn primary")] class: &'static str,
    #[prop(optional)] icon: Option<Icon>,
) -> impl IntoView {
    let scope = expect_context::<FormScope>();
    let pending = scope.submission.pending;
    view! {
        <button
            type="submit"
            class=class
            name=function.map(|_| "form")
            value=function
            disabled=move || pending.get()
            aria-busy=move || pending.get().then_some("true")
        >
            {icon.map(crate::ui::icon)}
            {label}
        </button>
    }
}
