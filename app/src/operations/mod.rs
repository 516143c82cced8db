//! Operations: the list, its table (which a cluster's page shows, too), and the form that submits one.

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
pub use table::OperationsTable;
