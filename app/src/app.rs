//! The routes, and the contexts that all pages share.

use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::components::{ParentRoute, Redirect, Route, Router, Routes};
use leptos_router::{SsrMode, path};

use crate::form::Submission;
use crate::layout::Console;
use crate::not_found::NotFoundPage;
use crate::pages::Page;
use crate::ui::clock;
use crate::{live, preferences, routes};

/// The console.
///
/// Every route is `SsrMode::Async`: the server sends a page when all its data is loaded. So pages are complete without
/// JavaScript, and a status that is found while data loads still reaches the response.
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
                <Route path=path!("/login") view=Page::SignIn ssr=SsrMode::Async/>
                <ParentRoute path=path!("") view=Console ssr=SsrMode::Async>
                    <Route path=path!("/") view=|| view! { <Redirect path=routes::HOME/> } ssr=SsrMode::Async/>
                    <Route path=path!("/clusters") view=Page::Clusters ssr=SsrMode::Async/>
                    <Route path=path!("/clusters/_new") view=Page::NewCluster ssr=SsrMode::Async/>
                    <ParentRoute path=path!("/clusters/:name") view=Page::Cluster ssr=SsrMode::Async>
                        <Route path=path!("") view=Page::ClusterOverview ssr=SsrMode::Async/>
                        <Route path=path!("/nodes") view=Page::ClusterNodes ssr=SsrMode::Async/>
                        <Route path=path!("/nodes/add") view=Page::AddNodes ssr=SsrMode::Async/>
                        <Route path=path!("/nodes/remove") view=Page::RemoveNode ssr=SsrMode::Async/>
                        <Route path=path!("/nodes/replace") view=Page::ReplaceNode ssr=SsrMode::Async/>
                        <Route path=path!("/create") view=Page::CreateCluster ssr=SsrMode::Async/>
                        <Route path=path!("/operations") view=Page::ClusterOperations ssr=SsrMode::Async/>
                        <Route path=path!("/configuration") view=Page::ClusterConfiguration ssr=SsrMode::Async/>
                        <Route path=path!("/upgrade") view=Page::Upgrade ssr=SsrMode::Async/>
                        <Route path=path!("/unregister") view=Page::UnregisterCluster ssr=SsrMode::Async/>
                    </ParentRoute>
                    <Route path=path!("/operations") view=Page::Operations ssr=SsrMode::Async/>
                    <Route path=path!("/operations/_new") view=Page::NewOperation ssr=SsrMode::Async/>
                    <Route path=path!("/operations/:name") view=Page::Run ssr=SsrMode::Async/>
                    <Route path=path!("/settings") view=Page::Settings ssr=SsrMode::Async/>
                </ParentRoute>
            </Routes>
        </Router>
    }
}

/// Escapes the document's title on the server: Leptos 0.9.0-rc1 does not, so a cluster called `</title><script>` would run
/// as a script. In the browser the title is set as text and needs no escaping.
fn escaped(title: String) -> String {
    let title = format!("{title} · kubeonkube");
    if cfg!(feature = "ssr") { title.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;") } else { title }
}
