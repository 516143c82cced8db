//! The rules of an operation, each in one place. The console previews with them and the controller runs with them, so what a
//! person reviewed is what runs. Everything here is a function of values: nothing is read from an API or written to one.
//!
//! | question | answer |
//! |---|---|
//! | which actions there are, and what each asks for | [`ACTIONS`] |
//! | which operation of a cluster runs first | [`order`] |
//! | what an operation is called | [`title`] |
//! | what it runs, in which order | [`asked`], [`steps`] |
//! | the command of each step | [`command`] |
//! | whose playbooks an image carries | [`engine`] |
//! | when a run is stopped | [`deadline`] |
//! | how it ended, or how far it is | [`Outcome`], [`phase`] |
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
