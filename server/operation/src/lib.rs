//! The rules of an operation. The console uses them for the review and the controller for the run, so the reviewed commands are
//! those that run. All functions are pure: they neither read from an API nor write to one.
//!
//! | question | answer |
//! |---|---|
//! | which actions exist, and which fields each has | [`ACTIONS`] |
//! | which operation of a cluster runs first | [`order`] |
//! | what an operation is called | [`title`] |
//! | what it runs, in which order | [`asked`], [`steps`] |
//! | the command of each step | [`command`] |
//! | which engine's playbooks an image contains | [`engine`] |
//! | how long a run may take | [`deadline`] |
//! | how it ended, or its phase | [`Outcome`], [`phase`] |
//! | what its pod reported at the end | [`terminated`], [`termination`] |

mod actions;
mod arguments;
mod command;
mod deadline;
mod engine;
mod outcome;
mod playbook;
mod queue;
mod steps;
mod termination;
mod title;

pub use actions::{ACTIONS, Action, Parameter, Value, action};
pub use arguments::{join, split};
pub use command::{Given, command, holds_variables};
pub use deadline::deadline;
pub use engine::engine;
pub use outcome::{Outcome, is_completed, is_over, phase};
pub use playbook::{is_playbook_file, is_playbook_path};
pub use queue::order;
pub use steps::{Asked, Run, Step, StepError, asked, steps};
pub use termination::{terminated, termination};
pub use title::{cut, is_script, title};
