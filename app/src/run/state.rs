//! The state of the page: the data that it was rendered with, and the updates since then.

use api::live::Topic;
use api::log::{Found, LogEnd, LogQuery};
use api::operation::{OperationDetail, Phase};
use api::progress::{RunProgress, TaskProgress};
use api::watch::Watch;
use api::{OperationName, Problem};
use leptos::ev::{self, MouseEvent};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::address::replace_url;
use super::functions::{RunOpening, load_operation};
use super::log::store::LogStore;
use super::selection::Selection;
use super::summary::reason::Reason;
use super::tab::Tab;
use crate::click::is_plain;
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
    /// What the page was told besides that. One signal, because each type of signal adds code to the page.
    pub(super) told: RwSignal<Told>,
    pub(super) log: StoredValue<LogStore>,
    /// Increases when lines are added to `log`, which is too large to be a signal itself.
    pub(super) lines_added: RwSignal<u64>,
    pub(super) total: Memo<u64>,
    pub(super) end: Memo<Option<LogEnd>>,
    pub(super) phase: Memo<Phase>,
    /// Why there is no log (yet).
    pub(super) note: RwSignal<Option<String>>,
    /// Why the server sends no updates.
    pub(super) no_updates: RwSignal<Option<String>>,
    /// The open tab.
    pub(super) tab: RwSignal<Tab>,
    /// The lines that the URL's fragment names, or the line that was asked for. Only the browser knows the fragment, because it
    /// doesn't send it.
    pub(super) selection: RwSignal<Option<Selection>>,
    /// What to look for in the log, and what was found.
    pub(super) query: RwSignal<LogQuery>,
    pub(super) found: RwSignal<Found>,
    /// Whether the log folds tasks when they have ended without a failure.
    pub(super) folds_ended: RwSignal<bool>,
    /// The line of the headline that was folded or unfolded last; 0 for none.
    pub(super) folded_at: RwSignal<u64>,
    /// The host that was chosen before the code of the search was loaded.
    pub(super) chosen_host: RwSignal<Option<String>>,
    /// Increases when the log must scroll to the selection.
    pub(super) jumps: RwSignal<u64>,
    /// The first line and one past the last line that the server rendered.
    pub(super) rendered: (u64, u64),
    /// The line that the query asks for; 0 for none. It may not exist.
    pub(super) asked: u64,
    /// The first line on screen when the page opens; 0 for the end of the log.
    pub(super) opens_at: u64,
    /// The line that the socket must send next.
    next_line: RwSignal<u64>,
    requests: StoredValue<Requests>,
}

/// Why the run failed, and what there is to watch.
#[derive(Debug, Clone, Default)]
pub(super) struct Told {
    pub(super) reason: Option<Reason>,
    pub(super) watch: Option<Watch>,
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
    pub(super) fn open(opening: RunOpening, tab: Tab, asked: u64) -> Self {
        let RunOpening { detail, progress, reason, watch, log, note, query, found, opens_at, .. } = opening;
        let first = log.first.max(1);
        let rendered = (first, first + log.lines.len() as u64);
        // A text that was asked for is shown at its first hit.
        let hit = found.hits.first().filter(|_| asked == 0 && query.from == 0 && query.host.is_empty());
        let shown = hit.copied().unwrap_or(asked);
        let selection = (1..=log.total).contains(&shown).then(|| Selection::new(shown, shown));
        let next_line = RwSignal::new(log.total + 1);
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
            told: RwSignal::new(Told { reason, watch }),
            log,
            lines_added,
            total: Memo::new(move |_| of_log().0),
            end: Memo::new(move |_| of_log().1),
            phase: Memo::new(move |_| detail.with(|detail| detail.row.phase)),
            note: RwSignal::new(note),
            no_updates: RwSignal::new(None),
            tab: RwSignal::new(tab),
            selection: RwSignal::new(selection),
            query: RwSignal::new(query),
            found: RwSignal::new(found),
            folds_ended: RwSignal::new(false),
            folded_at: RwSignal::new(0),
            chosen_host: RwSignal::new(None),
            jumps: RwSignal::new(0),
            rendered,
            asked,
            opens_at,
            next_line,
            requests: StoredValue::default(),
        }
    }

    /// Whether lines, results or the end may still come.
    pub(super) fn may_change(self) -> bool {
        !self.phase.get().is_final() || self.end.get().is_none()
    }

    /// The URL of a tab. It keeps what to look for.
    pub(super) fn url(self, tab: Tab) -> String {
        self.url_with(("tab", tab.key()))
    }

    /// The URL with one more parameter.
    pub(super) fn url_with(self, parameter: (&str, &str)) -> String {
        let path = self.name.with_value(|name| routes::operation(name));
        self.query
            .with_untracked(|query| routes::with_query(&path, &[parameter, ("q", &query.text), ("host", &query.host)]))
    }

    /// The URL of lines of the log. Without JavaScript it leads to a page that contains them.
    pub(super) fn url_of(self, lines: Selection) -> String {
        // With a host, `from` is where the list of its lines begins, and without `line` that list covers the log.
        if self.query.with_untracked(|query| !query.host.is_empty()) {
            return format!("{}{}", self.url_with(("line", &lines.first().to_string())), lines.fragment());
        }
        let (first, end) = self.rendered;
        let from = if (first..end).contains(&lines.first()) { 0 } else { lines.first().saturating_sub(20).max(1) };
        let from = if from == 0 { String::new() } else { from.to_string() };
        format!("{}{}", self.url_with(("from", &from)), lines.fragment())
    }

    /// Follows the page's links to lines of the log, until the calling component is removed. One listener for all of them, because most
    /// are in HTML of the server whose code is never loaded. The links have `rel="external"`, so that the router leaves them alone.
    pub(super) fn follow_links(self) {
        let clicks = window_event_listener(ev::click, move |event| {
            if event.default_prevented() || !is_plain(&event) {
                return;
            }
            let Some(lines) = clicked_link(&event).and_then(|(url, id)| self.lines_of(&url, &id)) else { return };
            event.prevent_default();
            self.jump(lines);
        });
        on_cleanup(move || clicks.remove());
    }

    /// The lines that a link of this run names. The rows of the task list, with ids such as `T12`, stand for all lines of their task, which
    /// may have been added since the link was rendered.
    fn lines_of(self, url: &str, id: &str) -> Option<Selection> {
        let (url, fragment) = url.split_once('#')?;
        let path = self.name.with_value(|name| routes::operation(name));
        let lines = Selection::parse(fragment).filter(|_| url.split('?').next() == Some(&path))?;
        let number = id.strip_prefix('T').and_then(|number| number.parse().ok());
        let task = number
            .and_then(|number| self.progress.with_untracked(|progress| progress.task(number).map(TaskProgress::lines)));
        Some(task.map_or(lines, |(first, last)| Selection::new(first, last)))
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

    /// Keeps the page up to date until the person leaves it.
    pub(super) fn go_live(self) {
        let name = self.name.get_value();
        let news = live::use_topic(Topic::Operation(name.to_string()));
        Effect::new(move |before: Option<u64>| {
            let now = news.get();
            // The first news is that the page is connected. A run that had ended when the server rendered it is complete.
            let is_complete = before == Some(0) && !untrack(|| self.may_change());
            if before.is_some_and(|before| before != now) && !is_complete {
                self.refetch();
            }
            now
        });
        let has_news = Memo::new(move |_| self.phase.get() != Phase::Queued && self.end.get().is_none());
        Effect::new(move |_| {
            if has_news.get() {
                let events_from = self.progress.with_untracked(RunProgress::next_event);
                live::follow(self.name.get_value(), self.next_line.get_untracked(), events_from, move |news| {
                    self.apply(news);
                });
            }
        });
    }

    fn refetch(self) {
        let name = self.name.get_value().to_string();
        let Some(request) = self.requests.try_update_value(Requests::next) else { return };
        spawn_local(async move {
            let is_last = move || self.requests.try_with_value(|requests| requests.last) == Some(request);
            let Some(detail) = patiently(move || load_operation(name.clone()), is_last).await else { return };
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
                self.next_line.try_set(first + lines.len() as u64);
                if !lines.is_empty() {
                    self.log.try_update_value(|log| {
                        log.insert(first, lines);
                        log.trim();
                    });
                    self.lines_added.try_update(|n| *n += 1);
                    clear(self.note);
                }
                clear(self.no_updates);
            }
            RunNews::Events(events) => {
                clear(self.no_updates);
                self.progress.try_update(|progress| events.iter().for_each(|event| progress.apply(event)));
            }
            RunNews::End(end) => {
                clear(self.no_updates);
                self.log.try_update_value(|log| log.finish(end));
                self.progress.try_update(RunProgress::end);
                self.lines_added.try_update(|n| *n += 1);
            }
            RunNews::NoUpdates(message) => {
                self.no_updates.try_set(Some(message));
            }
        }
    }
}

/// URL and id of the link that was clicked.
fn clicked_link(event: &MouseEvent) -> Option<(String, String)> {
    use leptos::wasm_bindgen::JsCast;
    let clicked = event.target()?.dyn_into::<leptos::web_sys::Element>().ok()?;
    let link = clicked.closest("a[rel=external]").ok()??;
    Some((link.get_attribute("href")?, link.id()))
}

/// Repeats a request until the server answers. Meanwhile the page shows the last values, and the state of the connection says that
/// they may be old. `None` if the request was refused, or is no longer wanted.
pub(super) async fn patiently<T, F>(request: impl Fn() -> F, is_wanted: impl Fn() -> bool) -> Option<T>
where
    F: Future<Output = Result<T, Failure>>,
{
    let mut ms = FIRST_PAUSE;
    loop {
        match request().await {
            Ok(answer) => return Some(answer),
            // Try again here: the next change may be hours away, and a queued run's lines are not requested before the page
            // knows that it runs.
            Err(Failure(Problem::Unavailable { .. })) => pause(ms).await,
            Err(_) => return None,
        }
        if !is_wanted() {
            return None;
        }
        ms = (2 * ms).min(LONGEST_PAUSE);
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
