//! Implements the traits of `api::backend` with a Kubernetes API, except the one for logs.
//!
//! Lists and topics come from the stores that the controller fills. In a cluster, every write, and every read of ConfigMaps and
//! Secrets, uses the user's own token.
//!
//! # How a request of a page is answered
//!
//! 1. The binary calls a trait of `api::backend` on [`Console`], on behalf of a signed-in user. `clusters`, `nodes`, `operations`,
//!    `configuration` and `upgrades` implement these traits.
//! 2. `access` checks whether the user may see what the stores hold, and gives the client for the user's own requests.
//! 3. Rows, lists and details are computed by pure functions. Inputs are read from the API each time, because a store may be
//!    behind.
//! 4. A write is made with that client. An edited document is written with a precondition, so it never overwrites a change that
//!    the user hasn't seen. `kube_problem` turns errors of the API into texts for the user.
//! 5. The binary reports each change of the stores ([`Console::changed`]). `changes` tells the open pages which topics changed,
//!    and they fetch them again.

mod access;
mod changes;
mod clusters;
mod configuration;
mod console;
mod creation;
mod documents;
mod host_keys;
mod kube_problem;
mod listed;
mod login;
mod made;
mod moment;
mod nodes;
mod operations;
mod other_clusters;
mod page;
mod ssh;
mod ssh_key;
mod upgrades;
mod watch;

pub use access::{UserClients, user_clients};
pub use changes::Change;
pub use clusters::UNFINISHED;
pub use console::{Console, Options, Playbooks, start};
