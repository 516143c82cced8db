//! Inputs with label, hint and error message. After a submission they are refilled with the values that were sent.

use leptos::either::Either;
use leptos::prelude::*;

use super::scope::FormScope;
use crate::ui::optional;

/// A field's name, ids and form. All kinds of input use it.
struct Bound {
    id: String,
    hint_id: String,
    error_id: String,
    scope: FormScope,
    name: String,
}

impl Bound {
    fn new(name: String) -> Self {
        let scope = expect_context::<FormScope>();
        scope.claim(&name);
        let id = scope.id_of(&name);
        Self { hint_id: format!("{id}-hint"), error_id: format!("{id}-error"), id, scope, name }
    }

    fn message(&self) -> Signal<Option<String>> {
        let (scope, name) = (self.scope, self.name.clone());
        Signal::derive(move || scope.message(&name))
    }

    fn described_by(&self, has_hint: bool) -> String {
        if has_hint { format!("{} {}", self.error_id, self.hint_id) } else { self.error_id.clone() }
    }
}

/// Renders the label above the input, and the problem and the hint below it.
fn frame(
    bound: &Bound,
    label: String,
    hint: Option<String>,
    class: &'static str,
    message: Signal<Option<String>>,
    input: AnyView,
) -> impl IntoView + use<> {
    let (id, hint_id, error_id) = (bound.id.clone(), bound.hint_id.clone(), bound.error_id.clone());
    view! {
        <div class=format!("field {class}")>
            <label for=id>{label}</label>
            {input}
            <span class="field-error" id=error_id>{optional(move || message.get())}</span>
            {hint.map(|hint| view! { <small id=hint_id>{hint}</small> })}
        </div>
    }
}

/// One line of text.
#[component]
pub fn Field(
    #[prop(into)] name: String,
    #[prop(into)] label: String,
    #[prop(optional, into)] hint: Option<String>,
    /// The initial value. A value from the last submission takes precedence.
    #[prop(optional, into)]
    value: String,
    #[prop(default = "text")] kind: &'static str,
    #[prop(optional, into)] placeholder: String,
    #[prop(default = "off")] autocomplete: &'static str,
    #[prop(optional)] class: &'static str,
    #[prop(optional)] mono: bool,
    #[prop(optional)] autofocus: bool,
    /// `value` takes precedence over that of the last submission.
    #[prop(optional)]
    overrides: bool,
) -> impl IntoView {
    let bound = Bound::new(name.clone());
    let message = bound.message();
    let value = bound.scope.value(&name).filter(|_| !overrides).unwrap_or(value);
    let input = view! {
        <input
            id=bound.id.clone()
            name=name
            type=kind
            class:mono=mono
            value=value
            placeholder=placeholder
            autocomplete=autocomplete
            autocapitalize="off"
            spellcheck="false"
            autofocus=autofocus
            aria-describedby=bound.described_by(hint.is_some())
            aria-invalid=move || message.get().map(|_| "true")
        />
    };
    frame(&bound, label, hint, class, message, input.into_any())
}

/// Several lines in the monospace font. Secret fields are never refilled.
#[component]
pub fn TextArea(
    #[prop(into)] name: String,
    #[prop(into)] label: String,
    #[prop(optional, into)] hint: Option<String>,
    #[prop(optional, into)] value: String,
    #[prop(default = 8)] rows: u32,
    #[prop(optional, into)] placeholder: String,
    #[prop(optional)] class: &'static str,
    /// Long lines scroll instead of wrapping, so that YAML stays readable.
    #[prop(optional)]
    nowrap: bool,
) -> impl IntoView {
    let bound = Bound::new(name.clone());
    let message = bound.message();
    let value = bound.scope.value(&name).unwrap_or(value);
    // The HTML parser drops a newline right after `<textarea>`. A second one keeps the newline that the text starts with.
    let text = if cfg!(feature = "ssr") && value.starts_with(['\n', '\r']) { format!("\n{value}") } else { value };
    let input = view! {
        <textarea
            id=bound.id.clone()
            name=name
            rows=rows
            placeholder=placeholder
            autocomplete="off"
            autocapitalize="off"
            spellcheck="false"
            wrap=nowrap.then_some("off")
            aria-describedby=bound.described_by(hint.is_some())
            aria-invalid=move || message.get().map(|_| "true")
        ></textarea>
    };
    // Leptos renders an empty text node as a space in the server's HTML. In a textarea that space would be content.
    let input = if text.is_empty() { input.into_any() } else { input.into_inner().child(text).into_any() };
    frame(&bound, label, hint, class, message, input)
}

/// A drop-down list.
#[component]
pub fn Select(
    #[prop(into)] name: String,
    #[prop(into)] label: String,
    /// Value and label of each option.
    options: Vec<(String, String)>,
    #[prop(optional, into)] hint: Option<String>,
    #[prop(optional, into)] value: String,
    #[prop(optional)] class: &'static str,
    /// `value` takes precedence over that of the last submission.
    #[prop(optional)]
    overrides: bool,
) -> impl IntoView {
    let bound = Bound::new(name.clone());
    let message = bound.message();
    let chosen = bound.scope.value(&name).filter(|_| !overrides).unwrap_or(value);
    let input = view! {
        <select
            id=bound.id.clone()
            name=name
            aria-describedby=bound.described_by(hint.is_some())
            aria-invalid=move || message.get().map(|_| "true")
        >
            {options
                .into_iter()
                .map(|(value, word)| {
                    let selected = value == chosen;
                    view! { <option value=value selected=selected>{word}</option> }
                })
                .collect_view()}
        </select>
    };
    frame(&bound, label, hint, class, message, input.into_any())
}

/// A file whose text is sent. Browsers don't allow refilling it.
#[component]
pub fn FileField(
    #[prop(into)] name: String,
    #[prop(into)] label: String,
    #[prop(optional, into)] hint: Option<String>,
    #[prop(optional)] accept: &'static str,
) -> impl IntoView {
    let bound = Bound::new(name.clone());
    let message = bound.message();
    let input = view! {
        <input
            id=bound.id.clone()
            name=name
            type="file"
            accept=accept
            aria-describedby=bound.described_by(hint.is_some())
            aria-invalid=move || message.get().map(|_| "true")
        />
    };
    frame(&bound, label, hint, "", message, input.into_any())
}

/// A checkbox, or a radio button if `radio` is set.
#[component]
pub fn Check(
    #[prop(into)] name: String,
    #[prop(into)] label: String,
    #[prop(default = "true".to_owned(), into)] value: String,
    #[prop(optional, into)] hint: Option<String>,
    #[prop(optional)] checked: bool,
    #[prop(optional)] radio: bool,
) -> impl IntoView {
    let scope = expect_context::<FormScope>();
    let checked = match scope.typed() {
        Some(values) => values.iter().any(|(n, v)| *n == name && *v == value),
        None => checked,
    };
    let id = format!("{}-{value}", scope.id_of(&name));
    let hint_id = format!("{id}-hint");
    let input = if radio {
        Either::Left(
            view! { <input type="radio" id=id.clone() name=name value=value checked=checked aria-describedby=hint_id.clone()/> },
        )
    } else {
        Either::Right(
            view! { <input type="checkbox" id=id.clone() name=name value=value checked=checked aria-describedby=hint_id.clone()/> },
        )
    };
    view! {
        <div class="check-field">
            {input} <label for=id>{label}</label> <small id=hint_id>{hint}</small>
        </div>
    }
}
