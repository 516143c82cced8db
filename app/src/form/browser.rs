//! Submits a form in the browser: calls the same server function by fetch.

use api::Problem;
use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    File, FormData, HtmlButtonElement, HtmlElement, HtmlFormElement, Request, RequestInit, Response, UrlSearchParams,
};

use super::submission::{FormAnswer, FormReturn, Submission, refusal, unanswered};
use crate::wait::after_render;

/// Replaces the browser's own submission, so that the page is not reloaded and keeps what was typed.
pub(super) fn submit(
    event: &SubmitEvent,
    submission: Submission,
    here: Memo<String>,
    navigate: impl Fn(&str, NavigateOptions) + Clone + 'static,
) {
    if event.default_prevented() {
        return;
    }
    let Some(form) = event.target().and_then(|target| target.dyn_into::<HtmlFormElement>().ok()) else { return };
    event.prevent_default();
    let Some(number) = submission.start(&here.get_untracked()) else { return };
    let button = event.submitter().and_then(|element| element.dyn_into::<HtmlButtonElement>().ok());
    spawn_local(async move {
        let values = collect(&form, button.as_ref()).await;
        let name = values.iter().rfind(|(name, _)| name == "form").map(|(_, value)| value.clone()).unwrap_or_default();
        let outcome = call(&name, &values).await;
        if !here.try_get_untracked().is_some_and(|here| submission.finish(number, &here)) {
            return; // The user has left the page, so the answer is dropped.
        }
        match outcome {
            Outcome::Redirect(path) => {
                submission.clear();
                navigate(&path, NavigateOptions::default());
            }
            Outcome::Answer(answer_json) => {
                submission.refused.set(None);
                submission.answered.set(Some(FormAnswer { form: name, values, answer_json }));
                focus_after_render(&form, ".form-answer");
            }
            Outcome::Refused(problem) => {
                submission.answered.set(None);
                submission.refused.set(Some(FormReturn { form: name, values, problem }));
                focus_after_render(&form, ".conflict, [aria-invalid=true], .form-problem");
            }
        }
    });
}

enum Outcome {
    Redirect(String),
    Answer(String),
    Refused(Problem),
}

/// All fields of the form, with files as text, followed by the name and value of the pressed button.
async fn collect(form: &HtmlFormElement, button: Option<&HtmlButtonElement>) -> Vec<(String, String)> {
    let mut values = Vec::new();
    let entries = FormData::new_with_form(form).ok().and_then(|data| js_sys::try_iter(&data).ok().flatten());
    for entry in entries.into_iter().flatten().flatten() {
        let pair = js_sys::Array::from(&entry);
        let Some(name) = pair.get(0).as_string() else { continue };
        let value = pair.get(1);
        let text = match value.dyn_ref::<File>() {
            Some(file) => JsFuture::from(file.text()).await.ok().and_then(|text| text.as_string()).unwrap_or_default(),
            None => value.as_string().unwrap_or_default(),
        };
        values.push((name, text));
    }
    if let Some(button) = button.filter(|button| !button.name().is_empty()) {
        values.push((button.name(), button.value()));
    }
    values
}

async fn call(name: &str, values: &[(String, String)]) -> Outcome {
    match fetch(name, values).await {
        Ok(outcome) => outcome,
        // The browser doesn't report whether the request failed before or after the server received it.
        Err(_) => Outcome::Refused(unanswered()),
    }
}

async fn fetch(name: &str, values: &[(String, String)]) -> Result<Outcome, JsValue> {
    let body = UrlSearchParams::new()?;
    for (name, value) in values {
        body.append(name, value);
    }
    let init = RequestInit::new();
    init.set_method("POST");
    init.set_body(&body);
    let request = Request::new_with_str_and_init(&format!("{}/{name}", crate::PREFIX), &init)?;
    request.headers().set("Accept", "application/json")?;
    let response: Response = JsFuture::from(window().fetch_with_request(&request)).await?.dyn_into()?;
    let text = JsFuture::from(response.text()?).await?.as_string().unwrap_or_default();
    if !response.ok() {
        return Ok(Outcome::Refused(refusal(&text)));
    }
    Ok(match response.headers().get("Location")? {
        Some(path) => Outcome::Redirect(path),
        None => Outcome::Answer(text),
    })
}

/// Focuses the answer, which is rendered in the next frame.
fn focus_after_render(form: &HtmlFormElement, selector: &'static str) {
    let form = form.clone();
    after_render(move || {
        if let Ok(Some(element)) = form.query_selector(selector)
            && let Ok(element) = element.dyn_into::<HtmlElement>()
        {
            let _ = element.focus();
            element.scroll_into_view_with_bool(true);
        }
    });
}
