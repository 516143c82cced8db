//! The form itself, its problem, and its buttons.

use leptos::{ev::SubmitEvent, prelude::*, server_fn::ServerFn};
use leptos_router::hooks::{use_location, use_navigate};

use super::{FormScope, Submission};
use crate::{
    routes,
    ui::{Alert, Icon, Tone},
};

/// The name of a server function as a form's field `form` gives it.
#[must_use]
pub fn endpoint<F: ServerFn>() -> &'static str {
    F::PATH.rsplit('/').next().unwrap_or(F::PATH)
}

/// A form that posts to its own page.
///
/// With one function a hidden field names it; with several, each [`Submit`] names its own and Enter takes the first.
#[component]
pub fn Form(
    /// Prefix of the fields' ids, unique on the page.
    id: &'static str,
    /// The functions its buttons call, from [`endpoint`].
    functions: Vec<&'static str>,
    /// A hidden field that tells two forms of one function apart.
    #[prop(optional)]
    only: Option<(&'static str, &'static str)>,
    /// It has a file field.
    #[prop(optional)]
    multipart: bool,
    #[prop(optional)] class: &'static str,
    children: Children,
) -> impl IntoView {
    let submission = expect_context::<Submission>();
    let hidden = (functions.len() == 1).then(|| functions[0]);
    let scope =
        FormScope { id, functions: StoredValue::new(functions), only, submission, shown: StoredValue::new(Vec::new()) };
    provide_context(scope);
    let location = use_location();
    let here = location.pathname;
    submission.is_at(&here.get_untracked());
    on_cleanup(move || {
        // A form that is only rendered anew still waits for its answer.
        if let Some(now) = here.try_get_untracked() {
            submission.is_at(&now);
        }
        // What came back belongs to the page that was left. The signals may be gone already when the whole app is.
        let _ = submission.refused.try_set(None);
        let _ = submission.answered.try_set(None);
    });
    let action = move || routes::here(&location.pathname.get(), &location.search.get());
    let navigate = use_navigate();
    let on_submit = move |event: SubmitEvent| submit(&event, submission, here, navigate.clone());
    view! {
        <form id=id class=class method="post" action=action enctype=multipart.then_some("multipart/form-data") novalidate on:submit=on_submit>
            {hidden.map(|name| view! { <input type="hidden" name="form" value=name/> })}
            {only.map(|(name, value)| view! { <input type="hidden" name=name value=value/> })}
            {children()}
        </form>
    }
}

#[cfg(feature = "hydrate")]
use super::browser::submit;

/// Without a browser nothing is submitted: the server only renders forms.
#[cfg(not(feature = "hydrate"))]
fn submit<N>(_: &SubmitEvent, _: Submission, _: Memo<String>, _: N) {}

/// The end of a form: why it was refused, then its buttons. Place it after the fields, so that it knows which of them show
/// their own problem.
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
        <div class="form-problem" role="alert" tabindex="-1">{problem}</div>
        <div class="form-end">{children()}</div>
    }
}

/// A button that submits the form around it.
#[component]
pub fn Submit(
    #[prop(into)] label: String,
    /// The function to call, where the form has several.
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
