//! The state of the page: the data that it was rendered with, and the updates since then.

use api::live::Topic;
use api::log::LogEnd;
use api::operation::{OperationDetail, Phase};
use api::progress::RunProgress;
use api::{OperationName, Problem};
use leptos::ev::MouseEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::address::{is_plain, replace_url};
use super::functions::{RunOpening, load_operation};
use super::log::store::LogStore;
use super::selection::Selection;
use super::tab::Tab;
use crate::live::{self, RunNews};
use crate::wait::pause;
use crate::{Failure, routes};

/// The back-off after a failed request, in milliseconds. It doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: i32 = 1_000;
const LONGEST_PAUSE: i32 = 15_000;

/// The state that the parts of the page share.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub(super) name: StoredValue<OperationName>,
    pub(super) detail: RwSignal<OperationDetail>,
    pub(super) progress: RwSignal<RunProgress>,
    pub(super) log: StoredValue<LogStore>,
    /// Increases when lines are added to `log`, which is too large to be a signal itself.
    pub(super) lines_added: RwSignal<u64>,
    pub(super) total: Memo<u64>,
    pub(super) end: Memo<Option<LogEnd>>,
    pub(super) phase: Memo<Phase>,
    /// Why there is no log (yet).
    pub(super) note: RwSignal<Option<String>>,
    /// Why the server refuses to send updates.
    pub(super) refused: RwSignal<Option<String>>,
    /// The open tab.
    pub(super) tab: RwSignal<Tab>,
    /// The lines that the URL's fragment names. Only the browser knows them, because it doesn't send the fragment.
    pub(super) selection: RwSignal<Option<Selection>>,
    /// Increases when the log must scroll to the selection.
    pub(super) jumps: RwSignal<u64>,
    /// The first line and one past the last line that the server rendered.
    pub(super) rendered: (u64, u64),
    /// The line that the socket must send next.
    next_line: StoredValue<u64>,
    requests: StoredValue<Requests>,
}

/// Numbers the requests for the run's detail, because a later answer may arrive before an earlier one.
#[derive(Debug, Default)]
struct Requests {
    last: u64,
    /// The newest request whose answer is shown.
    shown: u64,
}

impl Requests {
    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Whether the answer to this request is newer than the one that is shown. If so, it counts as shown.
    fn accepts(&mut self, request: u64) -> bool {
        let newer = request > self.shown;
        self.shown = self.shown.max(request);
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
        let lines_added = RwSignal::new(0);
        let of_log = move || {
            lines_added.track();
            log.with_value(|log| (log.total(), log.end()))
        };
        Self {
            name,
            detail,
            progress: RwSignal::new(progress),
            log,
            lines_added,
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
            requests: StoredValue::default(),
        }
    }

    /// Whether lines, results or the end may still come.
    pub(super) fn may_change(self) -> bool {
        !self.phase.get().is_final() || self.end.get().is_none()
    }

    /// The URL of a tab.
    pub(super) fn url(self, tab: Tab) -> String {
        routes::with_query(&self.name.with_value(|name| routes::operation(name)), &[("tab", tab.key())])
    }

    /// The URL of lines of the log. Without JavaScript it leads to a page that contains them.
    pub(super) fn url_of(self, lines: Selection) -> String {
        let (first, end) = self.rendered;
        let from = if (first..end).contains(&lines.first()) { 0 } else { lines.first().saturating_sub(20).max(1) };
        let from = if from == 0 { String::new() } else { from.to_string() };
        let path = self.name.with_value(|name| routes::operation(name));
        format!("{}{}", routes::with_query(&path, &[("from", &from)]), lines.fragment())
    }

    /// Follows a link to lines of the log, unless the click opens a new tab or window.
    pub(super) fn follow_link(self, event: &MouseEvent, lines: Selection) {
        if is_plain(event) {
            event.prevent_default();
            self.jump(lines);
        }
    }

    /// Shows lines in the log and names them in the URL.
    fn jump(self, lines: Selection) {
        self.select(lines);
        self.tab.set(Tab::Log);
        self.jumps.update(|n| *n += 1);
    }

    /// Names lines in the URL.
    pub(super) fn select(self, lines: Selection) {
        self.selection.set(Some(lines));
        replace_url(&format!("{}{}", self.url(Tab::Log), lines.fragment()));
    }

    /// Keeps the page up to date until the person leaves it.
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
        let has_news = Memo::new(move |_| self.phase.get() != Phase::Queued && self.end.get().is_none());
        Effect::new(move |_| {
            if has_news.get() {
                let events_from = self.progress.with_untracked(RunProgress::next_event);
                live::follow(self.name.get_value(), self.next_line.get_value(), events_from, move |news| {
                    self.apply(news);
                });
            }
        });
    }

    fn refetch(self) {
        let name = self.name.get_value().to_string();
        let Some(request) = self.requests.try_update_value(Requests::next) else { return };
        spawn_local(async move {
            // Meanwhile the page shows the last values, and the state of the connection says that they may be old.
            let mut ms = FIRST_PAUSE;
            let detail = loop {
                match load_operation(name.clone()).await {
                    Ok(detail) => break detail,
                    // Try again here: the next change may be hours away, and a queued run's lines are not requested before
                    // the page knows that it runs.
                    Err(Failure(Problem::Unavailable { .. })) => pause(ms).await,
                    Err(_) => return,
                }
                if self.requests.try_with_value(|requests| requests.last) != Some(request) {
                    return;
                }
                ms = (2 * ms).min(LONGEST_PAUSE);
            };
            if self.requests.try_update_value(|requests| requests.accepts(request)) != Some(true) {
                return;
            }
            if self.phase.try_get_untracked().is_some_and(|phase| phase != detail.row.phase) {
                // The note was about the previous phase.
                self.note.try_set(None);
            }
            self.detail.try_set(detail);
        });
    }

    /// Applies an update. It may arrive after the person has left the page, when the signals are disposed of, hence `try_`.
    fn apply(self, news: RunNews) {
        match news {
            RunNews::Lines { first, lines } => {
                self.next_line.try_set_value(first + lines.len() as u64);
                if !lines.is_empty() {
                    self.log.try_update_value(|log| {
                        log.insert(first, lines);
                        log.trim();
                    });
                    self.lines_added.try_update(|n| *n += 1);
                    clear(self.note);
                }
                clear(self.refused);
            }
            RunNews::Events(events) => {
                clear(self.refused);
                self.progress.try_update(|progress| events.iter().for_each(|event| progress.apply(event)));
            }
            RunNews::End(end) => {
                clear(self.refused);
                self.log.try_update_value(|log| log.finish(end));
                self.progress.try_update(RunProgress::end);
                self.lines_added.try_update(|n| *n += 1);
            }
            RunNews::Refused(message) => {
                self.refused.try_set(Some(message));
            }
        }
    }
}

/// Clears a sentence that is no longer true. Doesn't set an empty signal, because that would re-render its readers for nothing.
fn clear(sentence: RwSignal<Option<String>>) {
    if sentence.try_with_untracked(Option::is_some) == Some(true) {
        sentence.try_set(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_older_than_the_shown_one_is_ignored() {
        let mut requests = Requests::default();
        let (first, second, third) = (requests.next(), requests.next(), requests.next());
        assert!(requests.accepts(second));
        assert!(!requests.accepts(first), "older than what is shown");
        assert!(requests.accepts(third));
    }
}
