//! The routes, and what every page shares.

use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::{
    SsrMode,
    components::{ParentRoute, Redirect, Route, Router, Routes},
    path,
};

use crate::{
    clusters::{
        ClusterConfigurationPage, ClusterListPage, ClusterNodesPage, ClusterOperationsPage, ClusterOverviewPage,
        ClusterPage, NewClusterPage, UnregisterClusterPage,
    },
    form::Submission,
    layout::Console,
    live,
    login::SignInPage,
    not_found::NotFoundPage,
    operations::{NewOperationPage, OperationListPage},
    preferences, routes,
    run::RunPage,
    settings::SettingsPage,
    ui::clock,
};

/// The console.
///
/// Every route is rendered whole (`SsrMode::Async`): pages are complete without JavaScript, and a status found while
/// loading data still reaches the response.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    preferences::provide();
    Submission::provide();
    clock::provide();
    live::provide_live();
    view! {
        <Title formatter=escaped/>
        <Router>
            <Routes fallback=NotFoundPage>
                <Route path=path!("/login") view=SignInPage ssr=SsrMode::Async/>
                <ParentRoute path=path!("") view=Console ssr=SsrMode::Async>
                    <Route path=path!("/") view=|| view! { <Redirect path=routes::HOME/> } ssr=SsrMode::Async/>
                    <Route path=path!("/clusters") view=ClusterListPage ssr=SsrMode::Async/>
                    <Route path=path!("/clusters/new") view=NewClusterPage ssr=SsrMode::Async/>
                    <ParentRoute path=path!("/clusters/:name") view=ClusterPage ssr=SsrMode::Async>
                        <Route path=path!("") view=ClusterOverviewPage ssr=SsrMode::Async/>
                        <Route path=path!("/nodes") view=ClusterNodesPage ssr=SsrMode::Async/>
                        <Route path=path!("/operations") view=ClusterOperationsPage ssr=SsrMode::Async/>
                        <Route path=path!("/configuration") view=ClusterConfigurationPage ssr=SsrMode::Async/>
                        <Route path=path!("/unregister") view=UnregisterClusterPage ssr=SsrMode::Async/>
                    </ParentRoute>
                    <Route path=path!("/operations") view=OperationListPage ssr=SsrMode::Async/>
                    <Route path=path!("/operations/new") view=NewOperationPage ssr=SsrMode::Async/>
                    <Route path=path!("/operations/:name") view=RunPage ssr=SsrMode::Async/>
                    <Route path=path!("/settings") view=SettingsPage ssr=SsrMode::Async/>
                </ParentRoute>
            </Routes>
        </Router>
    }
}

/// Leptos 0.9.0-rc1 writes the title into the server's HTML as it is: a cluster called `</title><script>` would run.
/// In the browser the title is set as text and needs nothing.
fn escaped(title: String) -> String {
    let title = format!("{title} · kubeonkube");
    if cfg!(feature = "ssr") { title.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;") } else { title }
}
