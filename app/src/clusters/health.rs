//! A cluster's health as a status.

use api::cluster::{ClusterRow, Health};
use leptos::prelude::*;

use crate::ui::{Status, Tone};

pub(super) fn tone(health: Health) -> Tone {
    match health {
        Health::Broken => Tone::Err,
        Health::Attention => Tone::Warn,
        Health::Working => Tone::Run,
        Health::Good => Tone::Ok,
        Health::Unknown => Tone::Idle,
    }
}

#[component]
pub(super) fn HealthStatus(row: ClusterRow) -> impl IntoView {
    view! { <Status tone=tone(row.health) word=row.health_word/> }
}
