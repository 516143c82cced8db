//! The editor of one document: text with line numbers, review, save.

use api::Problem;
use api::configuration::{ChangeReview, Document, DocumentText, HostKeyScan};
use leptos::prelude::*;

use super::conflict::Conflict;
use super::excerpt::Excerpt;
use super::functions::{KeepEditing, ReviewChange, SaveChange, ScanHostKeys};
use super::hints::{Hints, Warnings};
use super::review::Review;
use super::scanned::Scanned;
use crate::form::{Form, FormEnd, Submit, endpoint, guard_unsaved};
use crate::ui::{Alert, Panel, Tone, dynamic, optional};

#[component]
pub(super) fn DocumentEditor(cluster: String, document: Document, current: DocumentText) -> impl IntoView {
    let mut functions = vec![endpoint::<ReviewChange>(), endpoint::<SaveChange>(), endpoint::<KeepEditing>()];
    let (id, title) = match document {
        Document::Inventory => ("inventory", "Inventory"),
        Document::Variables => ("variables", "Variables"),
        Document::HostKeys => {
            functions.push(endpoint::<ScanHostKeys>());
            ("host-keys", "Host keys")
        }
    };
    let place = view! { <span class="muted mono">{current.place.clone()}</span> }.into_any();
    view! {
        {current
            .foreign
            .then(|| {
                view! {
                    <Alert
                        tone=Tone::Warn
                        title="This object was not created by the console. You can edit it here, but its owner may overwrite your edit."
                    />
                }
            })}
        <Form id functions only=("document", document.as_str()) class="stack">
            <input type="hidden" name="cluster" value=cluster/>
            <Panel title end=Some(place)>
                <div class="editing"><Editing document current/></div>
            </Panel>
        </Form>
    }
}

/// A separate component, because the form's answer is only available inside `Form`.
#[component]
fn Editing(document: Document, current: DocumentText) -> impl IntoView {
    let scope = expect_context::<crate::form::FormScope>();
    let field = NodeRef::<leptos::html::Textarea>::new();
    let text =
        RwSignal::new(scope.value("text").map_or_else(|| current.text.clone(), |typed| typed.replace("\r\n", "\n")));
    let saved = StoredValue::new(current.text.clone());
    guard_unsaved(Signal::derive(move || text.with(|text| saved.with_value(|saved| text != saved))));
    let answer_of = move |function: &str| scope.answered().filter(|answer| answer.form == function);
    let scanned = Memo::new(move |_| answer_of(endpoint::<ScanHostKeys>())?.answer::<HostKeyScan>());
    if let Some(scan) = scanned.get_untracked() {
        text.set(scan.text);
    }
    let show = move |new: String| {
        if let Some(field) = field.get_untracked() {
            field.set_value(&new);
        }
        text.set(new);
    };
    Effect::new(move |_| {
        if let Some(scan) = scanned.get() {
            show(scan.text);
        }
    });
    let reviewed = Signal::derive(move || match scanned.get() {
        Some(scan) => Some(scan.review),
        None => answer_of(endpoint::<ReviewChange>())?.answer::<ChangeReview>(),
    });
    let conflict = Signal::derive(move || match scope.refused()?.problem {
        Problem::Conflict { theirs, yours, version, .. } => Some((theirs, yours, version)),
        _ => None,
    });
    // A review compares with the newest saved version and returns that version. So after a conflict, a reviewed text may
    // overwrite the other change: the user has seen the difference.
    let base = RwSignal::new(current.version.clone());
    let version = move || {
        let newest = conflict.get().map(|(_, _, version)| version).or_else(|| reviewed.get().map(|r| r.version));
        newest.or_else(|| scope.submitted("version")).unwrap_or_else(|| base.get())
    };
    let take = Callback::new(move |(theirs, version): (String, String)| {
        saved.set_value(theirs.clone());
        show(theirs);
        base.set(version);
    });
    view! {
        <input type="hidden" name="version" value=version/>
        {optional(move || conflict.get().map(|(theirs, yours, version)| view! { <Conflict theirs yours version take/> }))}
        {optional(move || scanned.get().map(|scan| view! { <Scanned machines=scan.machines/> }))}
        {optional(move || reviewed.get().map(|review| view! { <Review review document/> }))}
        <TextWithNumbers document text field reviewed=Signal::derive(move || reviewed.get().is_some())/>
        {optional(move || scope.message("text").map(|message| view! { <Excerpt text=text.get_untracked() message/> }))}
        {
            let saved = current.warnings.clone();
            optional(move || reviewed.get().is_none().then(|| view! { <Warnings warnings=saved.clone()/> }))
        }
        <Hints hints=current.hints.clone()/>
        {current.problem.clone().map(|problem| {
            let title = match document {
                Document::HostKeys => "Some of these host keys can't be used. Unusable entries confirm no machine.",
                _ => "This document is invalid, so no operation can start.",
            };
            view! { <Alert tone=Tone::Err title><p>{problem.clone()}</p><Excerpt text=current.text.clone() message=problem/></Alert> }
        })}
        <FormEnd>
            {dynamic(move || {
                if reviewed.get().is_some() {
                    view! {
                        <Submit label="Save" function={endpoint::<SaveChange>()}/>
                        <Submit label="Keep editing" function={endpoint::<KeepEditing>()} class="btn"/>
                    }
                    .into_any()
                } else if document == Document::HostKeys {
                    view! {
                        <Submit label="Scan host keys" function={endpoint::<ScanHostKeys>()}/>
                        <Submit label="Review changes" function={endpoint::<ReviewChange>()} class="btn"/>
                    }
                    .into_any()
                } else {
                    view! { <Submit label="Review changes" function={endpoint::<ReviewChange>()}/> }.into_any()
                }
            })}
        </FormEnd>
    }
}

/// A textarea with line numbers on its left. Reviewed text is read-only, so that exactly the reviewed text is saved.
#[component]
fn TextWithNumbers(
    document: Document,
    text: RwSignal<String>,
    field: NodeRef<leptos::html::Textarea>,
    reviewed: Signal<bool>,
) -> impl IntoView {
    let scope = expect_context::<crate::form::FormScope>();
    scope.claim("text");
    let label = match document {
        Document::Inventory => "Inventory, YAML",
        Document::Variables => "Variables, YAML",
        Document::HostKeys => "Host keys, known_hosts format",
    };
    let lines = Memo::new(move |_| text.with(|text| line_count(text)));
    let numbers = move || (1..=lines.get()).map(|n| format!("{n}\n")).collect::<String>();
    let error = scope.id_of("text-error");
    let textarea = view! {
        <textarea
            node_ref=field
            id=scope.id_of("text")
            name="text"
            rows=move || lines.get().max(8)
            wrap="off"
            spellcheck="false"
            autocomplete="off"
            autocapitalize="off"
            aria-label=label
            aria-describedby=error.clone()
            aria-invalid=move || scope.message("text").map(|_| "true")
            readonly=move || reviewed.get()
            on:input:target=move |event| text.set(event.target().value())
        ></textarea>
    };
    let value = text.get_untracked();
    view! {
        <div class="editor">
            <pre class="line-numbers" aria-hidden="true">{numbers}</pre>
            // Leptos renders an empty text node as a space in the server's HTML. In a textarea that space would be content.
            {if value.is_empty() { textarea.into_any() } else { textarea.into_inner().child(keep_first_newline(value)).into_any() }}
        </div>
        <span class="field-error" id=error>{optional(move || scope.message("text"))}</span>
    }
}

/// The HTML parser drops a newline right after `<textarea>`. A second one keeps the newline that the text starts with.
fn keep_first_newline(text: String) -> String {
    if cfg!(feature = "ssr") && text.starts_with('\n') { format!("\n{text}") } else { text }
}

/// Counts as an editor does: a newline at the end starts another line.
fn line_count(text: &str) -> usize {
    text.matches('\n').count() + 1
}
