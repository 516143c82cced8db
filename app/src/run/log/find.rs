//! Finds text and the lines of a host in the whole log. The server looks in all lines, also in those that the browser doesn't have.

use api::Problem;
use api::log::{Found, FoundLine, LogQuery};
use api::progress::RunProgress;
use leptos::ev::{MouseEvent, SubmitEvent};
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::super::address::replace_url;
use super::super::functions::find_lines;
use super::super::selection::Selection;
use super::super::state::Run;
use super::super::tab::Tab;
use super::ansi;
use crate::click::is_plain;
use crate::ui::{Icon, dynamic, icon, optional};
use crate::wait::pause;
use crate::words::{count, thousands};
use crate::{Failure, routes};

/// The shortest pause before new lines are searched, too, in milliseconds.
const AGAIN: f64 = 2_000.0;
/// How many times as long as the last search the pause is, so that repeats take little of the server's time.
const PAUSE_FACTOR: f64 = 10.0;

/// The state of the tool.
#[derive(Clone, Copy)]
struct Finder {
    run: Run,
    /// Numbers the requests. Only the answer to the newest one counts.
    request: StoredValue<u64>,
    /// How long the last search took, in milliseconds.
    took: StoredValue<f64>,
    /// Whether [`Finder::repeat`] is running.
    repeats: StoredValue<bool>,
    searching: RwSignal<bool>,
    /// Whether the list of a host's lines covers the log.
    lists: RwSignal<bool>,
    /// The fields of the form.
    text: NodeRef<html::Input>,
    host: NodeRef<html::Select>,
}

/// The field, the hosts, the number of hits, and the ways from hit to hit. A piece of the page.
#[component]
pub fn FindTool() -> impl IntoView {
    let run = expect_context::<Run>();
    let chosen = run.chosen_host.try_update_untracked(Option::take).flatten();
    if let Some(host) = &chosen {
        run.query.update_untracked(|query| (query.host, query.from) = (host.clone(), 0));
        replace_url(&run.url(Tab::Log));
    }
    let lists =
        run.query.with_untracked(|query| !query.host.is_empty()) && run.selection.with_untracked(Option::is_none);
    let finder = Finder {
        run,
        request: StoredValue::new(0),
        took: StoredValue::new(0.0),
        repeats: StoredValue::new(false),
        searching: RwSignal::new(false),
        lists: RwSignal::new(lists),
        text: NodeRef::new(),
        host: NodeRef::new(),
    };
    finder.start();
    if chosen.is_some_and(|host| !host.is_empty()) {
        finder.lists.set(true);
        finder.search(true);
    }
    view! {
        <Fields finder/>
        {optional(move || run.query.with(|query| !query.is_empty()).then(|| view! { <Answer finder/> }))}
        {optional(move || finder.lists.get().then(|| view! { <Lines finder/> }))}
    }
}

impl Finder {
    /// Searches new lines, listens for keys, and uncovers the log when it scrolls to a line.
    fn start(self) {
        let run = self.run;
        // Also at the start: lines may have come since the server's answer, while this code was loaded.
        Effect::new(move |_| {
            run.lines_added.track();
            let idle = run.query.with_untracked(LogQuery::is_empty) || self.repeats.get_value();
            if idle || !run.may_change() {
                return;
            }
            self.repeats.set_value(true);
            spawn_local(self.repeat());
        });
        Effect::new(move |before: Option<u64>| {
            let jumps = run.jumps.get();
            if before.is_some_and(|before| before != jumps) {
                self.lists.set(false);
            }
            jumps
        });
        listen(self);
    }

    /// Searches again until an answer covers the newest line. An incomplete answer wouldn't cover it next time either.
    async fn repeat(self) {
        let run = self.run;
        while let Some(took) = self.took.try_get_value() {
            pause(pause_after(took)).await;
            if self.searching.try_get_untracked() == Some(true) {
                continue;
            }
            // `None` once the person has left the page.
            if run.found.try_with_untracked(|found| found.note.is_empty()) != Some(true) {
                break;
            }
            let lines = run.lines_added.try_get_untracked();
            let Some((request, query)) = self.begin(false) else { break };
            if self.ask(request, query, false).await && run.lines_added.try_get_untracked() == lines {
                break;
            }
        }
        self.repeats.try_set_value(false);
    }

    /// Asks the server. With `jumps`, the log scrolls to the first hit at or after the selection.
    fn search(self, jumps: bool) {
        if let Some((request, query)) = self.begin(jumps) {
            spawn_local(async move {
                self.ask(request, query, jumps).await;
            });
        }
    }

    /// The number of a new request, and what it asks for. `None` if there is nothing to look for.
    fn begin(self, jumps: bool) -> Option<(u64, LogQuery)> {
        let query = self.run.query.try_get_untracked()?;
        let request = self.request.try_update_value(|request| {
            *request += 1;
            *request
        })?;
        if query.is_empty() {
            self.searching.set(false);
            self.run.found.set(Found::default());
            return None;
        }
        self.searching.set(jumps);
        Some((request, query))
    }

    /// Shows the answer to a request, unless there is a newer request. `false` if a repeat must try again.
    async fn ask(self, request: u64, query: LogQuery, jumps: bool) -> bool {
        let run = self.run;
        let Some(name) = run.name.try_get_value() else { return true };
        let start = now();
        let found = find_lines(name.to_string(), query.text, query.host.clone(), query.from).await;
        if self.request.try_get_value() != Some(request) {
            return true;
        }
        self.searching.try_set(false);
        match found {
            Ok(found) => {
                self.took.try_set_value(now() - start);
                let here = run.selection.get_untracked().map_or(0, Selection::first);
                let hit = found.hits.iter().find(|hit| **hit >= here).or(found.hits.first()).copied();
                run.found.try_set(found);
                if let Some(hit) = hit.filter(|_| jumps && query.host.is_empty()) {
                    run.jump(Selection::new(hit, hit));
                }
            }
            // The last answer stays while the server can't be reached; the page says that it can't.
            Err(Failure(Problem::Unavailable { .. })) if !jumps => return false,
            // The hits stay, and the note says why there are no newer ones.
            Err(failure) if !jumps => {
                run.found.try_update(|found| found.note = failure.0.to_string());
            }
            Err(failure) => {
                run.found.try_set(Found { note: failure.0.to_string(), ..Found::default() });
            }
        }
        true
    }

    /// Empties the fields of the form.
    fn clear_fields(self) {
        if let Some(text) = self.text.get_untracked() {
            text.set_value("");
            let _ = text.focus();
        }
        if let Some(host) = self.host.get_untracked() {
            host.set_value("");
        }
    }

    /// The next hit below or above the selected line. The first hit follows the last one, and the other way round.
    fn neighbour(self, down: bool) -> Option<u64> {
        let here = self.run.selection.get().map(Selection::first);
        self.run.found.with(|found| neighbour(&found.hits, here, down))
    }

    /// Goes to the next or previous hit.
    fn go(self, down: bool) {
        if let Some(hit) = untrack(|| self.neighbour(down)) {
            self.run.jump(Selection::new(hit, hit));
        }
    }
}

/// The pause before the next search, after one that took so long, in milliseconds.
#[expect(clippy::cast_possible_truncation, reason = "a search takes seconds")]
fn pause_after(took: f64) -> i32 {
    (PAUSE_FACTOR * took).max(AGAIN) as i32
}

/// The browser's clock, in milliseconds.
#[cfg(feature = "hydrate")]
fn now() -> f64 {
    js_sys::Date::now()
}

/// The server doesn't repeat searches, so it measures none.
#[cfg(not(feature = "hydrate"))]
fn now() -> f64 {
    0.0
}

/// The next or previous of ascending `hits`, seen from the line `here`.
fn neighbour(hits: &[u64], here: Option<u64>, down: bool) -> Option<u64> {
    let Some(here) = here else { return if down { hits.first() } else { hits.last() }.copied() };
    let next = if down {
        hits.get(hits.partition_point(|hit| *hit <= here)).or(hits.first())
    } else {
        hits.partition_point(|hit| *hit < here).checked_sub(1).map_or(hits.last(), |at| hits.get(at))
    };
    next.copied()
}

/// `3 of 37 hits`, or `37 hits` while no hit is selected.
fn words(found: &Found, here: Option<u64>) -> String {
    let hits = count(found.total, "hit", "hits");
    let at = here.and_then(|here| found.hits.binary_search(&here).ok());
    at.map_or(hits.clone(), |at| format!("{} of {hits}", thousands(at as u64 + 1)))
}

/// Without JavaScript, a form that loads the page again.
#[component]
fn Fields(finder: Finder) -> impl IntoView {
    let run = finder.run;
    let submit = move |event: Option<SubmitEvent>| {
        if let Some(event) = event {
            event.prevent_default();
        }
        let (Some(text), Some(host)) = (finder.text.get_untracked(), finder.host.get_untracked()) else { return };
        let query = LogQuery { text: text.value(), host: host.value(), from: 0 };
        finder.lists.set(!query.host.is_empty());
        run.query.set(query);
        replace_url(&run.url(Tab::Log));
        finder.search(true);
    };
    // Hosts are only appended, so their number tells when to read their names again.
    let number = Memo::new(move |_| run.progress.with(|progress| progress.hosts.len()));
    let options = move || {
        let number = number.get();
        let names = |progress: &RunProgress| progress.hosts.iter().take(number).cloned().collect();
        let mut hosts: Vec<String> = run.progress.with_untracked(names);
        let chosen = run.query.with_untracked(|query| query.host.clone());
        if !chosen.is_empty() && !hosts.contains(&chosen) {
            hosts.push(chosen.clone());
        }
        let option = |host: String| {
            let is_chosen = host == chosen;
            view! { <option value=host.clone() selected=is_chosen>{host.clone()}</option> }
        };
        hosts.into_iter().map(option).collect_view()
    };
    view! {
        <form
            class="find-fields"
            role="search"
            action=run.name.with_value(|name| routes::operation(name))
            on:submit=move |event| submit(Some(event))
        >
            <input
                id="find-text"
                node_ref=finder.text
                type="search"
                name="q"
                value=run.query.with_untracked(|query| query.text.clone())
                maxlength=LogQuery::LONGEST
                placeholder="Find in the whole log"
                aria-label="Find in the whole log"
                aria-keyshortcuts="/"
                data-filter="true"
                autocomplete="off"
                spellcheck="false"
            />
            <select id="find-host" node_ref=finder.host name="host" aria-label="Host" on:change=move |_| submit(None)>
                <option value="">"All hosts"</option>
                {dynamic(options)}
            </select>
            <button class="btn small">{icon(Icon::Search)} "Find"</button>
        </form>
    }
}

/// The number of hits, and the links to the next and the previous one.
#[component]
fn Answer(finder: Finder) -> impl IntoView {
    let run = finder.run;
    let answer = move || {
        if finder.searching.get() {
            return "Searching…".to_owned();
        }
        let here = run.selection.get().map(Selection::first);
        run.found.with(|found| words(found, here))
    };
    let note = move || run.found.with(|found| (!found.note.is_empty()).then(|| found.note.clone()));
    let link = move |down: bool, label: &'static str, drawing: Icon| {
        let href = move || {
            let hit = finder.neighbour(down).unwrap_or_default();
            format!("{}#L{hit}", run.url_with(("line", &hit.to_string())))
        };
        let go = move |event: MouseEvent| {
            if is_plain(&event) {
                event.prevent_default();
                finder.go(down);
            }
        };
        view! {
            <a class="btn small" rel="external" href=href title=label aria-label=label on:click=go>
                {icon(drawing)}
            </a>
        }
    };
    let has_hits = move || run.found.with(|found| !found.hits.is_empty());
    let list = move || {
        let host = run.query.with(|query| query.host.clone());
        (!host.is_empty() && !finder.lists.get()).then(|| {
            let open = move |event: MouseEvent| {
                if is_plain(&event) {
                    event.prevent_default();
                    finder.lists.set(true);
                }
            };
            let words = format!("Lines of {host}");
            view! { <a class="btn small" rel="external" href=run.url(Tab::Log) on:click=open>{words}</a> }
        })
    };
    let all = run.name.with_value(|name| routes::operation(name));
    let clear = {
        let all = all.clone();
        move |event: MouseEvent| {
            if is_plain(&event) {
                event.prevent_default();
                run.query.set(LogQuery::default());
                finder.lists.set(false);
                finder.search(false);
                replace_url(&all);
                finder.clear_fields();
            }
        }
    };
    view! {
        <div class="find-answer">
            <output>{answer}</output>
            {optional(move || {
                has_hits()
                    .then(|| {
                        view! {
                            {link(false, "Previous hit", Icon::ArrowUp)}
                            {link(true, "Next hit", Icon::ArrowDown)}
                        }
                    })
            })}
            {optional(list)}
            <a class="btn small" rel="external" href=all on:click=clear>{icon(Icon::Close)} "Clear search"</a>
            {optional(move || note().map(|note| view! { <p class="st warn" role="alert">{note}</p> }))}
        </div>
    }
}

/// The lines of a host in place of the log. Each number leads to the line in the log.
#[component]
fn Lines(finder: Finder) -> impl IntoView {
    let run = finder.run;
    let row = move |found: &FoundLine| {
        let (number, lines) = (found.number, Selection::new(found.number, found.number));
        let text = ansi::plain(&found.line.s);
        let is_hit = run.found.with_untracked(|all| all.hits.binary_search(&number).is_ok());
        let class = if is_hit { "ln" } else { "ln ln-task" };
        view! {
            <li class=class>
                <a rel="external" href=run.url_of(lines)>
                    {number}
                </a>
                <span class="tx">{text}</span>
            </li>
        }
    };
    let rows = move || run.found.with(|found| found.lines.iter().map(row).collect_view());
    let more = move || {
        run.found.with(|found| found.next).checked_sub(1).map(|before| {
            let href = run.url_with(("from", &(before + 1).to_string()));
            view! { <p class="log-pages"><a class="link" rel="external" href=href>"Later lines of this host"</a></p> }
        })
    };
    let none = move || {
        let empty = run.found.with(|found| found.lines.is_empty() && found.note.is_empty()) && !finder.searching.get();
        empty.then(|| view! { <p class="tab-empty muted">"No line of this host matches."</p> })
    };
    view! {
        <div class="found" role="region" aria-label="Lines of the host" tabindex="0">
            {optional(none)}
            <ol>{dynamic(rows)}</ol>
            {optional(more)}
        </div>
    }
}

/// `n` and `N` go to the next and previous hit, unless a field has the focus.
#[cfg(feature = "hydrate")]
fn listen(finder: Finder) {
    Effect::new(move |_| {
        let handle = window_event_listener(leptos::ev::keydown, move |event| {
            let is_shortcut = !event.ctrl_key() && !event.meta_key() && !event.alt_key();
            if !is_shortcut || event.default_prevented() || crate::keyboard::in_field(&event) {
                return;
            }
            if matches!(event.key().as_str(), "n" | "N") && finder.run.tab.try_get_untracked() == Some(Tab::Log) {
                event.prevent_default();
                finder.go(event.key() == "n");
            }
        });
        on_cleanup(move || handle.remove());
    });
}

/// Does nothing on the server.
#[cfg(not(feature = "hydrate"))]
fn listen(_: Finder) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_are_visited_in_both_directions_and_in_a_circle() {
        let hits = [3, 7, 9];
        let down = |here| neighbour(&hits, here, true);
        let up = |here| neighbour(&hits, here, false);
        assert_eq!((down(None), down(Some(1)), down(Some(3)), down(Some(8))), (Some(3), Some(3), Some(7), Some(9)));
        assert_eq!((up(None), up(Some(8)), up(Some(7)), up(Some(12))), (Some(9), Some(7), Some(3), Some(9)));
        assert_eq!((down(Some(9)), up(Some(3)), neighbour(&[], Some(1), true)), (Some(3), Some(9), None));
    }

    #[test]
    fn a_slow_search_is_repeated_after_a_longer_pause() {
        assert_eq!([0.0, 150.0, 201.0, 2_000.0].map(pause_after), [2_000, 2_000, 2_010, 20_000]);
        assert_eq!(pause_after(-60_000.0), 2_000, "the clock was set back");
    }

    #[test]
    fn the_number_of_hits_says_which_one_is_selected() {
        let found = Found { hits: vec![3, 7], total: 1_200, ..Found::default() };
        assert_eq!(words(&found, None), "1,200 hits");
        assert_eq!(words(&found, Some(7)), "2 of 1,200 hits");
        assert_eq!(words(&found, Some(8)), "1,200 hits");
        assert_eq!(words(&Found::default(), None), "0 hits");
    }
}
