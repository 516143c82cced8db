//! Operations: the list, its table (also shown on a cluster's page), and the form that submits an operation.

mod first_run;
mod functions;
mod list;
mod query;
mod row;
mod submit;
mod table;

pub use first_run::FirstRun;
pub use list::OperationListPage;
pub use submit::NewOperationPage;
pub(crate) use submit::{Commands, notes, reviewed};
pub use table::OperationsTable;
