//! The recaps: ansible's own statistics at the end of each playbook.

use std::collections::{BTreeMap, BTreeSet};

use super::{Cell, Counts, RunProgress};
use crate::run::{HostStats, StepRole};

impl RunProgress {
    /// Whether the recaps are complete: no step is running, and every playbook left a recap (a killed playbook leaves none).
    #[must_use]
    pub fn is_recapped(&self) -> bool {
        let is_running = self.steps.last().is_some_and(|step| step.rc.is_none());
        let has_recap = |step| self.recaps.iter().any(|(of, _)| *of == step);
        !is_running && !self.recaps.is_empty() && self.plays.iter().all(|play| has_recap(play.step))
    }

    /// The recaps of all playbooks so far, summed by host.
    #[must_use]
    pub fn recap(&self) -> BTreeMap<String, HostStats> {
        let mut sums: BTreeMap<String, HostStats> = BTreeMap::new();
        for (host, stats) in self.recaps.iter().flat_map(|(_, hosts)| hosts) {
            add(sums.entry(host.clone()).or_default(), stats);
        }
        sums
    }

    /// The hosts on which the run must be repeated: those that failed in a playbook, and those before which one stopped.
    #[must_use]
    pub fn open_hosts(&self) -> Vec<&str> {
        self.hosts_with(HostStats::is_open, |host| has(&self.left, host) || has(&self.lost, host))
    }

    /// Whether the action must be repeated on some machines, and is done with others. Never after a failed hook: a limit is for the action,
    /// and the hook may have run on other machines.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        let is_hook = self.steps.last().is_some_and(|step| step.role != StepRole::Main);
        let open: BTreeSet<&str> = self.open_hosts().into_iter().collect();
        let is_done = |host: &String| host != "localhost" && !open.contains(host.as_str());
        !is_hook && !open.is_empty() && self.hosts.iter().any(is_done)
    }

    /// Whether a task has started on this host.
    #[must_use]
    pub fn has_started(&self, host: &str) -> bool {
        let at = self.hosts.iter().position(|known| known == host);
        at.is_some_and(|at| self.tasks.iter().any(|task| task.cells.get(at) != Cell::None))
    }

    /// The hosts before which a playbook stopped.
    #[must_use]
    pub fn left_hosts(&self) -> Vec<&str> {
        self.hosts_with(|stats| stats.left, |host| has(&self.left, host))
    }

    /// The hosts that are meant in a recap, or in a playbook that has none.
    fn hosts_with(&self, is_meant: impl Fn(&HostStats) -> bool, without: impl Fn(&String) -> bool) -> Vec<&str> {
        let has = |host: &String| self.recaps.iter().any(|(_, hosts)| hosts.get(host).is_some_and(&is_meant));
        self.hosts.iter().filter(|host| has(host) || without(host)).map(String::as_str).collect()
    }

    /// The results of the whole run, counted as ansible's recap counts them: a changed result and an ignored failure are ok, too.
    /// Before the recaps are complete, the results so far are counted.
    #[must_use]
    pub fn sums(&self) -> HostStats {
        let mut sums = HostStats::default();
        if self.is_recapped() {
            for stats in self.recaps.iter().flat_map(|(_, hosts)| hosts.values()) {
                add(&mut sums, stats);
            }
            return sums;
        }
        let Counts { ok, changed, made, would_change, skipped, ignored, rescued, failed, unreachable } = self.totals;
        let changed = changed + made;
        let ok = ok + changed + would_change + ignored;
        let none = HostStats::default();
        HostStats { ok, changed, made, would_change, skipped, ignored, failed, unreachable, rescued, ..none }
    }

    /// The statistics of `host` in the newest recap of `step`; `None` before there is a recap.
    pub(super) fn recap_of(&self, step: u32, host: &str) -> Option<&HostStats> {
        self.recaps.iter().rev().filter(|(of, _)| *of == step).find_map(|(_, hosts)| hosts.get(host))
    }
}

fn has(sorted: &[String], host: &String) -> bool {
    sorted.binary_search(host).is_ok()
}

fn add(sum: &mut HostStats, more: &HostStats) {
    sum.ok = sum.ok.saturating_add(more.ok);
    sum.changed = sum.changed.saturating_add(more.changed);
    sum.made = sum.made.saturating_add(more.made);
    sum.would_change = sum.would_change.saturating_add(more.would_change);
    sum.unreachable = sum.unreachable.saturating_add(more.unreachable);
    sum.failed = sum.failed.saturating_add(more.failed);
    sum.skipped = sum.skipped.saturating_add(more.skipped);
    sum.rescued = sum.rescued.saturating_add(more.rescued);
    sum.ignored = sum.ignored.saturating_add(more.ignored);
    sum.place = sum.place.max(more.place);
    sum.reached = sum.reached.max(more.reached);
    sum.left |= more.left;
    sum.passed_over |= more.passed_over;
    sum.out_of_reach |= more.out_of_reach;
    sum.untouched |= more.untouched;
}
