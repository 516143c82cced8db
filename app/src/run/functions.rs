//! The server functions of the run page.

use api::log::LogPage;
use api::operation::OperationDetail;
use api::progress::RunProgress;
use leptos::prelude::*;
use leptos::server;
use serde::{Deserialize, Serialize};

use crate::Failure;

/// The number of log lines that the server renders.
pub(super) const LINES_IN_PAGE: u32 = 200;

/// The data of the page. Progress is sent in place of events, which are tens of megabytes for a large run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunOpening {
    pub detail: OperationDetail,
    pub progress: RunProgress,
    pub log: LogPage,
    /// Why there is no log (yet).
    pub note: Option<String>,
}

/// A run, with 200 lines from `from` (0: the last 200).
#[server(prefix = "/api", endpoint = "load_run", input = server_fn::codec::GetUrl, output = crate::json::Json)]
pub async fn load_run(name: String, #[server(default)] from: u64) -> Result<RunOpening, Failure> {
    let (user, backend) = crate::session::signed_in()?;
    let name = parse(&name)?;
    let detail = backend.operations.get(&user, &name).await?;
    let record = backend.runs.record(&user, &name, from, LINES_IN_PAGE).await?;
    let progress = RunProgress::from_events(&record.events);
    Ok(RunOpening { detail, progress, log: record.log, note: record.note })
}

/// The detail of a run, loaded again when it has changed.
#[server(prefix = "/api", endpoint = "load_operation", input = server_fn::codec::GetUrl, output = crate::json::Json)]
pub async fn load_operation(name: String) -> Result<OperationDetail, Failure> {
    let (user, backend) = crate::session::signed_in()?;
    Ok(backend.operations.get(&user, &parse(&name)?).await?)
}

/// Lines of a log that are about to scroll into view, at most 10,000.
#[server(prefix = "/api", endpoint = "load_lines", input = server_fn::codec::GetUrl, output = crate::json::Json)]
pub async fn load_lines(name: String, from: u64, count: u32) -> Result<LogPage, Failure> {
    let (user, backend) = crate::session::signed_in()?;
    Ok(backend.runs.page(&user, &parse(&name)?, from, count.min(10_000)).await?)
}

/// Cancels a run, or removes it from the queue.
#[server(prefix = "/api", endpoint = "cancel_operation", output = crate::json::Json)]
pub async fn cancel_operation(name: String) -> Result<(), Failure> {
    let (user, backend) = crate::session::signed_in()?;
    let name = parse(&name)?;
    backend.operations.cancel(&user, &name).await?;
    crate::redirect::to(&crate::routes::operation(&name));
    Ok(())
}

/// Parses a name. No operation can have an invalid name, so it is reported as not found.
#[cfg(feature = "ssr")]
fn parse(name: &str) -> Result<api::OperationName, Failure> {
    name.parse().map_err(|_| {
        Failure(api::Problem::NotFound { what: "operation".into(), name: name.chars().take(80).collect() })
    })
}
