//! Lines of the log that the page lacks where its reader is.

use std::collections::BTreeSet;

use leptos::{prelude::*, task::spawn_local};

use super::{functions::load_lines, log_store::BLOCK, scroller::Reader, state::Run};
use crate::live::{self, Connection};

/// Requests for lines that are on their way at the same time.
const AT_ONCE: usize = 2;

/// Which blocks were asked for.
#[derive(Default)]
struct Asked {
    flying: usize,
    /// On their way, or in vain: lines that are lost, or a server that did not answer.
    tried: BTreeSet<u64>,
}

impl Asked {
    /// Whether `block` may be asked for now.
    fn begins(&mut self, block: u64) -> bool {
        let begins = self.flying < AT_ONCE && self.tried.insert(block);
        self.flying += usize::from(begins);
        begins
    }

    fn ends(&mut self, block: u64, whole: bool) {
        self.flying -= 1;
        if whole {
            self.tried.remove(&block);
        }
    }
}

impl Reader {
    /// Asks for the blocks that are missing where the reader is, [`AT_ONCE`] at a time. When one has come, what is on screen
    /// *then* is asked for: a long drag of the scroll bar leaves no queue behind.
    pub(super) fn fill(self, run: Run) {
        let asked = StoredValue::new(Asked::default());
        let connection = live::connection();
        Effect::new(move |_| {
            self.window.track();
            // What could not be fetched is asked for again when the server is back.
            if connection.get() == Connection::Lost {
                asked.update_value(|asked| asked.tried.clear());
            } else if self.view.get_untracked().is_some() {
                self.ask(run, asked);
            }
        });
    }

    fn ask(self, run: Run, asked: StoredValue<Asked>) {
        let Some(shown) = self.window.try_get_untracked() else { return };
        let follows = self.follows.try_get_untracked().unwrap_or(true);
        run.log.try_update_value(|log| log.look_at((!follows).then_some(shown.top)));
        let (first, end) = (shown.first.saturating_sub(BLOCK / 2), shown.end + BLOCK / 2);
        // On screen first, then ahead.
        let missing =
            run.log.try_with_value(|log| [log.missing(shown.first, shown.end), log.missing(first, end)].concat());
        for first in missing.unwrap_or_default() {
            let Some(name) = run.name.try_get_value() else { return };
            if asked.try_update_value(|asked| asked.begins(first)) != Some(true) {
                continue;
            }
            spawn_local(async move {
                let page = load_lines(name.to_string(), first, u32::try_from(BLOCK).unwrap_or(u32::MAX)).await;
                let taken = run.log.try_update_value(|log| {
                    let whole = page.map(|page| log.take(page)).is_ok() && log.missing(first, first + BLOCK).is_empty();
                    log.trim();
                    whole
                });
                asked.try_update_value(|asked| asked.ends(first, taken == Some(true)));
                if run.lines_came.try_update(|n| *n += 1).is_some() {
                    self.ask(run, asked);
                }
            });
        }
    }
}
