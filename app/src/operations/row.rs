//! One operation in the table.

use api::Time;
use api::operation::{OperationRow, Phase};
use leptos::prelude::*;

use crate::routes;
use crate::ui::{Ago, Since, Status, phase_word, row_icon, row_tone};

#[component]
pub(super) fn Row(row: OperationRow, now: Time, with_cluster: bool) -> impl IntoView {
    let status = view! { <Status tone=row_tone(&row) icon=row_icon(&row) word=phase_word(&row)/> };
    let OperationRow { name, cluster, action, script, phase, message, by, submitted, started, ended, .. } = row;
    // A successful operation needs no message.
    let message = if phase == Phase::Succeeded { String::new() } else { message };
    view! {
        <tr>
            <td>{status}</td>
            <th scope="row">
                <a class="name" href=routes::operation(&name) title=name.to_string()>
                    <span class=if script { "cut script" } else { "cut" }>{action}</span>
                </a>
            </th>
            {with_cluster
                .then(|| view! { <td><a class="link-quiet cut" href=routes::cluster(&cluster) title=cluster.clone()>{cluster.clone()}</a></td> })}
            <td class="muted secondary"><span class="cut by" title=by.clone()>{by.clone()}</span></td>
            <td class="muted"><Ago time=submitted now/></td>
            <td class="num muted">
                {started.map(|start| view! { <Since start end=ended now/> })}
            </td>
            <td class="muted wide"><span class="cut" title=message.clone()>{message.clone()}</span></td>
        </tr>
    }
}
