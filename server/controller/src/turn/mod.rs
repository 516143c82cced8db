//! Turns: which operation may run on a cluster, and what the others wait for.
//!
//! A *turn* is the exclusive right to run on one cluster. An operation has the turn while the history in the Cluster's status
//! (`status.conditions`) has an entry for it with status `Running`. The controller writes this entry before it creates the Job, with
//! the resourceVersion of the Cluster that it read, and it writes the final entry only when nothing of the operation runs any more.
//!
//! The situation that needs this: two replicas of the controller run side by side, and the stores of one are some seconds behind. It
//! still sees a cluster as idle on which the other has just started an operation, and would start the next one beside it. Two ansible
//! runs on the same machines at once can destroy a cluster. With the entry, the API server accepts only one of the two writes. The
//! other replica gets a conflict, reads the Cluster again and lets its operation wait.
//!
//! `docs/adr/0002-turns-and-children.md` has the whole reasoning.

pub(crate) mod cluster_status;
pub(crate) mod history;
pub(crate) mod queue;
pub(crate) mod take;
pub(crate) mod waiting;
