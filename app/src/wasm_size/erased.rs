//! Views of one type.
//!
//! Each closure in a view has a distinct type, and each such type adds about 1.5 KB of wasm: a separate copy of the code that
//! builds, updates and hydrates it. These functions box the closure first, so that all of them share one type.

use std::hash::{DefaultHasher, Hash, Hasher};

use leptos::prelude::*;

/// What `content` returns, rendered again whenever a signal that it reads changes.
pub fn dynamic<V: IntoAny>(content: impl Fn() -> V + Send + 'static) -> AnyView {
    of_one_type(Box::new(move || content().into_any()))
}

/// As [`dynamic`], for content that may be absent.
pub fn optional<V: IntoAny>(content: impl Fn() -> Option<V> + Send + 'static) -> AnyView {
    of_one_type(Box::new(move || content().map(IntoAny::into_any).into_any()))
}

fn of_one_type(content: Box<dyn Fn() -> AnyView + Send>) -> AnyView {
    (move || content()).into_any()
}

/// Views one after the other; use it in place of a `Vec` of views, which would be one more type for each kind of view.
pub fn all<V: IntoAny>(views: impl IntoIterator<Item = V>) -> AnyView {
    views.into_iter().map(IntoAny::into_any).collect::<Vec<_>>().into_any()
}

/// The identity of a row. A row whose key stays the same is not rendered again, even if its item changes.
pub type Key = (u64, u64);

/// A hash of the whole item, so that every change of it renders its row again.
pub fn key_of(item: &impl Hash) -> Key {
    let mut hasher = DefaultHasher::new();
    item.hash(&mut hasher);
    (hasher.finish(), 0)
}

/// Makes a row when the list is rendered.
type Row = Box<dyn FnOnce() -> AnyView + Send>;

/// A list whose rows come and go: `items` with their keys, and `row`, which is called once when a key first appears.
pub fn each<T: Send + 'static>(
    items: impl Fn() -> Vec<(Key, T)> + Send + Sync + 'static,
    row: impl Fn(T) -> AnyView + Clone + Send + Sync + 'static,
) -> AnyView {
    let rows = move || {
        let of = |(key, item)| {
            let row = row.clone();
            (key, Box::new(move || row(item)) as Row)
        };
        items().into_iter().map(of).collect()
    };
    rows_of_one_type(Box::new(rows))
}

fn rows_of_one_type(rows: Box<dyn Fn() -> Vec<(Key, Row)> + Send + Sync>) -> AnyView {
    view! { <For each=move || rows() key=|(key, _)| *key children=|(_, row): (Key, Row)| row()/> }.into_any()
}
