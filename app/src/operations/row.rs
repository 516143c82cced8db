//! One operation in the table.

use api::{
    Time,
    operation::{OperationRow, Phase},
};
use leptos::prelude::*;

use crate::{
    routes,
    ui::{Ago, Since, Status, phase_icon, phase_tone, phase_word},
};

#[component]
pub(super) fn Row(row: OperationRow, now: Time, with_cluster: bool) -> impl IntoView {
    // What went well needs no words.
    let message = if row.phase == Phase::Succeeded { String::new() } else { row.message.clone() };
    view! {
        <tr>
            <td><Status tone=phase_tone(row.phase) icon=phase_icon(row.phase) word=phase_word(&row)/></td>
            <th scope="row">
                <a class="name" href=routes::operation(&row.name) title=row.name.to_string()>
                    <span class="cut">{row.action.clone()}</span>
                </a>
            </th>
            {with_cluster
                .then(|| view! { <td><a class="link-quiet" href=routes::cluster(&row.cluster)>{row.cluster.clone()}</a></td> })}
            <td class="muted">{row.by.clone()}</td>
            <td class="muted"><Ago time=row.submitted now/></td>
            <td class="num muted">
                {row.started.map(|start| view! { <Since start end=row.ended now/> })}
            </td>
            <td class="muted wide"><span class="cut" title=message.clone()>{message.clone()}</span></td>
        </tr>
    }
}
