//! The page with the submit form.

use api::operation::{Deadline, Draft, OperationReview};
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use super::actions::Actions;
use super::functions::{ReviewOperation, SubmitForm, SubmitOperation, load_submit_form};
use super::review::Review;
use crate::form::{Field, Form, FormEnd, FormScope, Select, Submit, TextArea, endpoint};
use crate::json::data;
use crate::routes;
use crate::ui::{Empty, Icon, Loaded, PageTitle, dynamic, icon};

/// `/operations/new?cluster=…&action=…`, or `?again=…` with the name of an earlier operation.
#[component]
pub fn NewOperationPage() -> impl IntoView {
    let query = use_query_map();
    let again = Memo::new(move |_| query.read().get("again").unwrap_or_default());
    let form = data(move || again.get(), load_submit_form);
    let asked = move || {
        query
            .with_untracked(|query| (query.get("cluster").unwrap_or_default(), query.get("action").unwrap_or_default()))
    };
    view! {
        <PageTitle text="Run an operation"/>
        <Loaded resource=form let:form>
            {
                if form.choices.clusters.is_empty() {
                    view! { <NoClusters/> }.into_any()
                } else {
                    view! { <NewOperation form=prefilled(form, asked())/> }.into_any()
                }
            }
        </Loaded>
    }
}

/// Values in the URL take precedence over those of an earlier operation.
fn prefilled(mut form: SubmitForm, (cluster, action): (String, String)) -> SubmitForm {
    if !cluster.is_empty() {
        form.draft.set("cluster", cluster);
    }
    if let [only] = form.choices.clusters.as_slice()
        && form.draft.get("cluster").is_empty()
    {
        form.draft.set("cluster", only.name.as_str());
    }
    if !action.is_empty() {
        let is_offered = form.choices.actions.iter().any(|offer| offer.action == action);
        form.draft.choose(&action, is_offered);
    }
    form
}

#[component]
fn NoClusters() -> impl IntoView {
    view! {
        <section class="panel">
            <Empty title="There is no cluster to run on" text="Register the machines of a cluster first. This takes a minute and changes nothing on them.">
                <a class="btn primary" href=routes::NEW_CLUSTER>{icon(Icon::Plus)} "Register a cluster"</a>
            </Empty>
        </section>
    }
}

#[component]
fn NewOperation(form: SubmitForm) -> impl IntoView {
    let review = endpoint::<ReviewOperation>();
    let functions = vec![review, endpoint::<SubmitOperation>()];
    let SubmitForm { choices, draft } = form;
    let mut clusters = vec![(String::new(), "Choose a cluster".to_owned())];
    clusters.extend(choices.clusters.into_iter().map(|cluster| {
        let nodes =
            cluster.nodes.map(|n| format!(" ({n} {})", if n == 1 { "node" } else { "nodes" })).unwrap_or_default();
        (cluster.name.to_string(), format!("{}{nodes}", cluster.name))
    }));
    let advanced = ["name", "pre_hooks", "post_hooks"].iter().any(|field| !draft.get(field).is_empty());
    let outdated = RwSignal::new(false);
    view! {
        <Form id="new-operation" functions class="new-operation">
            <div class="stack" on:input=move |_| outdated.set(true)>
                <Select name="cluster" label="Cluster" options=clusters value=draft.get("cluster")/>
                <Actions offers=choices.actions draft=draft.clone()/>
                <div class="fields">
                    <div class="of-playbook">
                        <Field
                            name="limit"
                            label="Limit"
                            value=draft.get("limit")
                            mono=true
                            placeholder="all machines"
                            hint="Hosts or groups of the inventory, separated by commas. Leave empty for all."
                        />
                    </div>
                    <TextArea
                        name="extra_args"
                        label="Extra arguments"
                        value=draft.get("extra_args")
                        rows=3
                        nowrap=true
                        placeholder="-e\nkube_version=1.34.4"
                        hint="One per line, passed unchanged. No quotes needed."
                    />
                </div>
                <Advanced draft default_image=choices.default_image open=advanced/>
            </div>
            <FormEnd>
                <Submit label="Review" function=review/>
                <a class="btn" href=routes::OPERATIONS>"Cancel"</a>
            </FormEnd>
            <Answered outdated/>
        </Form>
    }
}

#[component]
fn Advanced(draft: Draft, default_image: String, open: bool) -> impl IntoView {
    let scope = expect_context::<FormScope>();
    // The section opens if one of its fields has a problem.
    let names = ["name", "pre_hooks", "post_hooks", "image", "deadline"];
    let wrong = move || names.iter().any(|name| scope.message(name).is_some());
    view! {
        <details class="advanced" open=move || open || wrong()>
            <summary>{icon(Icon::ChevronRight)} "Advanced: name, hooks, image, deadline"</summary>
            <div class="stack">
                <div class="fields">
                    <Field name="name" label="Name" value=draft.get("name") mono=true placeholder="made from the action"/>
                    <Field
                        name="deadline"
                        label="Deadline in minutes"
                        value=draft.get("deadline")
                        placeholder=Deadline::DEFAULT.minutes().to_string()
                        hint="Then the run is stopped and marked failed."
                    />
                </div>
                <Field
                    name="image"
                    label="Image"
                    value=draft.get("image")
                    mono=true
                    placeholder=default_image
                    hint="Contains ansible and the playbooks. Leave empty for the default shown above."
                />
                <div class="fields">
                    <TextArea
                        name="pre_hooks"
                        label="Run before"
                        value=draft.get("pre_hooks")
                        rows=2
                        nowrap=true
                        placeholder="ping.yml"
                        hint="Builtin playbooks, one per line. If one fails, nothing else runs."
                    />
                    <TextArea
                        name="post_hooks"
                        label="Run after"
                        value=draft.get("post_hooks")
                        rows=2
                        nowrap=true
                        hint="Builtin playbooks, one per line. They run after the action has succeeded."
                    />
                </div>
            </div>
        </details>
    }
}

/// The review. After the form was edited, a note replaces it.
#[component]
fn Answered(outdated: RwSignal<bool>) -> impl IntoView {
    let scope = expect_context::<FormScope>();
    let answer = Memo::new(move |_| {
        scope.answered().and_then(|back| {
            let review: OperationReview = back.answer()?;
            Some((review, Draft::typed(&back.values).fingerprint()))
        })
    });
    Effect::new(move |_| {
        // Tracks the answer and not the memo: the memo doesn't notify if a second review has the same result.
        let _ = scope.answered();
        outdated.set(false);
    });
    dynamic(move || match answer.get() {
        None => ().into_any(),
        Some(_) if outdated.get() => {
            view! { <p class="muted">"The form has changed since the review. Review it again to submit it."</p> }
                .into_any()
        }
        Some((review, fingerprint)) => {
            let submit = endpoint::<SubmitOperation>();
            view! { <Review review fingerprint submit/> }.into_any()
        }
    })
}

#[cfg(test)]
mod tests {
    use api::operation::{ActionOffer, ClusterChoice, Effect, SubmitChoices};

    use super::*;

    fn form() -> SubmitForm {
        let offer = ActionOffer {
            action: "ping.yml".into(),
            title: "Ping".into(),
            summary: String::new(),
            effect: Effect::Reads,
            parameters: Vec::new(),
            unavailable: None,
        };
        let clusters = vec![ClusterChoice { name: "prod".parse().unwrap(), nodes: None }];
        let choices = SubmitChoices { clusters, actions: vec![offer], default_image: String::new() };
        SubmitForm { choices, draft: Draft::default() }
    }

    #[test]
    fn the_url_fills_in_cluster_and_action() {
        let draft = prefilled(form(), ("lab".into(), "ping.yml".into())).draft;
        assert_eq!((draft.get("cluster"), draft.get("action")), ("lab", "ping.yml"));
        let draft = prefilled(form(), (String::new(), "odd.yml".into())).draft;
        assert_eq!((draft.get("cluster"), draft.get("action"), draft.get("other")), ("prod", "other", "odd.yml"));
    }

    #[test]
    fn a_returned_form_has_the_submitted_values() {
        let values = [("form", "review_operation"), ("cluster", "prod"), ("kind", "script"), ("script", "echo")];
        let values: Vec<_> = values.map(|(a, b)| (a.to_owned(), b.to_owned())).into();
        let draft = Draft::typed(&values);
        assert_eq!((draft.get("kind"), draft.get("script")), ("script", "echo"));
    }
}
