//! Builds the progress of a run (its tree of steps, plays, tasks and hosts) from the run's events, one at a time.

use super::cells::MAX_HOSTS;
use super::{Cell, Failure, PlayProgress, RunProgress, StepProgress, TaskProgress};
use crate::run::{EventBody, RunEvent};

impl RunProgress {
    /// Marks running tasks as stopped, because the run has ended. A killed process sends no event that does so.
    pub fn end(&mut self) {
        let last = self.tasks.iter().map(|task| task.heard).max().unwrap_or_default();
        self.stop_running_tasks(last);
    }

    /// Adds one event. An event that was already added (before a reconnect, or by the server) changes nothing.
    pub fn apply(&mut self, event: &RunEvent) {
        if event.n <= self.last_event {
            return;
        }
        self.last_event = event.n;
        self.fold(event);
        self.line = self.line.max(event.after);
    }

    fn fold(&mut self, event: &RunEvent) {
        let (at, line) = (event.at, event.after.max(1));
        match &event.body {
            EventBody::StepStart { step, role, title } => {
                let title = title.clone();
                // The step's first line is the next one.
                let line = event.after + 1;
                self.steps.push(StepProgress {
                    number: *step,
                    role: *role,
                    title,
                    rc: None,
                    started: at,
                    ended: None,
                    line,
                });
            }
            EventBody::StepEnd { step, rc } => {
                self.stop_running_tasks(at);
                if let Some(step) = self.steps.iter_mut().rev().find(|s| s.number == *step) {
                    step.rc = Some(*rc);
                    step.ended = Some(at);
                }
            }
            EventBody::PlayStart { play, name } => {
                self.end_idle_tasks();
                self.plays.push(PlayProgress { number: *play, step: self.current_step(), name: name.clone(), line });
            }
            EventBody::TaskStart { task, play, name, action, handler } => {
                self.end_idle_tasks();
                self.task_started(TaskProgress {
                    number: *task,
                    play: *play,
                    name: name.clone(),
                    action: action.clone(),
                    handler: *handler,
                    line,
                    started: at,
                    heard: at,
                    ..TaskProgress::default()
                });
            }
            EventBody::HostStart { task, host } => self.set_cell(*task, host, Cell::Running, at),
            EventBody::HostResult { task, item: Some(_), .. } => {
                if let Some(task) = self.task_mut(*task) {
                    task.items += 1;
                    task.heard = task.heard.max(at);
                    task.last_line = line;
                }
            }
            EventBody::HostResult { task, host, result, message, ignored, .. } => {
                let cell = Cell::of(*result, *ignored);
                self.set_cell(*task, host, cell, at);
                if let Some(task) = self.task_mut(*task) {
                    task.last_line = line;
                }
                if matches!(cell, Cell::Failed | Cell::Unreachable | Cell::Ignored | Cell::Rescued)
                    && self.failures.len() < Failure::KEPT
                {
                    self.failures.push(Failure {
                        task: *task,
                        host: host.clone(),
                        message: message.clone().unwrap_or_default(),
                        unreachable: *result == crate::run::HostResult::Unreachable,
                        ignored: matches!(cell, Cell::Ignored | Cell::Rescued),
                        lines: ((self.line + 1).min(line), line),
                        step: self.current_step(),
                    });
                }
            }
            EventBody::Retry { task, .. } => {
                self.retries += 1;
                if let Some(task) = self.task_mut(*task) {
                    task.retries += 1;
                    task.heard = task.heard.max(at);
                }
            }
            EventBody::Stats { hosts } => {
                self.end_idle_tasks();
                let mut in_order: Vec<_> = hosts.iter().map(|(host, stats)| (stats.place, host)).collect();
                in_order.sort_unstable();
                for (_, host) in in_order {
                    self.position(host);
                }
                self.recaps.push((self.current_step(), hosts.clone()));
            }
            EventBody::GivenUp { left, failed } => {
                for host in left.iter().chain(failed) {
                    self.position(host);
                }
                for (known, hosts) in [(&mut self.left, left), (&mut self.lost, failed)] {
                    known.extend(hosts.iter().cloned());
                    known.sort_unstable();
                }
            }
            EventBody::Outcome { key, value } => match self.outcomes.iter_mut().find(|(k, _)| k == key) {
                Some((_, known)) => *known = value.clone(),
                None => self.outcomes.push((key.clone(), value.clone())),
            },
        }
    }

    fn current_step(&self) -> u32 {
        self.steps.last().map_or(0, |step| step.number)
    }

    /// Inserts a task by its number, because a task may be announced late. A task that is already known is kept.
    fn task_started(&mut self, task: TaskProgress) {
        if let Err(at) = self.tasks.binary_search_by_key(&task.number, |t| t.number) {
            self.tasks.insert(at, task);
        }
    }

    fn task_mut(&mut self, number: u32) -> Option<&mut TaskProgress> {
        let at = self.tasks.binary_search_by_key(&number, |task| task.number).ok()?;
        self.tasks.get_mut(at)
    }

    /// The position of a host; `None` if there are more hosts than any run has, because the progress could not be sent to a page.
    fn position(&mut self, host: &str) -> Option<usize> {
        let positions = &mut self.positions.0;
        if positions.len() != self.hosts.len() {
            *positions = self.hosts.iter().enumerate().map(|(at, host)| (host.clone(), at)).collect();
        }
        if let Some(at) = positions.get(host) {
            return Some(*at);
        }
        let at = self.hosts.len();
        if at >= MAX_HOSTS {
            return None;
        }
        positions.insert(host.to_owned(), at);
        self.hosts.push(host.to_owned());
        Some(at)
    }

    /// Sets a cell, and updates the counts of the task and of the run accordingly.
    fn set_cell(&mut self, task: u32, host: &str, cell: Cell, at: i64) {
        let Some(host) = self.position(host) else { return };
        let Ok(index) = self.tasks.binary_search_by_key(&task, |t| t.number) else { return };
        let task = &mut self.tasks[index];
        let before = task.cells.set(host, cell);
        task.heard = task.heard.max(at);
        // With the `free` strategy a host may start a task after it seemed to have ended on all hosts.
        task.ended = None;
        if before == Cell::Running {
            task.running -= 1;
        }
        if cell == Cell::Running {
            task.running += 1;
        }
        for counts in [&mut task.counts, &mut self.totals] {
            if let Some(count) = counts.slot(before) {
                *count = count.saturating_sub(1);
            }
            if let Some(count) = counts.slot(cell) {
                *count += 1;
            }
        }
    }

    /// Ends tasks that run on no host, at the time of their last result. Called when something else starts.
    fn end_idle_tasks(&mut self) {
        for task in self.tasks.iter_mut().filter(|task| task.ended.is_none() && task.running == 0) {
            task.ended = Some(task.heard);
        }
    }

    /// Marks running tasks as stopped, because their process has ended.
    fn stop_running_tasks(&mut self, at: i64) {
        for task in self.tasks.iter_mut().filter(|task| task.ended.is_none()) {
            let running: Vec<usize> = task.cells.at(Cell::Running).collect();
            task.ended = Some(if running.is_empty() { task.heard } else { at });
            task.running = 0;
            for host in running {
                task.cells.set(host, Cell::Stopped);
            }
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
