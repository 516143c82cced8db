//! Folds the lines of plays and tasks in the log, so that only their headlines are shown.

use std::collections::BTreeMap;

use api::progress::{RunProgress, TaskProgress, TaskState};
use leptos::prelude::*;

use super::super::selection::Selection;
use super::super::state::Run;
use super::mark::Mark;
use super::scroll_position::ScrollPosition;
use super::store::LogStore;
use crate::wait::after_render;

/// A play or a task, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Headline {
    Play(u32),
    Task(u32),
}

/// What is folded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Folds {
    /// Whether tasks fold when they have ended without a failure.
    ended_tasks: bool,
    /// What the user or a selection wants to be folded or unfolded, whatever the rule says.
    wanted: BTreeMap<Headline, bool>,
}

/// The lines below a headline that is folded, from the first to the last one.
type Hidden = (Headline, u64, u64);

/// How many lines after the event of a task its headline comes. With `display_skipped_hosts = no`, which kubespray sets, ansible prints
/// an empty line and the headline with the first result; otherwise it prints them before the event.
fn offset(log: &LogStore, progress: &RunProgress) -> u64 {
    let first = progress.tasks.iter().find_map(|task| log.get(task.line));
    first.map_or(0, |line| if Mark::of(&line.s) == Some(Mark::Task) { 0 } else { 2 })
}

/// The play or task with its headline at this line.
fn headline_at(progress: &RunProgress, offset: u64, line: u64) -> Option<Headline> {
    let task = progress.tasks.iter().find(|task| task.line + offset == line);
    let play = progress.plays.iter().find(|play| play.line == line);
    task.map(|task| Headline::Task(task.number)).or(play.map(|play| Headline::Play(play.number)))
}

impl Folds {
    /// Only failed and running tasks are unfolded, or nothing is folded.
    fn all(ended_tasks: bool) -> Self {
        Self { ended_tasks, wanted: BTreeMap::new() }
    }

    fn folds(&self, task: &TaskProgress) -> bool {
        let is_done = task.ended.is_some()
            && !matches!(task.state(), TaskState::Running | TaskState::Failed | TaskState::Stopped);
        self.wanted.get(&Headline::Task(task.number)).copied().unwrap_or(self.ended_tasks && is_done)
    }

    /// What is hidden, in the order of the headlines. The lines of plays contain those of their tasks.
    fn hidden(&self, progress: &RunProgress, offset: u64) -> Vec<Hidden> {
        if *self == Self::default() {
            return Vec::new();
        }
        let mut hidden = Vec::new();
        for play in &progress.plays {
            if self.wanted.get(&Headline::Play(play.number)) == Some(&true) {
                let last = progress.tasks_of(play.number).map(|task| task.lines().1).max().unwrap_or_default();
                hidden.push((Headline::Play(play.number), play.line + 1, last));
            }
        }
        for (at, task) in progress.tasks.iter().enumerate().filter(|(_, task)| self.folds(task)) {
            // Up to the next headline, with warnings and empty lines. After a play's last task comes the recap, which stays.
            let next = progress.tasks.get(at + 1).filter(|next| next.play == task.play);
            let before_next = |next: &TaskProgress| if offset == 0 { next.line.saturating_sub(1) } else { next.line };
            let (first, last) = (task.line + offset + 1, next.map_or(task.lines().1, before_next));
            // Hosts that don't wait for each other may have failed in another task among these lines.
            let fails =
                progress.failures.iter().any(|failure| (first..=last).contains(&failure.lines.1) && !failure.ignored);
            if !fails {
                hidden.push((Headline::Task(task.number), first, last));
            }
        }
        hidden.retain(|(_, first, last)| first <= last);
        hidden
    }

    /// Unfolds whatever hides one of these lines, and keeps it unfolded.
    fn open(&mut self, lines: Selection, progress: &RunProgress, offset: u64) {
        let everything = Self { ended_tasks: true, ..self.clone() };
        for (headline, first, last) in everything.hidden(progress, offset) {
            if first <= lines.last() && lines.first() <= last {
                self.wanted.insert(headline, false);
            }
        }
        for task in
            progress.tasks.iter().filter(|task| task.line + offset < lines.last() && lines.first() <= task.lines().1)
        {
            self.wanted.insert(Headline::Task(task.number), false);
        }
    }
}

/// Folds what the user folds, also as more lines come. Shows nothing. A piece of the page.
#[component]
pub(crate) fn Folding() -> impl IntoView {
    let (run, scroll) = (expect_context::<Run>(), expect_context::<ScrollPosition>());
    let folds = RwSignal::new(Folds::default());
    Effect::new(move |_| {
        let ended = run.folds_ended.get();
        if folds.with_untracked(|folds| folds.ended_tasks != ended) {
            folds.set(Folds::all(ended));
        }
    });
    Effect::new(move |_| {
        let line = run.folded_at.get();
        let headline = run.progress.with_untracked(|progress| headline_at(progress, offset_in(run, progress), line));
        if let Some(headline) = headline {
            flip(run, scroll, folds, headline, line);
        }
    });
    let hidden = Memo::new(move |_| {
        folds.with(|folds| {
            if *folds == Folds::default() {
                return Vec::new();
            }
            run.progress.with(|progress| folds.hidden(progress, offset_in(run, progress)))
        })
    });
    Effect::new(move |_| hide(run, hidden.get()));
    // Lines that were selected must stay visible, also when their task ends.
    Effect::new(move |_| {
        let is_visible = |line| run.log.with_value(|log| !log.rows().is_hidden(line));
        if let Some(lines) = run.selection.get().filter(|lines| is_visible(lines.last())) {
            unfold(run, folds, lines);
        }
    });
    // The log has scrolled to where they would be. Unfold them first, then scroll again, before a frame shows the log in between.
    Effect::new(move |before: Option<u64>| {
        let jumps = run.jumps.get();
        if before.is_some_and(|before| before != jumps) {
            after_render(move || {
                if let Some(Some(lines)) = run.selection.try_get_untracked() {
                    unfold(run, folds, lines);
                    scroll.show_selection(run);
                }
            });
        }
        jumps
    });
}

fn offset_in(run: Run, progress: &RunProgress) -> u64 {
    run.log.with_value(|log| offset(log, progress))
}

/// Folds or unfolds below this headline, which stays where it is on screen.
fn flip(run: Run, scroll: ScrollPosition, folds: RwSignal<Folds>, headline: Headline, line: u64) {
    let is_open = run.log.with_value(|log| !log.rows().is_hidden(line + 1));
    if run.phase.get_untracked().is_final() {
        scroll.sticks_to_end.set(false);
    }
    scroll.anchor_at(run, line);
    folds.update(|folds| {
        folds.wanted.insert(headline, is_open);
    });
}

/// Unfolds these lines. They are in their places at once.
fn unfold(run: Run, folds: RwSignal<Folds>, lines: Selection) {
    let Some(before) = folds.try_get_untracked().filter(|folds| *folds != Folds::default()) else { return };
    let hidden = run.progress.with_untracked(|progress| {
        let offset = offset_in(run, progress);
        let mut now = before.clone();
        now.open(lines, progress, offset);
        let hidden = now.hidden(progress, offset);
        if before != now {
            folds.set(now);
        }
        hidden
    });
    hide(run, hidden);
}

fn hide(run: Run, hidden: Vec<Hidden>) {
    let hidden = hidden.into_iter().map(|(_, first, last)| (first, last)).collect();
    if run.log.try_update_value(|log| log.hide(hidden)) == Some(true) {
        run.lines_added.update(|n| *n += 1);
    }
}

#[cfg(test)]
mod tests {
    use api::log::{LogLine, LogPage};
    use api::progress::{Counts, PlayProgress};

    use super::*;

    /// Two plays: tasks with the headlines 3, 6 and 10 in the first one, and 15 in the second one.
    fn progress() -> RunProgress {
        let play = |number, line| PlayProgress { number, step: 0, name: String::new(), line };
        let task = |number, play, line, last_line, counts| TaskProgress {
            number,
            play,
            line,
            last_line,
            ended: Some(0),
            counts,
            ..TaskProgress::default()
        };
        let ok = Counts { ok: 1, ..Counts::default() };
        let failed = Counts { failed: 1, ..Counts::default() };
        let mut progress = RunProgress::default();
        progress.plays = vec![play(1, 1), play(2, 13)];
        progress.tasks =
            vec![task(1, 1, 3, 4, ok), task(2, 1, 6, 8, failed), task(3, 1, 10, 11, ok), task(4, 2, 15, 16, ok)];
        progress
    }

    fn ranges(folds: &Folds, progress: &RunProgress) -> Vec<(u64, u64)> {
        folds.hidden(progress, 0).into_iter().map(|(_, first, last)| (first, last)).collect()
    }

    #[test]
    fn only_ended_tasks_without_failure_fold_up_to_the_next() {
        let mut folds = Folds::all(true);
        let mut running = progress();
        (running.tasks[3].running, running.tasks[3].ended) = (1, None);
        assert_eq!(ranges(&folds, &progress()), [(4, 5), (11, 11), (16, 16)]);
        assert_eq!(ranges(&folds, &running), [(4, 5), (11, 11)]);
        folds.wanted = [(Headline::Task(1), false), (Headline::Task(2), true), (Headline::Task(4), true)].into();
        assert_eq!(ranges(&folds, &progress()), [(7, 9), (11, 11), (16, 16)], "the user wants others");
        assert_eq!(ranges(&folds, &running), [(7, 9), (11, 11), (16, 16)], "and it doesn't change when a task ends");
    }

    #[test]
    fn a_play_folds_with_all_its_tasks() {
        let folds = Folds { wanted: [(Headline::Play(1), true)].into(), ..Folds::default() };
        assert_eq!(ranges(&folds, &progress()), [(2, 11)]);
    }

    #[test]
    fn selected_lines_stay_unfolded_in_their_tasks_and_plays() {
        let mut folds = Folds { ended_tasks: true, wanted: [(Headline::Play(1), true)].into() };
        folds.open(Selection::new(3, 4), &progress(), 0);
        assert_eq!(ranges(&folds, &progress()), [(11, 11), (16, 16)]);
        let mut folds = Folds::all(true);
        let mut running = progress();
        (running.tasks[3].running, running.tasks[3].ended) = (1, None);
        folds.open(Selection::new(16, 16), &running, 0);
        assert_eq!(ranges(&folds, &progress()), [(4, 5), (11, 11)], "its task has ended since");
    }

    #[test]
    fn headlines_that_come_with_the_first_result_are_found() {
        let words = ["PLAY [a]", "", "TASK [b]", "ok: [h]", "", "TASK [c]", "ok: [h]"];
        let lines = words.iter().map(|s| LogLine { t: api::Time(0), s: (*s).to_owned() }).collect();
        let log = LogStore::of(LogPage { first: 1, lines, total: 7, end: None });
        let mut late = progress();
        late.plays.truncate(1);
        late.tasks.truncate(2);
        (late.tasks[0].line, late.tasks[0].last_line) = (1, 4);
        (late.tasks[1].line, late.tasks[1].last_line, late.tasks[1].counts) = (4, 7, late.tasks[0].counts);
        let offset = offset(&log, &late);
        let hidden = Folds::all(true).hidden(&late, offset);
        assert_eq!(hidden, [(Headline::Task(1), 4, 4), (Headline::Task(2), 7, 7)]);
        let at = |line| headline_at(&late, offset, line);
        assert_eq!(
            [at(1), at(3), at(4), at(6)],
            [Some(Headline::Play(1)), Some(Headline::Task(1)), None, Some(Headline::Task(2))]
        );
    }
}
