//! Loads lines of the log that are missing on and near the screen.

use std::collections::BTreeSet;

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::super::functions::load_lines;
use super::super::state::Run;
use super::scroll_position::ScrollPosition;
use super::store::{BLOCK, LogStore};
use crate::live;

/// The most requests for lines at the same time.
const MOST_REQUESTS: usize = 2;

/// The number of lines before and after the screen that are loaded in advance. At the end of a log, those that the server rendered are
/// enough, so a first visit makes no request for lines.
const NEAR: u64 = 120;

/// The blocks that were requested.
#[derive(Default)]
struct Requests {
    in_flight: usize,
    /// Blocks that are in flight, or whose request failed: their lines are lost, or the server did not answer.
    tried: BTreeSet<u64>,
}

impl Requests {
    /// Whether `block` may be requested now. If so, it counts as in flight.
    fn start(&mut self, block: u64) -> bool {
        let starts = self.in_flight < MOST_REQUESTS && self.tried.insert(block);
        self.in_flight += usize::from(starts);
        starts
    }

    /// The answer for `block` is here. A block that is still incomplete is not requested again.
    fn end(&mut self, block: u64, complete: bool) {
        self.in_flight -= 1;
        if complete {
            self.tried.remove(&block);
        }
    }
}

impl ScrollPosition {
    /// Loads the blocks that are missing on and near the screen, at most [`MOST_REQUESTS`] at a time. When one arrives, the next
    /// request is for what is on screen *then*, so a long drag of the scroll bar leaves no queue behind.
    pub(super) fn fill(self, run: Run) {
        let requests = StoredValue::new(Requests::default());
        let connection = live::connection();
        Effect::new(move |_| {
            self.window.track();
            // Request failed blocks again when the server is back.
            if connection.get().is_cut() {
                requests.update_value(|requests| requests.tried.clear());
            } else if self.view.get_untracked().is_some() && !self.is_jumping.get() {
                self.request(run, requests);
            }
        });
    }

    fn request(self, run: Run, requests: StoredValue<Requests>) {
        let Some(shown) = self.window.try_get_untracked() else { return };
        let sticks_to_end = self.sticks_to_end.try_get_untracked().unwrap_or(true);
        // The log scrolls to its end next, so the lines on screen now are not needed.
        let is_last = |log: &LogStore| log.rows().before(shown.end) >= log.rows().before(log.total() + 1);
        if sticks_to_end && run.log.try_with_value(is_last) != Some(true) {
            return;
        }
        run.log.try_update_value(|log| log.look_at((!sticks_to_end).then_some(shown.top)));
        let (first, end) = (shown.first.saturating_sub(NEAR), shown.end + NEAR);
        // Lines on screen first, then lines near it.
        let missing =
            run.log.try_with_value(|log| [log.missing(shown.first, shown.end), log.missing(first, end)].concat());
        for first in missing.unwrap_or_default() {
            let Some(name) = run.name.try_get_value() else { return };
            if requests.try_update_value(|requests| requests.start(first)) != Some(true) {
                continue;
            }
            spawn_local(async move {
                let page = load_lines(name.to_string(), first, u32::try_from(BLOCK).unwrap_or(u32::MAX)).await;
                let taken = run.log.try_update_value(|log| {
                    let complete =
                        page.map(|page| log.take(page)).is_ok() && log.missing(first, first + BLOCK).is_empty();
                    log.trim();
                    complete
                });
                requests.try_update_value(|requests| requests.end(first, taken == Some(true)));
                if run.lines_added.try_update(|n| *n += 1).is_some() {
                    self.request(run, requests);
                }
            });
        }
    }
}
