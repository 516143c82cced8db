//! The pages. In a release, each has its own chunk ([`crate::wasm_size`]).

use leptos::prelude::*;
use leptos_router::ChooseView;

use crate::clusters::{
    AddNodesPage, ClusterConfigurationPage, ClusterListPage, ClusterNodesPage, ClusterOperationsPage,
    ClusterOverviewPage, ClusterPage, CreateClusterPage, NewClusterPage, RemoveNodePage, ReplaceNodePage,
    UnregisterClusterPage, UpgradePage,
};
use crate::login::SignInPage;
use crate::operations::{NewOperationPage, OperationListPage};
use crate::run::RunPage;
use crate::settings::SettingsPage;
use crate::wasm_size::split_point::{LoadError, SplitPoint, split_points};

split_points! {
    /// A page that is loaded when it is needed.
    pub enum Page;
    SignIn: sign_in, load_sign_in, open_sign_in => SignInPage;
    Clusters: clusters, load_clusters, open_clusters => ClusterListPage;
    NewCluster: register, load_register, open_register => NewClusterPage;
    Cluster: cluster, load_cluster, open_cluster => ClusterPage;
    ClusterOverview: cluster_overview, load_overview, open_overview => ClusterOverviewPage;
    ClusterNodes: cluster_nodes, load_nodes, open_nodes => ClusterNodesPage;
    AddNodes: cluster_add_nodes, load_add_nodes, open_add_nodes => AddNodesPage;
    RemoveNode: cluster_remove_node, load_remove_node, open_remove_node => RemoveNodePage;
    ReplaceNode: cluster_replace_node, load_replace_node, open_replace_node => ReplaceNodePage;
    CreateCluster: cluster_create, load_create, open_create => CreateClusterPage;
    ClusterOperations: cluster_operations, load_cluster_operations, open_cluster_operations => ClusterOperationsPage;
    ClusterConfiguration: cluster_configuration, load_configuration, open_configuration => ClusterConfigurationPage;
    Upgrade: cluster_upgrade, load_upgrade, open_upgrade => UpgradePage;
    UnregisterCluster: cluster_unregister, load_unregister, open_unregister => UnregisterClusterPage;
    Operations: operations, load_operations, open_operations => OperationListPage;
    NewOperation: submit, load_submit, open_submit => NewOperationPage;
    Run: run, load_run, open_run => RunPage;
    Settings: settings, load_settings, open_settings => SettingsPage;
}

impl Page {
    /// The pages that the app shows at `path`, outermost first. Empty for a redirect and for an unknown path.
    #[must_use]
    pub fn at(path: &str) -> Vec<Self> {
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        match segments.as_slice() {
            ["login"] => vec![Self::SignIn],
            ["clusters"] => vec![Self::Clusters],
            ["clusters", "_new"] => vec![Self::NewCluster],
            ["clusters", _] => vec![Self::Cluster, Self::ClusterOverview],
            ["clusters", _, "nodes"] => vec![Self::Cluster, Self::ClusterNodes],
            ["clusters", _, "nodes", "add"] => vec![Self::Cluster, Self::AddNodes],
            ["clusters", _, "nodes", "remove"] => vec![Self::Cluster, Self::RemoveNode],
            ["clusters", _, "nodes", "replace"] => vec![Self::Cluster, Self::ReplaceNode],
            ["clusters", _, "create"] => vec![Self::Cluster, Self::CreateCluster],
            ["clusters", _, "operations"] => vec![Self::Cluster, Self::ClusterOperations],
            ["clusters", _, "configuration"] => vec![Self::Cluster, Self::ClusterConfiguration],
            ["clusters", _, "upgrade"] => vec![Self::Cluster, Self::Upgrade],
            ["clusters", _, "unregister"] => vec![Self::Cluster, Self::UnregisterCluster],
            ["operations"] => vec![Self::Operations],
            ["operations", "_new"] => vec![Self::NewOperation],
            ["operations", _] => vec![Self::Run],
            ["settings"] => vec![Self::Settings],
            _ => vec![],
        }
    }

    /// The page whose file the document requests early: the innermost one. Its file contains what the pages around it need.
    #[must_use]
    pub fn early(path: &str) -> Option<Self> {
        Self::at(path).pop()
    }
}

/// A page is the view of a route. The router calls `preload` while the old page stays on screen, then `choose`.
impl ChooseView for Page {
    async fn choose(self) -> AnyView {
        match self.open().await {
            Ok(view) => view,
            Err(error) => load_from_server(error).await,
        }
    }

    async fn preload(&self) {
        if let Err(error) = self.fetch().await {
            load_from_server::<()>(error).await;
        }
    }
}

/// Makes the browser load the whole page from the server. A chunk that can't be loaded most likely belongs to an older
/// version of the server, and the new server's document names its own chunks.
///
/// Never returns: the old page stays on screen until the browser has the new document.
async fn load_from_server<T>(_: LoadError) -> T {
    #[cfg(feature = "hydrate")]
    {
        let to = leptos_router::hooks::use_url()
            .with_untracked(|url| format!("{}{}", crate::routes::here(url.path(), url.search()), url.hash()));
        let _ = window().location().assign(&to);
    }
    std::future::pending().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_page_is_loaded_before_hydration() {
        let _ = any_spawner::Executor::init_tokio();
        for route in leptos_axum::generate_route_list(crate::App) {
            let path = route.path().replace("{name}", "x");
            assert_eq!(Page::at(&path).is_empty(), path == "/", "`Page::at` does not know {path}");
        }
    }

    #[test]
    fn a_path_names_the_chunks_of_its_page_and_the_page_around_it() {
        let chunks = |path| Page::at(path).into_iter().map(Page::chunk).collect::<Vec<_>>();
        assert_eq!(chunks("/clusters/prod/configuration"), ["cluster", "cluster_configuration"]);
        assert_eq!(chunks("/clusters/_new"), ["register"]);
        assert_eq!(chunks("/operations/_new/"), ["submit"]);
        assert_eq!(chunks("/clusters/new"), ["cluster", "cluster_overview"], "a cluster may be called `new`");
        assert_eq!(chunks("/operations/new"), ["run"]);
        assert_eq!(chunks("/operations/grow"), ["run"]);
        assert_eq!(Page::early("/clusters/prod/nodes"), Some(Page::ClusterNodes));
        assert_eq!(Page::early("/operations/grow"), Some(Page::Run));
        assert!(chunks("/nowhere").is_empty());
    }
}
