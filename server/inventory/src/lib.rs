//! Ansible inventories and variables: read with limits, checked, written and compared. Pure: no files, no network.
//!
//! | to | use |
//! |---|---|
//! | read `hosts.yml` | [`parse`] → [`Inventory`] |
//! | read `group_vars.yml` | [`parse_vars`] → [`Vars`] |
//! | warn about what will make ansible or kubespray fail | [`advice`] |
//! | turn a form or pasted lines into machines | [`machines_from_rows`], [`machines_from_lines`] → [`Machine`] |
//! | write an inventory from machines | [`write`] |
//! | show what a change does | [`diff`] |

mod advice;
pub mod diff;
mod document;
mod group_order;
mod invalid;
mod inventory;
pub mod limits;
mod machine;
mod names;
mod parse;
mod pasted;
mod range;
mod reached;
mod rows;
mod vars;
mod write;

pub use advice::advice;
pub use invalid::{Invalid, Kind};
pub use inventory::{Group, Host, Inventory, Role};
pub use machine::{Machine, give_roles, machines};
pub use parse::parse;
pub use pasted::{LineProblem, machines_from_lines};
pub use reached::Reached;
pub use rows::{RowProblem, machines_from_rows};
pub use vars::{Vars, parse_vars};
pub use write::write;
