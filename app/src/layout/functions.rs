//! Loads the data of the frame around the pages.

use api::cluster::ClusterTotals;
use api::operation::OperationRow;
use leptos::prelude::*;
use leptos::server;
use serde::{Deserialize, Serialize};

use crate::Failure;

/// The frame's data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Frame {
    pub(crate) user: String,
    /// Where this console runs.
    pub(crate) mode: String,
    pub(crate) totals: ClusterTotals,
    /// The newest running operations, at most five.
    pub(crate) running: Vec<OperationRow>,
    /// What concerns every page, such as a full disk.
    pub(crate) notice: Option<String>,
}

/// The signed-in user, the totals, and the running operations.
#[server(prefix = "/api", endpoint = "load_frame", input = server_fn::codec::GetUrl, output = crate::json::Json)]
pub(crate) async fn load_frame() -> Result<Frame, Failure> {
    use api::cluster::ClusterFilter;
    use api::input::Input;
    use api::operation::{OperationFilter, Phase};
    let (user, backend) = crate::session::signed_in()?;
    let clusters = backend.clusters.list(&user, &ClusterFilter::default()).await?;
    let running = OperationFilter { phase: Input::Valid(Some(Phase::Running)), ..Default::default() };
    let mut running = backend.operations.list(&user, &running).await?.rows;
    running.truncate(5);
    let (mode, notice) = (backend.about.mode.clone(), (backend.notice)());
    Ok(Frame { user: user.name, mode, totals: clusters.totals, running, notice })
}
