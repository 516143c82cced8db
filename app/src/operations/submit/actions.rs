//! What to run: a playbook in the image, a playbook or script from a ConfigMap, or a typed script.

use api::operation::{ActionOffer, Draft, Effect, Kind, OTHER};
use leptos::prelude::*;

use super::parameters::{Parameters, distinct, numbers};
use super::source::{SourceFields, Sources};
use crate::form::{Field, FormScope, TextArea};
use crate::ui::{Icon, icon};

/// The kinds and their fields. CSS shows the fields of the chosen kind, so it works without JavaScript.
#[component]
pub(super) fn Actions(
    offers: Vec<ActionOffer>,
    /// Why a playbook outside `offers` can't run here.
    no_others: Option<String>,
    draft: Draft,
    sources: Sources,
) -> impl IntoView {
    let scope = expect_context::<FormScope>();
    let kind = scope.value("kind").unwrap_or_else(|| draft.get("kind").to_owned());
    let field = |name: &str| draft.get(name).to_owned();
    let radio = |of: Kind, word: &'static str| {
        let value = of.as_str();
        let checked = kind == value || (kind.is_empty() && of == Kind::Builtin);
        view! {
            <label>
                <input type="radio" name="kind" value=value checked=checked/>
                <span>{word}</span>
            </label>
        }
    };
    let parameters = distinct(&offers);
    view! {
        <fieldset class="kind">
            <legend>"What to run"</legend>
            <div class="seg-radio">
                {radio(Kind::Builtin, "A builtin playbook")} {radio(Kind::ConfigMap, "From a ConfigMap")} {radio(Kind::Script, "A shell script")}
            </div>
            <div class="of-builtin">
                <Catalogue offers no_others chosen=field("action")/>
                <div class="of-other">
                    <Field
                        name="other"
                        label="Playbook in the image"
                        value=field("other")
                        mono=true
                        placeholder="playbooks/my-playbook.yml"
                        hint="Its path below /kubespray in the image."
                    />
                </div>
                <Parameters all=parameters draft=draft.clone()/>
            </div>
            <SourceFields sources/>
            <div class="of-script">
                <TextArea
                    name="script"
                    label="Script"
                    value=field("script")
                    rows=8
                    nowrap=true
                    placeholder="#!/bin/bash"
                    hint="Runs once with bash where ansible would run, not on the machines. The inventory is $KUBEONKUBE_ROOT/conf/hosts.yml. Exit code 0 means success."
                />
            </div>
        </fieldset>
    }
}

/// A card for each playbook that can be chosen, then those that can't, grouped by the reason.
#[component]
fn Catalogue(offers: Vec<ActionOffer>, no_others: Option<String>, chosen: String) -> impl IntoView {
    let scope = expect_context::<FormScope>();
    let chosen = scope.value("action").unwrap_or(chosen);
    scope.claim("action");
    let message = move || scope.message("action");
    let other = chosen == OTHER;
    let parameters = distinct(&offers);
    let (missing, there): (Vec<_>, Vec<_>) = offers.into_iter().partition(|offer| offer.unavailable.is_some());
    view! {
        <div class="cards" role="radiogroup" aria-label="Playbook" aria-describedby="new-operation-action-error">
            {there
                .into_iter()
                .map(|offer| {
                    let checked = chosen == offer.action;
                    let asks = numbers(&offer, &parameters);
                    view! { <Card offer checked asks/> }
                })
                .collect_view()}
            {match no_others {
                None => view! {
                    <label class="card">
                        <input type="radio" name="action" value=OTHER checked=other/>
                        <span class="card-title">"Another playbook"</span>
                        <small>"Any other playbook, by its path in the image."</small>
                    </label>
                }
                .into_any(),
                Some(why) => view! {
                    <label class="card off">
                        <input type="radio" name="action" value=OTHER disabled/>
                        <span class="card-title">"Another playbook"</span>
                        <small>{why}</small>
                    </label>
                }
                .into_any(),
            }}
        </div>
        <span class="field-error" id="new-operation-action-error">{message}</span>
        {missing
            .chunk_by(|one, next| one.unavailable == next.unavailable)
            .map(|offers| {
                let open = offers.iter().any(|offer| offer.action == chosen);
                view! { <Missing offers=offers.to_vec() open/> }
            })
            .collect_view()}
    }
}

#[component]
fn Card(offer: ActionOffer, checked: bool, asks: String) -> impl IntoView {
    let (class, effect) = match offer.effect {
        Effect::Reads => ("tag", "reads only"),
        Effect::Changes => ("tag warn", "changes machines"),
        Effect::Destroys => ("tag err", "deletes data"),
    };
    view! {
        <label class="card" data-asks=asks>
            <input type="radio" name="action" value=offer.action.clone() checked=checked/>
            <span class="card-title">{offer.title}</span>
            <span class="mono muted">{offer.action}</span>
            <span class="card-end"><span class=class>{effect}</span></span>
            <small>{offer.summary}</small>
        </label>
    }
}

/// Actions that can't be chosen here, all for the same reason.
#[component]
fn Missing(offers: Vec<ActionOffer>, open: bool) -> impl IntoView {
    let why = offers.first().and_then(|offer| offer.unavailable.clone());
    view! {
        <details class="advanced missing" open=open>
            <summary>{icon(Icon::ChevronRight)} {if offers.len() == 1 { "1 more requires Kubernetes".to_owned() } else { format!("{} more require Kubernetes", offers.len()) }}</summary>
            <p>{why}</p>
            <dl>
                {offers
                    .into_iter()
                    .map(|offer| {
                        view! {
                            <div>
                                <dt>{offer.title} " " <span class="mono muted">{offer.action}</span></dt>
                                <dd class="muted">{offer.summary}</dd>
                            </div>
                        }
                    })
                    .collect_view()}
            </dl>
        </details>
    }
}
