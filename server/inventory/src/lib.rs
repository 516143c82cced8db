//! Ansible inventories and variables: read with limits, checked, written and compared. Pure: no files, no network.
//!
//! | to | use |
//! |---|---|
//! | read `hosts.yml` | [`parse`] → [`Inventory`] |
//! | read `group_vars.yml` | [`parse_vars`] → [`Vars`] |
//! | warn about what will make ansible or kubespray fail | [`advice`] |
//! | warn about variables that ansible never reads | [`advice_on_vars`], [`advice_on_variable`] |
//! | warn about files that a run doesn't have | [`missing_file_of_option`] |
//! | turn a form or pasted lines into machines | [`machines_from_rows`], [`machines_from_lines`] → [`Machine`] |
//! | see what our playbooks will create, and why they would refuse to | [`kubernetes`] |
//! | write an inventory from machines | [`write`] |
//! | add and remove hosts in a text | [`add_machines`], [`remove_hosts`] |
//! | set variables in a text | [`set_variable`], [`set_variables`] |
//! | show what a change does | [`diff`] |

mod advice;
pub mod diff;
mod document;
mod edit;
mod files;
mod group_like;
mod group_order;
mod ini;
mod invalid;
mod inventory;
mod jump;
pub mod kubernetes;
pub mod limits;
mod lookalike;
mod looked_up;
mod machine;
mod names;
mod parse;
mod pasted;
mod range;
mod reached;
mod rows;
mod unread;
mod variable_warnings;
mod vars;
mod write;

pub use advice::{AdviceFor, advice, advice_for};
pub use document::Reading;
pub use edit::{add_machines, remove_hosts, set_variable, set_variables};
pub use files::missing_file_of_option;
pub use invalid::{Invalid, Kind};
pub use inventory::{Group, Host, Inventory, Role};
pub use lookalike::{Lookalike, Looks};
pub use machine::{Machine, give_roles, machines};
pub use parse::parse;
pub use pasted::{LineProblem, machines_from_lines};
pub use reached::{Reached, SshPlace};
pub use rows::{RowProblem, machines_from_rows};
pub use unread::name_is_unread;
pub use variable_warnings::advice_on_variable;
pub use vars::{Vars, advice_on_vars, parse_vars};
pub use write::write;
