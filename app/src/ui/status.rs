//! Status: icon, word and colour together, never colour alone.

use api::operation::{OperationRow, Phase};
use leptos::prelude::*;

use super::Icon;

/// What a status means, in five colours.
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

    /// The icon that goes with it where nothing says better.
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

/// In running text and tables.
#[component]
pub fn Status(tone: Tone, #[prop(into)] word: String, #[prop(optional)] icon: Option<Icon>) -> impl IntoView {
    view! {
        <span class=format!("st {}", tone.class())>
            {super::icon(icon.unwrap_or_else(|| tone.icon()))} <span class="word" title=(word.len() > 30).then(|| word.clone())>{word.clone()}</span>
        </span>
    }
}

/// Beside a page's title.
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
        Phase::Queued | Phase::Cancelled => Tone::Idle,
        Phase::Failed => Tone::Err,
        Phase::Succeeded => Tone::Ok,
    }
}

/// Its icon.
#[must_use]
pub fn phase_icon(phase: Phase) -> Icon {
    match phase {
        Phase::Queued => Icon::Clock,
        Phase::Cancelled => Icon::Stop,
        other => phase_tone(other).icon(),
    }
}

/// Its word: a run that is being cancelled says so.
#[must_use]
pub fn phase_word(row: &OperationRow) -> &'static str {
    if row.cancelling && !row.phase.is_final() { "Cancelling" } else { row.phase.word() }
}
