//! The page with the submit form.

use api::configuration::Document;
use api::operation::{Deadline, Draft, OperationReview, SubmitChoices};
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use super::actions::Actions;
use super::functions::{ReviewOperation, SubmitForm, SubmitOperation, load_submit_form};
use super::review::Review;
use super::source::Sources;
use crate::clusters::{FixLink, KeepEditing};
use crate::form::{
    Field, Form, FormEnd, FormScope, Select, Submission, Submit, TextArea, endpoint, field_of, guard_unsaved, is_typed,
};
use crate::json::data;
use crate::routes;
use crate::ui::{Empty, Icon, Loaded, PageTitle, dynamic, icon, optional};

/// `/operations/_new?cluster=…&action=…&snapshot=…`, or `?again=…` with the name of an earlier operation, and `&failed=1` for the hosts that
/// failed or are left in it.
#[component]
pub fn NewOperationPage() -> impl IntoView {
    let query = use_query_map();
    let again = Memo::new(move |_| query.read().get("again").unwrap_or_default());
    let of_query = move |name: &str| query.with_untracked(|query| query.get(name)).unwrap_or_default();
    // After a submission without JavaScript, the form shows what was sent.
    let submission = expect_context::<Submission>();
    let sent = move |name: &str| submission.value(name).unwrap_or_default();
    let cluster = move || Some(sent("cluster")).filter(|sent| !sent.is_empty()).unwrap_or_else(|| of_query("cluster"));
    let form = data(
        move || (again.get(), of_query("failed") == "1", cluster(), sent("source")),
        |(again, failed, cluster, source)| load_submit_form(again, failed, cluster, source),
    );
    view! {
        <PageTitle text="Run an operation"/>
        <Loaded resource=form let:form>
            {
                if form.choices.clusters.is_empty() {
                    view! { <NoClusters/> }.into_any()
                } else {
                    view! { <NewOperation form=prefilled(form, &of_query("action"), of_query("snapshot"))/> }.into_any()
                }
            }
        </Loaded>
    }
}

/// What the URL names takes precedence over the values of an earlier operation. It can't fill in a confirmation.
fn prefilled(mut form: SubmitForm, action: &str, snapshot: String) -> SubmitForm {
    if !action.is_empty() {
        let is_offered = form.choices.actions.iter().any(|offer| offer.action == action);
        form.draft.choose(action, is_offered);
    }
    if !snapshot.is_empty() {
        form.draft.set("snapshot", snapshot);
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
    let functions = vec![review, endpoint::<SubmitOperation>(), endpoint::<KeepEditing>()];
    let SubmitForm { choices, draft, sources } = form;
    let sources = Sources::new(sources, &draft);
    let builtin = names(&choices);
    let mut clusters = vec![(String::new(), "Choose a cluster".to_owned())];
    clusters.extend(choices.clusters.into_iter().map(|cluster| {
        let nodes =
            cluster.nodes.map(|n| format!(" ({n} {})", if n == 1 { "node" } else { "nodes" })).unwrap_or_default();
        (cluster.name.to_string(), format!("{}{nodes}", cluster.name))
    }));
    let advanced = ["name", "pre_hooks", "post_hooks"].iter().any(|field| !draft.get(field).is_empty());
    let (outdated, unsaved) = (RwSignal::new(false), RwSignal::new(false));
    guard_unsaved(unsaved.into());
    let typed = move |event: leptos::ev::Event| {
        outdated.set(true);
        // A choice is made again with one click.
        if is_typed(&event) {
            unsaved.set(true);
        }
        let (field, value) = field_of(&event);
        sources.changed(&field, value);
    };
    view! {
        <Form id="new-operation" functions class="new-operation" kinds=&["kind", "action"]>
            // Enter in a field presses the first button.
            <button type="submit" name="form" value=review hidden></button>
            <div class="stack" on:input=typed>
                <div class="stack">
                    <Select name="cluster" label="Cluster" options=clusters value=draft.get("cluster")/>
                    <FixInputs/>
                </div>
                <Actions offers=choices.actions no_others=choices.no_others draft=draft.clone() sources/>
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
                        placeholder="-e\nkube_version=1.36.4"
                        hint="One per line, passed unchanged. No quotes needed."
                    />
                </div>
                <Advanced draft default_image=choices.default_image builtin open=advanced/>
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
fn Advanced(draft: Draft, default_image: String, builtin: String, open: bool) -> impl IntoView {
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
                        hint=format!("One per line: {builtin}. If one fails, nothing else runs.")
                    />
                    <TextArea
                        name="post_hooks"
                        label="Run after"
                        value=draft.get("post_hooks")
                        rows=2
                        nowrap=true
                        hint=format!("One per line: {builtin}. They run after the action has succeeded.")
                    />
                </div>
            </div>
        </details>
    }
}

/// The playbooks that hooks may name, as a text.
fn names(choices: &SubmitChoices) -> String {
    let offers = choices.actions.iter().filter(|offer| offer.unavailable.is_none());
    let mut names: Vec<_> = offers.map(|offer| offer.action.as_str()).collect();
    if choices.no_others.is_none() {
        names.push("or another playbook in the image");
    }
    names.join(", ")
}

/// A link to the editor, if the cluster's inputs can't be used.
#[component]
fn FixInputs() -> impl IntoView {
    let scope = expect_context::<FormScope>();
    optional(move || {
        let fix = Document::to_correct(&scope.message("cluster")?)?;
        let cluster = scope.submitted("cluster")?;
        Some(view! { <p><FixLink cluster fix/></p> })
    })
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
    use api::operation::{ActionOffer, ClusterChoice, Effect, SourceChoices};

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
        let choices = SubmitChoices { clusters, actions: vec![offer], no_others: None, default_image: String::new() };
        SubmitForm { choices, draft: Draft::default(), sources: SourceChoices::default() }
    }

    #[test]
    fn the_url_fills_in_the_action_and_the_snapshot() {
        let of_url = |action: &str, snapshot: &str| prefilled(form(), action, snapshot.into()).draft;
        assert_eq!(of_url("ping.yml", "").get("action"), "ping.yml");
        let draft = of_url("odd.yml", "/b/etcd.db");
        assert_eq!(
            (draft.get("action"), draft.get("other"), draft.get("snapshot")),
            ("other", "odd.yml", "/b/etcd.db")
        );
    }

    #[test]
    fn hooks_name_what_can_run_here() {
        assert_eq!(names(&form().choices), "ping.yml, or another playbook in the image");
        let local = SubmitChoices { no_others: Some("Only here.".into()), ..form().choices };
        assert_eq!(names(&local), "ping.yml");
    }

    #[test]
    fn a_returned_form_has_the_submitted_values() {
        let values = [("form", "review_operation"), ("cluster", "prod"), ("kind", "script"), ("script", "echo")];
        let values: Vec<_> = values.map(|(a, b)| (a.to_owned(), b.to_owned())).into();
        let draft = Draft::typed(&values);
        assert_eq!((draft.get("kind"), draft.get("script")), ("script", "echo"));
    }
}
