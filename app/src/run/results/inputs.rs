//! The exact inputs of the run, as they were when it started.

use api::operation::{OperationDetail, OperationRow};
use leptos::prelude::*;

use super::super::state::Run;
use crate::ui::{Copy, Fact, Facts, dynamic};

/// What the run was started with. A piece of the page.
#[component]
pub fn InputsTab() -> impl IntoView {
    let run = expect_context::<Run>();
    // Leave out the fields that change often: the inputs change only once, when they are recorded.
    let detail = Memo::new(move |_| {
        run.detail.with(|detail| OperationDetail {
            row: OperationRow { message: String::new(), ..detail.row.clone() },
            now: api::Time(0),
            ..detail.clone()
        })
    });
    dynamic(move || {
        let detail = detail.get();
        let image = if detail.ran_locally {
            view! { <span class="mono">{detail.image}</span> " · not used: the run used the ansible on this machine" }
                .into_any()
        } else {
            view! { <span class="mono">{detail.image}</span> }.into_any()
        };
        let optional = |label: &'static str, value: String| {
            (!value.is_empty()).then(|| view! { <Fact label=label><span class="mono lines">{value}</span></Fact> })
        };
        let texts = match detail.inputs {
            None => {
                view! { <p class="muted tab-empty">"Inventory and variables are recorded when the run starts."</p> }
                    .into_any()
            }
            Some(inputs) => {
                let sha = inputs.sha256.clone();
                view! {
                    <InputText title="Inventory" text=inputs.inventory/>
                    <InputText title="Variables" text=inputs.variables/>
                    <p class="muted tab-empty">"sha256 of all inputs " <span class="mono lines">{sha}</span></p>
                }
                .into_any()
            }
        };
        let (title, is_script) = (detail.row.title().to_owned(), detail.row.script);
        view! {
            <Facts>
                <Fact label="Action">{title}</Fact>
                <Fact label="Source">{detail.source}</Fact>
                <Fact label="Image">{image}</Fact>
                {optional("Extra arguments", detail.extra_args)} {optional("Run before", detail.pre_hooks.join("\n"))}
                {optional("Run after", detail.post_hooks.join("\n"))}
                {(detail.deadline > 0)
                    .then(|| {
                        let ms = i64::try_from(detail.deadline).unwrap_or_default().saturating_mul(1000);
                        view! { <Fact label="Deadline">{api::duration(ms)}</Fact> }
                    })} {optional("Job", detail.job.unwrap_or_default())}
            </Facts>
            {is_script.then(|| view! { <InputText title="Script" text=detail.action/> })} {texts}
        }
    })
}

#[component]
fn InputText(title: &'static str, text: String) -> impl IntoView {
    let empty = text.trim().is_empty();
    view! {
        <section class="input-text">
            <header>
                <h2>{title}</h2>
                {(!empty).then(|| view! { <Copy text=text.clone()/> })}
            </header>
            {if empty {
                view! { <p class="muted">"Empty."</p> }.into_any()
            } else {
                view! { <pre tabindex="0" aria-label=title>{text.clone()}</pre> }.into_any()
            }}
        </section>
    }
}
