//! The server functions of the run page.

use api::log::{Found, LogPage, LogQuery};
use api::operation::OperationDetail;
#[cfg(feature = "ssr")]
use api::operation::Phase;
use api::progress::RunProgress;
use api::watch::Watch;
use leptos::prelude::*;
use leptos::server;
use serde::{Deserialize, Serialize};

#[cfg(feature = "ssr")]
use super::summary::failure;
use super::summary::reason::Reason;
use crate::Failure;

/// The number of log lines that the server renders.
#[cfg(feature = "ssr")]
pub(super) const LINES_IN_PAGE: u32 = 200;

/// The number of lines above one that the page must show.
#[cfg(feature = "ssr")]
pub(super) const LINES_ABOVE: u64 = 5;

/// The data of the page. Progress is sent in place of events, which are tens of megabytes for a large run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunOpening {
    pub detail: OperationDetail,
    pub progress: RunProgress,
    /// Why the run failed, for the server's HTML. The browser asks for it with [`load_reason`], so that the code that reads it is in the
    /// piece that shows it.
    #[serde(skip)]
    pub reason: Option<Reason>,
    /// What there is to watch, for the server's HTML. The browser asks for it with [`load_watch`].
    #[serde(skip)]
    pub watch: Option<Watch>,
    /// Whether the server's HTML has `watch`.
    pub has_watch: bool,
    /// The first line on screen: of a failed run, where it failed. 0 for the end of the log, or where no other line was asked for.
    pub opens_at: u64,
    pub log: LogPage,
    /// Why there is no log (yet).
    pub note: Option<String>,
    /// What to look for in the log, and what was found.
    pub query: LogQuery,
    pub found: Found,
}

/// A run, with 200 lines around `line` or from `from`. If both are 0, or after the end: the 200 from above the first hit, otherwise the last
/// 200, or those from the failure on if that is further up.
#[server(prefix = "/api", endpoint = "load_run", input = server_fn::codec::GetUrl, output = crate::json::Json)]
pub async fn load_run(
    name: String,
    #[server(default)] from: u64,
    #[server(default)] line: u64,
    #[server(default)] q: String,
    #[server(default)] host: String,
) -> Result<RunOpening, Failure> {
    let (user, backend) = crate::session::signed_in()?;
    let name = parse(&name)?;
    let detail = backend.operations.get(&user, &name).await?;
    let query = LogQuery { text: q, host, from };
    let found = if query.is_empty() { Ok(Found::default()) } else { backend.runs.find(&user, &name, &query).await };
    // The page is useful without it.
    let found = found.unwrap_or_else(|problem| Found { note: problem.to_string(), ..Found::default() });
    // With a host, `from` is where the list of its lines begins.
    let line = if line == 0 && (from == 0 || !query.host.is_empty()) {
        found.hits.first().copied().unwrap_or(0)
    } else {
        line
    };
    let from = if line == 0 { from } else { line.saturating_sub(LINES_ABOVE).max(1) };
    let mut record = backend.runs.record(&user, &name, from, LINES_IN_PAGE).await?;
    if record.log.lines.is_empty() && from > record.log.total {
        record = backend.runs.record(&user, &name, 0, LINES_IN_PAGE).await?;
    }
    let mut progress = RunProgress::from_events(&record.events);
    if detail.row.phase.is_final() && record.log.end.is_some() {
        progress.end();
    }
    // ansible's own error is among the newest lines, which this page may not show.
    let shows_newest = record.log.first + record.log.lines.len() as u64 > record.log.total;
    let reason = if detail.row.phase != Phase::Failed {
        None
    } else if shows_newest {
        failure::reason(&detail, &progress, &failure::errors(&record.log))
    } else {
        let newest = backend.runs.page(&user, &name, 0, LINES_IN_PAGE).await?;
        failure::reason(&detail, &progress, &failure::errors(&newest))
    };
    let opens_at = if from == 0 {
        reason.as_ref().and_then(|reason| failure::first_line_on_screen(reason, &progress)).unwrap_or(0)
    } else {
        0
    };
    if opens_at > 0 && opens_at < record.log.first {
        record.log = backend.runs.page(&user, &name, opens_at, LINES_IN_PAGE).await?;
    }
    let watch = match detail.row.phase {
        Phase::Queued | Phase::Restored => None,
        // The page is useful without it.
        _ => backend
            .operations
            .watch(&user, &name)
            .await
            .ok()
            .filter(|watch| *watch != Watch { now: watch.now, ..Watch::default() }),
    };
    let has_watch = watch.is_some();
    Ok(RunOpening {
        detail,
        progress,
        reason,
        watch,
        has_watch,
        opens_at,
        log: record.log,
        note: record.note,
        query,
        found,
    })
}

/// Why a run failed, as far as its events have arrived; `None` if it didn't fail.
#[server(prefix = "/api", endpoint = "load_reason", input = server_fn::codec::GetUrl, output = crate::json::Json)]
pub async fn load_reason(name: String) -> Result<Option<Reason>, Failure> {
    let (user, backend) = crate::session::signed_in()?;
    let name = parse(&name)?;
    let detail = backend.operations.get(&user, &name).await?;
    let record = backend.runs.record(&user, &name, 0, LINES_IN_PAGE).await?;
    Ok(failure::reason(&detail, &RunProgress::from_events(&record.events), &failure::errors(&record.log)))
}

/// What there is to watch besides the log.
#[server(prefix = "/api", endpoint = "load_watch", input = server_fn::codec::GetUrl, output = crate::json::Json)]
pub async fn load_watch(name: String) -> Result<Watch, Failure> {
    let (user, backend) = crate::session::signed_in()?;
    Ok(backend.operations.watch(&user, &parse(&name)?).await?)
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

/// Looks for text, and for the lines of a host, in the whole log. `from`: the first line of the host to list.
#[server(prefix = "/api", endpoint = "find_lines", input = server_fn::codec::GetUrl, output = crate::json::Json)]
pub async fn find_lines(
    name: String,
    #[server(default)] q: String,
    #[server(default)] host: String,
    #[server(default)] from: u64,
) -> Result<Found, Failure> {
    let (user, backend) = crate::session::signed_in()?;
    Ok(backend.runs.find(&user, &parse(&name)?, &LogQuery { text: q, host, from }).await?)
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
