//! Icons: 16 × 16, drawn in the colour of the text. A word or a label is always beside them.

use leptos::prelude::*;

/// A drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Icon {
    Logo,
    Clusters,
    Operations,
    Settings,
    Plus,
    Search,
    Check,
    Warning,
    Cross,
    Running,
    Clock,
    Minus,
    ChevronRight,
    ArrowUp,
    ArrowDown,
    Copy,
    Download,
    Retry,
    Stop,
    Sun,
    Moon,
    System,
    SignOut,
    Sidebar,
    Skip,
    Play,
    Close,
}

impl Icon {
    fn path(self) -> &'static str {
        match self {
            Self::Logo => "M8 1.4 13.9 4.8v6.4L8 14.6 2.1 11.2V4.8zM8 5l2.7 1.5v3L8 11 5.3 9.5v-3z",
            Self::Clusters => "M8 1.9 13.6 5 8 8.1 2.4 5zM2.4 8 8 11.1 13.6 8M2.4 11 8 14.1 13.6 11",
            Self::Operations => "M5.6 3.6h8M5.6 8h8M5.6 12.4h8M2.5 3.6h.1M2.5 8h.1M2.5 12.4h.1",
            Self::Settings => {
                "M2.2 4.6h6.2M11.8 4.6h2M2.2 11.4h2M7.6 11.4h6.2M10.1 2.9a1.7 1.7 0 1 1 0 3.4 1.7 1.7 0 0 1 0-3.4zM5.9 9.7a1.7 1.7 0 1 1 0 3.4 1.7 1.7 0 0 1 0-3.4z"
            }
            Self::Plus => "M8 3v10M3 8h10",
            Self::Search => "M7 2.8a4.2 4.2 0 1 1 0 8.4 4.2 4.2 0 0 1 0-8.4zM10.1 10.1 13.5 13.5",
            Self::Check => "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zM5.3 8.2l1.9 1.9 3.5-3.9",
            Self::Warning => "M8 2 14.4 13.4H1.6zM8 6.4v3.2M8 11.5v.1",
            Self::Cross => "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zM5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4",
            Self::Running => "M8 2a6 6 0 1 1-6 6",
            Self::Clock => "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zM8 4.8V8l2.3 1.6",
            Self::Minus => "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zM5.3 8h5.4",
            Self::ChevronRight => "m6.4 4.8 3.2 3.2-3.2 3.2",
            Self::ArrowUp => "M8 13V3.4M4.4 7 8 3.4 11.6 7",
            Self::ArrowDown => "M8 3v9.6M4.4 9 8 12.6 11.6 9",
            Self::Copy => "M5.6 5.6h7.8v7.8H5.6zM10.4 5.6V2.6H2.6v7.8h3",
            Self::Download => "M8 2.4v8M4.6 7.2 8 10.6l3.4-3.4M2.8 13.6h10.4",
            Self::Retry => "M13.4 8a5.4 5.4 0 1 1-1.7-3.9M13.4 2.2v3h-3",
            Self::Stop => "M4.4 4.4h7.2v7.2H4.4z",
            Self::Sun => {
                "M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6zM8 1.6v1.2M8 13.2v1.2M1.6 8h1.2M13.2 8h1.2M3.5 3.5l.8.8M11.7 11.7l.8.8M12.5 3.5l-.8.8M4.3 11.7l-.8.8"
            }
            Self::Moon => "M13.3 9.6A5.8 5.8 0 0 1 6.4 2.7a5.8 5.8 0 1 0 6.9 6.9z",
            Self::System => "M2 3h12v8H2zM5.6 13.6h4.8M8 11v2.6",
            Self::SignOut => "M6.4 2.6H3v10.8h3.4M10 5l3 3-3 3M13 8H6.4",
            Self::Sidebar => "M2.4 3h11.2v10H2.4zM6.2 3v10",
            Self::Skip => "m3.6 4.6 3.4 3.4-3.4 3.4M8.8 4.6l3.4 3.4-3.4 3.4",
            Self::Play => "M4.8 3.2 12.6 8l-7.8 4.8z",
            Self::Close => "m4 4 8 8M12 4l-8 8",
        }
    }
}

/// The drawing as SVG. It is hidden from screen readers, which read the word beside it.
pub fn icon(kind: Icon) -> impl IntoView + use<> {
    view! {
        <svg class="icon" class:spin=kind == Icon::Running viewBox="0 0 16 16" aria-hidden="true">
            <path d=kind.path()></path>
        </svg>
    }
}
