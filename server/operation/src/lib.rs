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
//! | what ansible reads from extra arguments | [`Options`] |
//! | which Kubernetes versions an engine installs | [`versions`] |
//! | which engine's playbooks an image contains, and whether they fit the cluster | [`engine`], [`other_engine`] |
//! | how long a run may take | [`deadline`] |
//! | whether it may be stopped now | [`stop_advice`] |
//! | how it ended, what proves that, or its phase | [`Outcome`], [`Proof`], [`phase`] |
//! | whether it leaves a secret result | [`has_secret_result`] |
//! | whether it ends the cluster, or can be repeated on some machines | [`resets_cluster`], [`repeats_as_a_whole`] |
//! | what restores the snapshot that it saves | [`restored_by`] |
//! | who wrote an outcome or a submitter | [`Signer`] |
//! | what its pod reported at the end | [`terminated`], [`Termination`] |

mod actions;
mod arguments;
mod command;
mod deadline;
mod engine;
mod options;
mod outcome;
mod playbook;
mod queue;
mod signature;
mod steps;
mod stopping;
mod termination;
mod title;
pub mod versions;
mod whole_cluster;

pub use actions::{
    ACTIONS, ADD_NODES, Action, BACK_UP, CHECK_MACHINES, CREATE, FACTS, JOIN, PING, Parameter, PlayHosts, RECOVER,
    REMOVE_NODES, RESET, RESTORE, UPGRADE, Value, WITHOUT_MACHINE, action, has_secret_result, joins,
};
pub use arguments::{join, split};
pub use command::{Given, command, holds_variables};
pub use deadline::deadline;
pub use engine::{engine, needs_own_engine, other_engine};
pub use options::{ExtraVars, Options, option_inside};
pub use outcome::{Outcome, Proof, has_ended, has_ended_label, is_marked, is_record, phase};
pub use playbook::{is_playbook_file, is_playbook_path};
pub use queue::order;
pub use signature::{Signer, Signing, spec_digest};
pub use steps::{Asked, RunSteps, Step, StepError, asked, steps};
pub use stopping::{PlayStop, stop_advice};
pub use termination::{Hosts, TerminatedFailure, TerminatedStep, Termination, UnmatchedPlay, terminated, termination};
pub use title::{cut, is_script, title};
pub use whole_cluster::{repeats_as_a_whole, resets_cluster, restored_by};
