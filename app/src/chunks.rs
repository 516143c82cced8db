//! Pages whose code is a chunk of the wasm of its own: who opens one page does not load all others.
//!
//! Only a release is cut into chunks (the feature `split`, docs/adr/0009); in every other build all pages are in one file.
//! The chunks of the page that the server rendered are loaded before hydration begins, so hydration finds everything in
//! place. Later navigation loads what is missing while the old page stays on screen.

#[cfg(feature = "split")]
use wasm_split_helpers::{SplitLoaderError as Missing, wasm_split};

use std::sync::atomic::{AtomicU32, Ordering};

use futures::FutureExt;
use leptos::prelude::*;
use leptos_router::ChooseView;

use crate::{
    clusters::{
        ClusterConfigurationPage, ClusterListPage, ClusterNodesPage, ClusterOperationsPage, ClusterOverviewPage,
        ClusterPage, NewClusterPage, UnregisterClusterPage,
    },
    login::SignInPage,
    operations::{NewOperationPage, OperationListPage},
    run::{CancelForm, HostsTab, InputsTab, OutcomesTab, ReasonAlert, RunPage, TaskList},
    settings::SettingsPage,
};

/// What can't happen where the pages are one file.
#[cfg(not(feature = "split"))]
type Missing = std::convert::Infallible;

/// A bit for each page whose code was loaded. To ask the loader itself would begin a load that nobody waits for.
static HERE: AtomicU32 = AtomicU32::new(0);

/// One line a page: its name, its chunk, two functions that the splitter knows it by, and what it shows.
macro_rules! pages {
    ($($page:ident: $chunk:ident, $load:ident, $open:ident => $view:path;)*) => {
        /// A page that is loaded when it is needed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Page { $($page),* }

        impl Page {
            /// The chunk that holds it, by its name in the manifest of the site.
            #[must_use]
            pub fn chunk(self) -> &'static str {
                match self { $(Self::$page => stringify!($chunk)),* }
            }

            async fn load(self) -> Result<(), Missing> {
                match self { $(Self::$page => $load().await),* }
            }

            async fn open(self) -> Result<AnyView, Missing> {
                match self { $(Self::$page => $open().await),* }
            }
        }

        $(
            #[cfg(feature = "split")]
            #[wasm_split($chunk, fallible, preload($load))]
            fn $open() -> Result<AnyView, Missing> {
                Ok($view().into_any())
            }

            #[cfg(not(feature = "split"))]
            async fn $open() -> Result<AnyView, Missing> {
                Ok($view().into_any())
            }

            #[cfg(not(feature = "split"))]
            async fn $load() -> Result<(), Missing> {
                Ok(())
            }
        )*
    };
}

// A chunk named `cluster_…` comes together with `cluster`, within which it is shown; one that is called a piece comes alone,
// on a page that is alive without it (xtask/src/site/split.rs).
pages! {
    SignIn: sign_in, load_sign_in, open_sign_in => SignInPage;
    Clusters: clusters, load_clusters, open_clusters => ClusterListPage;
    NewCluster: register, load_register, open_register => NewClusterPage;
    Cluster: cluster, load_cluster, open_cluster => ClusterPage;
    ClusterOverview: cluster_overview, load_overview, open_overview => ClusterOverviewPage;
    ClusterNodes: cluster_nodes, load_nodes, open_nodes => ClusterNodesPage;
    ClusterOperations: cluster_operations, load_cluster_operations, open_cluster_operations => ClusterOperationsPage;
    ClusterConfiguration: cluster_configuration, load_configuration, open_configuration => ClusterConfigurationPage;
    UnregisterCluster: cluster_unregister, load_unregister, open_unregister => UnregisterClusterPage;
    Operations: operations, load_operations, open_operations => OperationListPage;
    NewOperation: submit, load_submit, open_submit => NewOperationPage;
    Run: run, load_run, open_run => RunPage;
    RunReason: run_reason_piece, load_run_reason, open_run_reason => ReasonAlert;
    RunCancel: run_cancel_piece, load_run_cancel, open_run_cancel => CancelForm;
    RunTasks: run_tasks_piece, load_run_tasks, open_run_tasks => TaskList;
    RunHosts: run_hosts_piece, load_run_hosts, open_run_hosts => HostsTab;
    RunOutcomes: run_outcomes_piece, load_run_outcomes, open_run_outcomes => OutcomesTab;
    RunInputs: run_inputs_piece, load_run_inputs, open_run_inputs => InputsTab;
    Settings: settings, load_settings, open_settings => SettingsPage;
}

impl Page {
    /// The pages that the app shows at `path`, outermost first; none for those that are always there.
    #[must_use]
    pub fn at(path: &str) -> Vec<Self> {
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        match segments.as_slice() {
            ["login"] => vec![Self::SignIn],
            ["clusters"] => vec![Self::Clusters],
            ["clusters", "new"] => vec![Self::NewCluster],
            ["clusters", _] => vec![Self::Cluster, Self::ClusterOverview],
            ["clusters", _, "nodes"] => vec![Self::Cluster, Self::ClusterNodes],
            ["clusters", _, "operations"] => vec![Self::Cluster, Self::ClusterOperations],
            ["clusters", _, "configuration"] => vec![Self::Cluster, Self::ClusterConfiguration],
            ["clusters", _, "unregister"] => vec![Self::Cluster, Self::UnregisterCluster],
            ["operations"] => vec![Self::Operations],
            ["operations", "new"] => vec![Self::NewOperation],
            ["operations", _] => vec![Self::Run],
            ["settings"] => vec![Self::Settings],
            _ => vec![],
        }
    }

    /// The page whose file a document asks for: the innermost, which brings the others along.
    #[must_use]
    pub fn early(path: &str) -> Option<Self> {
        Self::at(path).pop()
    }

    /// Loads its code.
    ///
    /// # Errors
    /// It can't be loaded; the next try begins anew.
    pub(crate) async fn fetch(self) -> Result<(), Missing> {
        self.load().await?;
        HERE.fetch_or(1 << self as u32, Ordering::Relaxed);
        Ok(())
    }

    /// Whether its code is there.
    fn is_here(self) -> bool {
        cfg!(not(feature = "split")) || HERE.load(Ordering::Relaxed) & (1 << self as u32) != 0
    }

    /// What it shows, if its code is there.
    pub(crate) fn open_now(self) -> Option<AnyView> {
        self.is_here().then(|| self.open().now_or_never())??.ok()
    }
}

/// As a route's view. The router calls `preload` while the old page stays on screen, then `choose`.
impl ChooseView for Page {
    async fn choose(self) -> AnyView {
        match self.open().await {
            Ok(view) => view,
            Err(missing) => leave(missing).await,
        }
    }

    async fn preload(&self) {
        if let Err(missing) = self.fetch().await {
            leave::<()>(missing).await;
        }
    }
}

/// A chunk that can't be loaded is most likely one of an older server: the whole page is loaded from the new one, which names
/// its own chunks. Never returns: until the browser has that page, the old one stays.
async fn leave<T>(_: Missing) -> T {
    #[cfg(feature = "hydrate")]
    {
        let to = leptos_router::hooks::use_url()
            .with_untracked(|url| format!("{}{}", crate::routes::here(url.path(), url.search()), url.hash()));
        let _ = window().location().assign(&to);
    }
    std::future::pending().await
}

/// Makes the page that the server rendered live. Where its chunk can't be loaded it stays as it is: it works like a page
/// without JavaScript, and says so.
#[cfg(feature = "hydrate")]
pub async fn hydrate() {
    let path = window().location().pathname().unwrap_or_default();
    // The innermost brings the others along.
    for page in Page::at(&path).into_iter().rev() {
        if page.fetch().await.is_err() {
            return not_live();
        }
    }
    leptos::mount::hydrate_body(crate::App);
}

#[cfg(feature = "hydrate")]
fn not_live() {
    let notice = document().create_element("p").ok();
    let place = document().query_selector("main").ok().flatten();
    if let (Some(notice), Some(place)) = (notice, place) {
        notice.set_class_name("alert warn");
        let _ = notice.set_attribute("role", "alert");
        notice.set_text_content(Some(
            "A part of this page can't be loaded, so it doesn't follow what happens. Everything on it works; reload it to try again.",
        ));
        let _ = place.prepend_with_node_1(&notice);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_names_the_chunks_of_all_its_parts() {
        let chunks = |path| Page::at(path).into_iter().map(Page::chunk).collect::<Vec<_>>();
        assert_eq!(chunks("/clusters/prod/configuration"), ["cluster", "cluster_configuration"]);
        assert_eq!(chunks("/clusters/new"), ["register"]);
        assert_eq!(chunks("/operations/new/"), ["submit"]);
        assert_eq!(chunks("/operations/grow"), ["run"]);
        assert_eq!(Page::early("/clusters/prod/nodes"), Some(Page::ClusterNodes));
        assert_eq!(Page::early("/operations/grow"), Some(Page::Run));
        assert!(chunks("/nowhere").is_empty());
    }
}
