//! A status: an icon, a word and a colour. Colour alone never carries the meaning.

use api::operation::{OperationRow, Phase};
use leptos::prelude::*;

use super::Icon;

/// The five kinds of status, each with its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Ok,
    Warn,
    Err,
    Run,
    Idle,
}

impl Tone {
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Err => "err",
            Self::Run => "run",
            Self::Idle => "idle",
        }
    }

    /// Its icon, unless the component chooses a more specific one.
    #[must_use]
    pub fn icon(self) -> Icon {
        match self {
            Self::Ok => Icon::Check,
            Self::Warn => Icon::Warning,
            Self::Err => Icon::Cross,
            Self::Run => Icon::Running,
            Self::Idle => Icon::Minus,
        }
    }
}

/// A status in running text and tables.
#[component]
pub fn Status(tone: Tone, #[prop(into)] word: String, #[prop(optional)] icon: Option<Icon>) -> impl IntoView {
    view! {
        <span class=format!("st {}", tone.class())>
            {super::icon(icon.unwrap_or_else(|| tone.icon()))} <span class="word" title=(word.len() > 30).then(|| word.clone())>{word.clone()}</span>
        </span>
    }
}

/// A status beside a page's title.
#[component]
pub fn Chip(tone: Tone, #[prop(into)] word: String, #[prop(optional)] icon: Option<Icon>) -> impl IntoView {
    view! {
        <span class=format!("st chip {}", tone.class()) role="status">
            {super::icon(icon.unwrap_or_else(|| tone.icon()))} <span class="word">{word}</span>
        </span>
    }
}

/// The colour of an operation's phase.
#[must_use]
pub fn phase_tone(phase: Phase) -> Tone {
    match phase {
        Phase::Running => Tone::Run,
        Phase::Queued | Phase::Cancelled | Phase::Restored => Tone::Idle,
        Phase::Failed => Tone::Err,
        Phase::Succeeded => Tone::Ok,
    }
}

/// The colour of an operation.
#[must_use]
pub fn row_tone(row: &OperationRow) -> Tone {
    if row.warns() { Tone::Warn } else { phase_tone(row.phase) }
}

/// The icon of an operation.
#[must_use]
pub fn row_icon(row: &OperationRow) -> Icon {
    if row.warns() { Tone::Warn.icon() } else { phase_icon(row.phase) }
}

/// The icon of an operation's phase.
fn phase_icon(phase: Phase) -> Icon {
    match phase {
        Phase::Queued => Icon::Clock,
        Phase::Cancelled => Icon::Stop,
        other => phase_tone(other).icon(),
    }
}

/// The word for an operation; `Cancelling` while a cancel is in progress.
#[must_use]
pub fn phase_word(row: &OperationRow) -> &'static str {
    match row.phase {
        phase if row.cancelling && !phase.is_final() => "Cancelling",
        _ if row.warns() => "Succeeded, with a warning",
        phase => phase.word(),
    }
}
