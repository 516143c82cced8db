//! Marks the task that the log shows, and scrolls the task list, so that the task that matters is in view.

use api::progress::TaskState;
use leptos::prelude::*;

use super::super::state::Run;
use super::scroll_position::ScrollPosition;
use crate::wait::after_render;

impl ScrollPosition {
    /// Keeps the marked task in view, and marks it: the list of a run that has ended is HTML of the server, which doesn't change itself.
    pub(super) fn keep_task_in_view(self, run: Run) {
        Effect::new(move |_| {
            let opened = self.sticks_to_end.get() && run.phase.get().is_final();
            let failed = || {
                run.progress.with_untracked(|progress| {
                    progress.tasks.iter().find(|task| task.state() == TaskState::Failed).map(|task| task.number)
                })
            };
            let marked = self.marked.get();
            let shown = opened.then(failed).flatten().or(marked);
            after_render(move || {
                mark(marked);
                shown.into_iter().for_each(reveal);
            });
        });
    }
}

/// Marks the task in the list, and no other.
#[cfg(feature = "hydrate")]
fn mark(task: Option<u32>) {
    let row = task.and_then(|task| document().get_element_by_id(&format!("T{task}")));
    if let Ok(Some(before)) = document().query_selector(".tree [aria-current]") {
        let _ = before.remove_attribute("aria-current");
    }
    if let Some(row) = row {
        let _ = row.set_attribute("aria-current", "true");
    }
}

/// Does nothing on the server.
#[cfg(not(feature = "hydrate"))]
fn mark(_: Option<u32>) {}

/// Scrolls the list as little as needed, and nothing else: `scrollIntoView` would scroll the page, too.
#[cfg(feature = "hydrate")]
fn reveal(task: u32) {
    let Some(row) = document().get_element_by_id(&format!("T{task}")) else { return };
    let Ok(Some(list)) = row.closest(".tree") else { return };
    let (row, shown) = (row.get_bounding_client_rect(), list.get_bounding_client_rect());
    if row.height() == 0.0 {
        // Its play is folded.
        return;
    }
    let by = (row.bottom() - shown.bottom()).max(0.0) + (row.top() - shown.top()).min(0.0);
    if by.abs() > 0.5 {
        #[expect(clippy::cast_possible_truncation, reason = "a distance on the screen")]
        list.set_scroll_top(list.scroll_top() + by as i32);
    }
}

/// Does nothing on the server.
#[cfg(not(feature = "hydrate"))]
fn reveal(_: u32) {}
