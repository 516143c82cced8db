//! Fields for machines, as rows or as pasted lines.

use api::machine::MachineRole;
use leptos::prelude::*;

use crate::form::{FormScope, TextArea};
use crate::ui::{Icon, icon};

/// Rows on a page without JavaScript.
const ROWS: usize = 8;
/// Rows that a page with JavaScript starts with; a button adds more.
const FIRST: usize = 3;
const FIELDS: [&str; 5] = ["name", "address", "user", "port", "role"];
const ROLES: [(MachineRole, &str); 4] = [
    (MachineRole::Both, "Control plane and worker"),
    (MachineRole::ControlPlane, "Control plane"),
    (MachineRole::Worker, "Worker"),
    (MachineRole::None, "No role"),
];
/// The roles of a machine that joins a cluster; the first is the default.
const JOINING: [(MachineRole, &str); 3] = [
    (MachineRole::Worker, "Worker"),
    (MachineRole::ControlPlane, "Control plane"),
    (MachineRole::Both, "Control plane and worker"),
];

/// What the machines are for. Except in a registration, an empty field means “as on the other machines”.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MachinesFor {
    Register,
    Join,
    /// One worker instead of another one.
    Replace,
    /// One control plane instead of another one, which is a worker, too, or not.
    ReplacePlane {
        works: bool,
    },
}

#[component]
pub(super) fn Machines(purpose: MachinesFor) -> impl IntoView {
    if matches!(purpose, MachinesFor::Replace | MachinesFor::ReplacePlane { .. }) {
        return view! { <div class="pad stack"><Table rows=RwSignal::new(1) purpose/></div> }.into_any();
    }
    let scope = expect_context::<FormScope>();
    let filled = scope.typed().map_or(0, |typed| filled_rows(&typed));
    // The server renders enough rows for browsers without JavaScript. With JavaScript, unused rows are removed and a button
    // adds rows.
    let rows = RwSignal::new(ROWS.max(filled + 1));
    let hydrated = RwSignal::new(false);
    Effect::new(move |_| {
        if !hydrated.get_untracked() {
            hydrated.set(true);
            if filled == 0 && !any_row_typed() {
                rows.set(FIRST);
            }
        }
    });
    view! {
        <div class="pad stack">
            <Table rows purpose/>
            <div class="bar" hidden=move || !hydrated.get()>
                <button type="button" class="btn" on:click=move |_| rows.update(|rows| *rows += 1)>
                    {icon(Icon::Plus)} "Add machine"
                </button>
                <span class="muted">"Empty rows are ignored."</span>
            </div>
            <details open=scope.value("pasted").is_some_and(|pasted| !pasted.trim().is_empty())>
                <summary>"Or paste lines"</summary>
                <TextArea
                    name="pasted" label="One machine per line" rows=6 nowrap=true
                    placeholder="node1 10.0.0.11\nops@10.0.0.12:2222\nnode[3:9] 10.0.0.[13:19]"
                    hint="Used only if all rows above are empty. Accepts a name and an address, user@address, ranges, or lines of an inventory."
                />
            </details>
        </div>
    }
    .into_any()
}

#[component]
fn Table(rows: RwSignal<usize>, purpose: MachinesFor) -> impl IntoView {
    let with_role = purpose != MachinesFor::Replace;
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Machines">
            <table class="machines">
                <thead>
                    <tr>
                        <th scope="col">"Name"</th> <th scope="col">"Address"</th> <th scope="col">"User"</th>
                        <th scope="col">"Port"</th> {with_role.then(|| view! { <th scope="col">"Role"</th> })}
                    </tr>
                </thead>
                <tbody>
                    <For each=move || 0..rows.get() key=|index| *index let:index>
                        <MachineFields index purpose/>
                    </For>
                </tbody>
            </table>
        </div>
    }
}

#[component]
fn MachineFields(index: usize, purpose: MachinesFor) -> impl IntoView {
    let scope = expect_context::<FormScope>();
    // A cell is too narrow for a sentence, so all problems of a row are shown below it.
    let problems = move || {
        let sentences: Vec<_> = FIELDS.into_iter().filter_map(|field| scope.message(&name_of(index, field))).collect();
        (!sentences.is_empty()).then(|| sentences.join(" "))
    };
    for field in FIELDS {
        scope.claim(&name_of(index, field));
    }
    let roles: &'static [(MachineRole, &'static str)] = match purpose {
        MachinesFor::Register => &ROLES,
        MachinesFor::Join => &JOINING,
        MachinesFor::Replace => &[],
        MachinesFor::ReplacePlane { works: true } => &ROLES[..2],
        MachinesFor::ReplacePlane { works: false } => &JOINING[1..],
    };
    let (user, port) = if purpose == MachinesFor::Register { ("root", "22") } else { ("as the others", "same") };
    view! {
        <tr>
            <td data-label="Name"><Cell index field="name" label="Name" placeholder=format!("node{}", index + 1)/></td>
            <td data-label="Address"><Cell index field="address" label="Address" placeholder=format!("10.0.0.{}", index + 11)/></td>
            <td data-label="User"><Cell index field="user" label="User" placeholder=user/></td>
            <td class="port" data-label="Port"><Cell index field="port" label="Port" placeholder=port/></td>
            {(!roles.is_empty()).then(|| view! { <td data-label="Role"><RoleCell index roles/></td> })}
        </tr>
        <tr>
            <td colspan="5"><span class="field-error" id=error_id(index)>{problems}</span></td>
        </tr>
    }
}

/// An input, labelled with its column and its row number.
#[component]
fn Cell(index: usize, field: &'static str, label: &'static str, #[prop(into)] placeholder: String) -> impl IntoView {
    let scope = expect_context::<FormScope>();
    let name = name_of(index, field);
    let asked = name.clone();
    view! {
        <input
            name=name.clone()
            class="mono"
            value=scope.value(&name).unwrap_or_default()
            placeholder=placeholder
            aria-label=format!("{label} of machine {}", index + 1)
            aria-describedby=error_id(index)
            aria-invalid=move || scope.message(&asked).map(|_| "true")
            autocomplete="off"
            autocapitalize="off"
            spellcheck="false"
        />
    }
}

#[component]
fn RoleCell(index: usize, roles: &'static [(MachineRole, &'static str)]) -> impl IntoView {
    let scope = expect_context::<FormScope>();
    let name = name_of(index, "role");
    let chosen = scope.value(&name).unwrap_or_else(|| roles[0].0.as_str().into());
    let asked = name.clone();
    view! {
        <select
            name=name
            aria-label=format!("Role of machine {}", index + 1)
            aria-describedby=error_id(index)
            aria-invalid=move || scope.message(&asked).map(|_| "true")
        >
            {roles
                .iter()
                .map(|(role, word)| {
                    let value = role.as_str();
                    view! { <option value=value selected=value == chosen>{*word}</option> }
                })
                .collect_view()}
        </select>
    }
}

fn error_id(index: usize) -> String {
    format!("machine-{index}-error")
}

fn name_of(index: usize, field: &str) -> String {
    format!("machines[{index}][{field}]")
}

/// The number of rows up to the last one with a typed value, at most 1000.
fn filled_rows(typed: &[(String, String)]) -> usize {
    typed
        .iter()
        .filter(|(name, value)| !value.trim().is_empty() && !name.ends_with("[role]"))
        .filter_map(|(name, _)| name.strip_prefix("machines[")?.split(']').next()?.parse::<usize>().ok())
        .map(|index| index + 1)
        .max()
        .unwrap_or(0)
        .min(1000)
}

/// Whether the user typed into a row before the page was hydrated.
#[cfg(feature = "hydrate")]
fn any_row_typed() -> bool {
    use wasm_bindgen::JsCast;
    let Ok(inputs) = document().query_selector_all(".machines input") else { return false };
    (0..inputs.length())
        .filter_map(|at| inputs.get(at)?.dyn_into::<web_sys::HtmlInputElement>().ok())
        .any(|input| !input.value().is_empty())
}

#[cfg(not(feature = "hydrate"))]
fn any_row_typed() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_restored_up_to_the_last_filled_one() {
        let typed =
            |pairs: &[(&str, &str)]| pairs.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect::<Vec<_>>();
        assert_eq!(filled_rows(&typed(&[("machines[0][name]", "a"), ("machines[11][address]", "10.0.0.1")])), 12);
        assert_eq!(filled_rows(&typed(&[("machines[4][role]", "both"), ("machines[3][name]", " ")])), 0);
        assert_eq!(
            filled_rows(&typed(&[("machines[99999999][name]", "a")])),
            1000,
            "a crafted index must not allocate memory"
        );
    }
}
