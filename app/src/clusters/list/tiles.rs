//! Totals over all clusters: ready, need attention, running, queued, nodes.

use api::cluster::{ClusterFilter, ClusterTotals, ClusterView};
use api::input::Input;
use leptos::prelude::*;

use crate::routes;
use crate::ui::{Icon, Status, Tone};

#[component]
pub(super) fn Tiles(totals: ClusterTotals) -> impl IntoView {
    let show = |view| routes::clusters(&ClusterFilter { show: Input::Valid(view), ..Default::default() });
    let attention = totals.attention + totals.broken;
    view! {
        <section class="panel stats" aria-label="Summary">
            <div>
                <b>{totals.good} <span class="of">" of " {totals.all}</span></b>
                <Status tone={if totals.good > 0 { Tone::Ok } else { Tone::Idle }} icon=Icon::Check word="OK"/>
            </div>
            <a href=show(ClusterView::Attention)>
                <b>{attention}</b>
                <Status tone={if attention > 0 { Tone::Warn } else { Tone::Idle }} icon=Icon::Warning word="Need attention"/>
            </a>
            <a href=show(ClusterView::Running)>
                <b>{totals.running}</b>
                <Status
                    tone={if totals.running > 0 { Tone::Run } else { Tone::Idle }}
                    icon={if totals.running > 0 { Icon::Running } else { Icon::Play }}
                    word="Running"
                />
            </a>
            <div>
                <b>{totals.queued}</b>
                <Status tone=Tone::Idle icon=Icon::Clock word="Queued"/>
            </div>
            <div>
                <b>{totals.nodes}</b>
                <span class="muted">"Nodes"</span>
            </div>
        </section>
    }
}
