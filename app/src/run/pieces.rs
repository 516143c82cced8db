//! The sections of the page that are loaded lazily ([`crate::wasm_size`] explains pieces).

use super::head::cancel_form::CancelForm;
use super::log::find::FindTool;
use super::log::folds::Folding;
use super::log::selection_bar::SelectionBar;
use super::log::task_list::TaskList;
use super::results::hosts::HostsTab;
use super::results::inputs::InputsTab;
use super::results::matrix::MatrixTab;
use super::results::outcomes::OutcomesTab;
use super::summary::reason_alert::ReasonAlert;
use super::summary::watch_panel::WatchPanel;
use super::tab::Tab;
use crate::wasm_size::split_point::split_points;

split_points! {
    /// A piece of the page. It finds its run in context.
    pub(crate) enum RunPiece;
    Reason: run_reason_piece, load_run_reason, open_run_reason => ReasonAlert;
    Watch: run_watch_piece, load_run_watch, open_run_watch => WatchPanel;
    Cancel: run_cancel_piece, load_run_cancel, open_run_cancel => CancelForm;
    Tasks: run_tasks_piece, load_run_tasks, open_run_tasks => TaskList;
    Find: run_find_piece, load_run_find, open_run_find => FindTool;
    Folds: run_folds_piece, load_run_folds, open_run_folds => Folding;
    Selected: run_selected_piece, load_run_selected, open_run_selected => SelectionBar;
    Hosts: run_hosts_piece, load_run_hosts, open_run_hosts => HostsTab;
    Matrix: run_matrix_piece, load_run_matrix, open_run_matrix => MatrixTab;
    Outcomes: run_outcomes_piece, load_run_outcomes, open_run_outcomes => OutcomesTab;
    Inputs: run_inputs_piece, load_run_inputs, open_run_inputs => InputsTab;
}

impl RunPiece {
    /// The piece that a tab shows. The log is part of the page itself.
    pub(super) fn of(tab: Tab) -> Option<Self> {
        match tab {
            Tab::Log => None,
            Tab::Hosts => Some(Self::Hosts),
            Tab::Matrix => Some(Self::Matrix),
            Tab::Results => Some(Self::Outcomes),
            Tab::Inputs => Some(Self::Inputs),
        }
    }
}
