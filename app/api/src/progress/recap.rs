//! The recaps: ansible's own statistics at the end of each playbook.

use std::collections::BTreeMap;

use super::RunProgress;
use crate::run::HostStats;

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

    /// The statistics of `host` in the newest recap of `step`; `None` before there is a recap.
    pub(super) fn recap_of(&self, step: u32, host: &str) -> Option<&HostStats> {
        self.recaps.iter().rev().filter(|(of, _)| *of == step).find_map(|(_, hosts)| hosts.get(host))
    }
}

fn add(sum: &mut HostStats, more: &HostStats) {
    sum.ok += more.ok;
    sum.changed += more.changed;
    sum.unreachable += more.unreachable;
    sum.failed += more.failed;
    sum.skipped += more.skipped;
    sum.rescued += more.rescued;
    sum.ignored += more.ignored;
}
