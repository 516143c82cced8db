//! Builds the progress of a run (its tree of steps, plays, tasks and hosts) from the run's events, one at a time.

use super::{Cell, Failure, PlayProgress, RunProgress, StepProgress, TaskProgress};
use crate::run::{EventBody, RunEvent};

impl RunProgress {
    /// Marks the run as ended, so nothing in it runs any more. Needed if its process was killed and sent no last event.
    pub fn end(&mut self) {
        let last = self.tasks.iter().map(|task| task.heard).max().unwrap_or_default();
        self.stop_what_runs(last);
    }

    /// Adds one event. An event that was already added (before a reconnect, or by the server) changes nothing.
    pub fn apply(&mut self, event: &RunEvent) {
        if event.n <= self.last_event {
            return;
        }
        self.last_event = event.n;
        self.take(event);
        self.line = self.line.max(event.after);
    }

    fn take(&mut self, event: &RunEvent) {
        let (at, line) = (event.at, event.after.max(1));
        match &event.body {
            EventBody::StepStart { step, role, title } => {
                let title = title.clone();
                // Its first line is still to come.
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
                self.stop_what_runs(at);
                if let Some(step) = self.steps.iter_mut().rev().find(|s| s.number == *step) {
                    step.rc = Some(*rc);
                    step.ended = Some(at);
                }
            }
            EventBody::PlayStart { play, name } => {
                self.end_what_is_done();
                self.plays.push(PlayProgress { number: *play, step: self.step(), name: name.clone(), line });
            }
            EventBody::TaskStart { task, play, name, action, handler } => {
                self.end_what_is_done();
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
            EventBody::HostStart { task, host } => self.fill(*task, host, Cell::Running, at),
            EventBody::HostResult { task, item: Some(_), .. } => {
                if let Some(task) = self.task_mut(*task) {
                    task.items += 1;
                    task.heard = task.heard.max(at);
                }
            }
            EventBody::HostResult { task, host, result, message, ignored, .. } => {
                let cell = Cell::of(*result, *ignored);
                self.fill(*task, host, cell, at);
                if matches!(cell, Cell::Failed | Cell::Unreachable | Cell::Ignored)
                    && self.failures.len() < Failure::KEPT
                {
                    self.failures.push(Failure {
                        task: *task,
                        host: host.clone(),
                        message: message.clone().unwrap_or_default(),
                        unreachable: *result == crate::run::HostResult::Unreachable,
                        ignored: *ignored,
                        lines: ((self.line + 1).min(line), line),
                        step: self.step(),
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
                self.end_what_is_done();
                for host in hosts.keys() {
                    self.position(host);
                }
                self.recaps.push((self.step(), hosts.clone()));
            }
            EventBody::Outcome { key, value } => match self.outcomes.iter_mut().find(|(k, _)| k == key) {
                Some((_, known)) => *known = value.clone(),
                None => self.outcomes.push((key.clone(), value.clone())),
            },
        }
    }

    fn step(&self) -> u32 {
        self.steps.last().map_or(0, |step| step.number)
    }

    /// Numbers rise; a task that is announced late still finds its place.
    fn task_started(&mut self, task: TaskProgress) {
        if let Err(at) = self.tasks.binary_search_by_key(&task.number, |t| t.number) {
            self.tasks.insert(at, task);
        }
    }

    fn task_mut(&mut self, number: u32) -> Option<&mut TaskProgress> {
        let at = self.tasks.binary_search_by_key(&number, |task| task.number).ok()?;
        self.tasks.get_mut(at)
    }

    fn position(&mut self, host: &str) -> usize {
        let positions = &mut self.positions.0;
        if positions.len() != self.hosts.len() {
            *positions = self.hosts.iter().enumerate().map(|(at, host)| (host.clone(), at)).collect();
        }
        if let Some(at) = positions.get(host) {
            return *at;
        }
        let at = self.hosts.len();
        positions.insert(host.to_owned(), at);
        self.hosts.push(host.to_owned());
        at
    }

    /// Puts a cell and keeps all counts in step with the cells.
    fn fill(&mut self, task: u32, host: &str, cell: Cell, at: i64) {
        let host = self.position(host);
        let Ok(index) = self.tasks.binary_search_by_key(&task, |t| t.number) else { return };
        let task = &mut self.tasks[index];
        let before = task.cells.set(host, cell);
        task.heard = task.heard.max(at);
        // The host came back to the task (a `free` strategy announces it per host): it is not at its end.
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

    /// Something else starts: tasks that run on no host have ended, at the time of their last result.
    fn end_what_is_done(&mut self) {
        for task in self.tasks.iter_mut().filter(|task| task.ended.is_none() && task.running == 0) {
            task.ended = Some(task.heard);
        }
    }

    /// The process is gone: running tasks were stopped.
    fn stop_what_runs(&mut self, at: i64) {
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
