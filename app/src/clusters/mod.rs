//! Clusters: the list, registering one, and the pages of one.

mod add_nodes;
mod configuration;
mod create;
mod current;
mod detail;
mod fix;
mod functions;
mod health;
mod key_fields;
mod list;
mod machines;
mod new;
mod remove_node;
mod replace_node;
mod settings;
mod unregister;
mod upgrade;

pub use add_nodes::AddNodesPage;
pub use configuration::ClusterConfigurationPage;
pub(crate) use configuration::functions::KeepEditing;
pub use create::CreateClusterPage;
pub use detail::{ClusterNodesPage, ClusterOperationsPage, ClusterOverviewPage, ClusterPage};
pub(crate) use fix::FixLink;
pub use list::ClusterListPage;
pub use new::NewClusterPage;
pub use remove_node::RemoveNodePage;
pub use replace_node::ReplaceNodePage;
pub use unregister::UnregisterClusterPage;
pub use upgrade::UpgradePage;
