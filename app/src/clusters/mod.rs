//! Clusters: the list, registering one, and the pages of one.

mod configuration;
mod current;
mod detail;
mod functions;
mod health;
mod list;
mod new;
mod unregister;

pub use configuration::ClusterConfigurationPage;
pub use detail::{ClusterNodesPage, ClusterOperationsPage, ClusterOverviewPage, ClusterPage};
pub use list::ClusterListPage;
pub use new::NewClusterPage;
pub use unregister::UnregisterClusterPage;
