//! A run in the page: what was there when it was rendered, and what came since.

use api::{
    OperationName, Problem,
    live::Topic,
    log::LogEnd,
    operation::{OperationDetail, Phase},
    progress::RunProgress,
};
use leptos::{prelude::*, task::spawn_local};

use super::{
    functions::{RunOpening, load_operation},
    log_store::LogStore,
    selection::Selection,
    tabs::Tab,
};
use crate::{
    Failure,
    live::{self, RunNews},
    routes,
    wait::pause,
};

/// Before an answer that failed is asked for again, in milliseconds; it doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: i32 = 1_000;
const LONGEST_PAUSE: i32 = 15_000;

/// Changes the address without a navigation: the page stays as it is.
pub(super) fn replace_url(url: &str) {
    if let Ok(history) = window().history() {
        let _ = history.replace_state_with_url(&leptos::wasm_bindgen::JsValue::NULL, "", Some(url));
    }
}

/// Whether a click on a link means this page, and not a new tab or window.
pub(super) fn is_plain(event: &leptos::ev::MouseEvent) -> bool {
    event.button() == 0 && !event.ctrl_key() && !event.meta_key() && !event.shift_key() && !event.alt_key()
}

/// Everything the parts of the page look at.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub(super) name: StoredValue<OperationName>,
    pub(super) detail: RwSignal<OperationDetail>,
    pub(super) progress: RwSignal<RunProgress>,
    pub(super) log: StoredValue<LogStore>,
    /// Rises when lines came: the store itself is too large to be a signal.
    pub(super) lines_came: RwSignal<u64>,
    pub(super) total: Memo<u64>,
    pub(super) end: Memo<Option<LogEnd>>,
    pub(super) phase: Memo<Phase>,
    /// Why there is nothing to read (yet).
    pub(super) note: RwSignal<Option<String>>,
    /// Why the server tells nothing new.
    pub(super) refused: RwSignal<Option<String>>,
    /// The part of the page that is open.
    pub(super) tab: RwSignal<Tab>,
    /// The lines that the URL names. Only the browser knows them: a fragment is never sent.
    pub(super) selection: RwSignal<Option<Selection>>,
    /// Rises when the log is to show the selection.
    pub(super) jumps: RwSignal<u64>,
    /// First line and one past the last line of the page as it was rendered.
    pub(super) rendered: (u64, u64),
    /// The line that the socket is to send next.
    next_line: StoredValue<u64>,
    asked: StoredValue<Asked>,
}

/// Which answers about the run are news: they may overtake each other on their way.
#[derive(Debug, Default)]
struct Asked {
    last: u64,
    taken: u64,
}

impl Asked {
    fn asks(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Whether the answer to this question is newer than what was taken last.
    fn takes(&mut self, question: u64) -> bool {
        let newer = question > self.taken;
        self.taken = self.taken.max(question);
        newer
    }
}

impl Run {
    pub(super) fn open(opening: RunOpening, tab: Tab) -> Self {
        let RunOpening { detail, mut progress, log, note } = opening;
        if detail.row.phase.is_final() && log.end.is_some() {
            progress.end();
        }
        let first = log.first.max(1);
        let rendered = (first, first + log.lines.len() as u64);
        let next_line = StoredValue::new(log.total + 1);
        let name = StoredValue::new(detail.row.name.clone());
        let log = StoredValue::new(LogStore::of(log));
        let detail = RwSignal::new(detail);
        let lines_came = RwSignal::new(0);
        let of_log = move || {
            lines_came.track();
            log.with_value(|log| (log.total(), log.end()))
        };
        Self {
            name,
            detail,
            progress: RwSignal::new(progress),
            log,
            lines_came,
            total: Memo::new(move |_| of_log().0),
            end: Memo::new(move |_| of_log().1),
            phase: Memo::new(move |_| detail.with(|detail| detail.row.phase)),
            note: RwSignal::new(note),
            refused: RwSignal::new(None),
            tab: RwSignal::new(tab),
            selection: RwSignal::new(None),
            jumps: RwSignal::new(0),
            rendered,
            next_line,
            asked: StoredValue::default(),
        }
    }

    /// Something may still come of it: lines, results, its end.
    pub(super) fn may_change(self) -> bool {
        !self.phase.get().is_final() || self.end.get().is_none()
    }

    /// The URL of a part of this page.
    pub(super) fn url(self, tab: Tab) -> String {
        routes::with_query(&self.name.with_value(|name| routes::operation(name)), &[("tab", tab.key())])
    }

    /// The URL of lines in the log, which a browser without JavaScript finds there, too.
    pub(super) fn url_of(self, lines: Selection) -> String {
        let (first, end) = self.rendered;
        let from = if (first..end).contains(&lines.first()) { 0 } else { lines.first().saturating_sub(20).max(1) };
        let from = if from == 0 { String::new() } else { from.to_string() };
        let path = self.name.with_value(|name| routes::operation(name));
        format!("{}{}", routes::with_query(&path, &[("from", &from)]), lines.fragment())
    }

    /// Shows lines in the log and names them in the URL.
    pub(super) fn jump(self, lines: Selection) {
        self.select(lines);
        self.tab.set(Tab::Log);
        self.jumps.update(|n| *n += 1);
    }

    /// Names lines in the URL.
    pub(super) fn select(self, lines: Selection) {
        self.selection.set(Some(lines));
        replace_url(&format!("{}{}", self.url(Tab::Log), lines.fragment()));
    }

    /// From now on the page learns what happens, until it is left.
    pub(super) fn go_live(self) {
        let name = self.name.get_value();
        let news = live::use_topic(Topic::Operation(name.to_string()));
        Effect::new(move |before: Option<u64>| {
            let now = news.get();
            if before.is_some_and(|before| before != now) {
                self.refetch();
            }
            now
        });
        let speaks = Memo::new(move |_| self.phase.get() != Phase::Queued && self.end.get().is_none());
        Effect::new(move |_| {
            if speaks.get() {
                let events_from = self.progress.with_untracked(RunProgress::next_event);
                live::follow(self.name.get_value(), self.next_line.get_value(), events_from, move |news| {
                    self.hear(news);
                });
            }
        });
    }

    fn refetch(self) {
        let name = self.name.get_value().to_string();
        let Some(question) = self.asked.try_update_value(Asked::asks) else { return };
        spawn_local(async move {
            // Until it is there the last known values stay; the connection's state says that they may be old.
            let mut ms = FIRST_PAUSE;
            let detail = loop {
                match load_operation(name.clone()).await {
                    Ok(detail) => break detail,
                    // There may be no further news for hours, and none of the run's lines is asked for before it is known to run.
                    Err(Failure(Problem::Unavailable { .. })) => pause(ms).await,
                    Err(_) => return,
                }
                if self.asked.try_with_value(|asked| asked.last) != Some(question) {
                    return;
                }
                ms = (2 * ms).min(LONGEST_PAUSE);
            };
            if self.asked.try_update_value(|asked| asked.takes(question)) != Some(true) {
                return;
            }
            if self.phase.try_get_untracked().is_some_and(|phase| phase != detail.row.phase) {
                // It was about the phase before.
                self.note.try_set(None);
            }
            self.detail.try_set(detail);
        });
    }

    /// The socket may speak after the page was left: every signal may be gone.
    fn hear(self, news: RunNews) {
        match news {
            RunNews::Lines { first, lines } => {
                self.next_line.try_set_value(first + lines.len() as u64);
                if !lines.is_empty() {
                    self.log.try_update_value(|log| {
                        log.insert(first, lines);
                        log.trim();
                    });
                    self.lines_came.try_update(|n| *n += 1);
                    outdate(self.note);
                }
                outdate(self.refused);
            }
            RunNews::Events(events) => {
                outdate(self.refused);
                self.progress.try_update(|progress| events.iter().for_each(|event| progress.apply(event)));
            }
            RunNews::End(end) => {
                outdate(self.refused);
                self.log.try_update_value(|log| log.finish(end));
                self.progress.try_update(RunProgress::end);
                self.lines_came.try_update(|n| *n += 1);
            }
            RunNews::Refused(message) => {
                self.refused.try_set(Some(message));
            }
        }
    }
}

/// A sentence that is no longer so. Signals that hold nothing are left alone: setting one would render what shows it.
fn outdate(sentence: RwSignal<Option<String>>) {
    if sentence.try_with_untracked(Option::is_some) == Some(true) {
        sentence.try_set(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_was_overtaken_is_not_taken() {
        let mut asked = Asked::default();
        let (first, second, third) = (asked.asks(), asked.asks(), asked.asks());
        assert!(asked.takes(second));
        assert!(!asked.takes(first), "older than what is shown");
        assert!(asked.takes(third));
    }
}
