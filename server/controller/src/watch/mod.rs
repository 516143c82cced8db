//! Watching the API: one watch per kind, the store that it fills, and a notification for each change.

pub(crate) mod change;
pub(crate) mod config_maps;
pub(crate) mod feed;
pub(crate) mod stores;
pub(crate) mod unread;
