//! The sections of the page that are loaded lazily ([`crate::wasm_size`] explains pieces).

use super::head::cancel_form::CancelForm;
use super::log::task_list::TaskList;
use super::results::hosts::HostsTab;
use super::results::inputs::InputsTab;
use super::results::outcomes::OutcomesTab;
use super::summary::reason::ReasonAlert;
use super::tab::Tab;
use crate::wasm_size::split_point::split_points;

split_points! {
    /// A piece of the page. It finds its run in context.
    pub(crate) enum RunPiece;
    Reason: run_reason_piece, load_run_reason, open_run_reason => ReasonAlert;
    Cancel: run_cancel_piece, load_run_cancel, open_run_cancel => CancelForm;
    Tasks: run_tasks_piece, load_run_tasks, open_run_tasks => TaskList;
    Hosts: run_hosts_piece, load_run_hosts, open_run_hosts => HostsTab;
    Outcomes: run_outcomes_piece, load_run_outcomes, open_run_outcomes => OutcomesTab;
    Inputs: run_inputs_piece, load_run_inputs, open_run_inputs => InputsTab;
}

impl RunPiece {
    /// The piece that a tab shows. The log is part of the page itself.
    pub(super) fn of(tab: Tab) -> Option<Self> {
        match tab {
            Tab::Log => None,
            Tab::Hosts => Some(Self::Hosts),
            Tab::Results => Some(Self::Outcomes),
            Tab::Inputs => Some(Self::Inputs),
        }
    }
}
