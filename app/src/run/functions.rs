//! What the run page asks the server.

use api::{log::LogPage, operation::OperationDetail, progress::RunProgress};
use leptos::{prelude::*, server};
use serde::{Deserialize, Serialize};

use crate::Failure;

/// Lines of the log in a page of HTML.
pub(super) const LINES_IN_PAGE: u32 = 200;

/// Everything the page begins with. Events travel folded: of a large run they would be tens of megabytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunOpening {
    pub detail: OperationDetail,
    pub progress: RunProgress,
    pub log: LogPage,
    /// Why there is nothing to read (yet).
    pub note: Option<String>,
}

/// A run as it stands, with 200 lines from `from` (0: the last 200).
#[server(prefix = "/api", endpoint = "load_run", input = server_fn::codec::GetUrl, output = crate::json::Json)]
pub async fn load_run(name: String, #[server(default)] from: u64) -> Result<RunOpening, Failure> {
    let (user, backend) = crate::session::signed_in()?;
    let name = parse(&name)?;
    let detail = backend.operations.get(&user, &name).await?;
    let record = backend.runs.record(&user, &name, from, LINES_IN_PAGE).await?;
    let progress = RunProgress::from_events(&record.events);
    Ok(RunOpening { detail, progress, log: record.log, note: record.note })
}

/// Head and inputs of a run, when they changed.
#[server(prefix = "/api", endpoint = "load_operation", input = server_fn::codec::GetUrl, output = crate::json::Json)]
pub async fn load_operation(name: String) -> Result<OperationDetail, Failure> {
    let (user, backend) = crate::session::signed_in()?;
    Ok(backend.operations.get(&user, &parse(&name)?).await?)
}

/// Lines of a log, for scrolling where they are not yet.
#[server(prefix = "/api", endpoint = "load_lines", input = server_fn::codec::GetUrl, output = crate::json::Json)]
pub async fn load_lines(name: String, from: u64, count: u32) -> Result<LogPage, Failure> {
    let (user, backend) = crate::session::signed_in()?;
    Ok(backend.runs.page(&user, &parse(&name)?, from, count.min(10_000)).await?)
}

/// Cancels a run, or takes it from the queue.
#[server(prefix = "/api", endpoint = "cancel_operation", output = crate::json::Json)]
pub async fn cancel_operation(name: String) -> Result<(), Failure> {
    let (user, backend) = crate::session::signed_in()?;
    let name = parse(&name)?;
    backend.operations.cancel(&user, &name).await?;
    crate::redirect::to(&crate::routes::operation(&name));
    Ok(())
}

/// A name that can't be one names nothing.
#[cfg(feature = "ssr")]
fn parse(name: &str) -> Result<api::OperationName, Failure> {
    name.parse().map_err(|_| {
        Failure(api::Problem::NotFound { what: "operation".into(), name: name.chars().take(80).collect() })
    })
}
