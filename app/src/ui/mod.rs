//! The components that all pages use. Pages name no colours, and components know no page.

mod ago;
mod alert;
pub mod clock;
mod copy;
mod diff;
mod icons;
mod loaded;
mod page;
mod status;
mod table;

pub use ago::{Ago, Since};
pub use alert::{Alert, Empty};
pub use copy::Copy;
pub use diff::Diff;
pub use icons::{Icon, icon};
pub use loaded::{Loaded, Skeleton, when_known};
pub use page::{Fact, Facts, PageTitle, Panel, Tab, Tabs};
pub use status::{Chip, Status, Tone, phase_tone, phase_word, row_icon, row_tone};
pub use table::{Filter, Pages, Segment, Segments, SortHeader};

pub use crate::wasm_size::erased::{Key, all, dynamic, each, key_of, optional};
