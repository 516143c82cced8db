//! Parts of a page that follow signals.
//!
//! A closure within a view is a type of its own, and brings its own copy of all that builds, changes and hydrates it: some
//! 1.5 KB of wasm. These are all of one type.

use leptos::prelude::*;

/// What `content` makes, and makes anew when a signal changes that it reads.
pub fn dynamic<V: IntoAny>(content: impl Fn() -> V + Send + 'static) -> AnyView {
    of_one_type(Box::new(move || content().into_any()))
}

/// What `content` makes, if it makes anything.
pub fn optional<V: IntoAny>(content: impl Fn() -> Option<V> + Send + 'static) -> AnyView {
    of_one_type(Box::new(move || content().map(IntoAny::into_any).into_any()))
}

fn of_one_type(content: Box<dyn Fn() -> AnyView + Send>) -> AnyView {
    (move || content()).into_any()
}

/// Views of one kind, one after the other. A `Vec` of each kind would be a type of its own, too.
pub fn all<V: IntoAny>(views: impl IntoIterator<Item = V>) -> AnyView {
    views.into_iter().map(IntoAny::into_any).collect::<Vec<_>>().into_any()
}

/// What a row is known by. A row of the same key is the same row, whatever became of its item.
pub type Key = (u64, u64);

/// A row that comes when the list is made.
type Row = Box<dyn FnOnce() -> AnyView + Send>;

/// Rows that come and go: `items` as they are now, each with its key, and the row that an item gets when it first appears.
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
