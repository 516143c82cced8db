//! Asks the server by HTTP for what the socket doesn't bring: a proxy may not pass on WebSockets. The answer also tells whether the
//! session has ended, which a browser doesn't report of a refused socket.

use api::live::LiveFrame;
#[cfg(feature = "ssr")]
use api::live::LiveRequest;
#[cfg(feature = "ssr")]
use api::{Backend, OperationName, User};
use leptos::prelude::*;
use leptos::server;

use crate::Failure;

/// The most runs in one question, as many as one tab may follow.
#[cfg(feature = "ssr")]
const MOST_RUNS: usize = 8;

/// The most lines of a run in one answer. The next question continues after them.
pub(super) const MOST_LINES: u16 = 2_000;

/// What the socket would have sent for `requests`, a JSON array of `LiveRequest`: for each `Follow`, the next lines and events of the run, and
/// its end once all lines are sent, or why it can't be read. Other requests have no answer.
#[server(prefix = "/api", endpoint = "ask_live", input = server_fn::codec::GetUrl, output = crate::json::Json)]
pub async fn ask_live(requests: String) -> Result<Vec<LiveFrame>, Failure> {
    let (user, backend) = crate::session::signed_in()?;
    let requests: Vec<LiveRequest> = serde_json::from_str(&requests)
        .map_err(|error| api::Problem::BadRequest { message: format!("These requests can't be read: {error}.") })?;
    let (mut frames, mut seen) = (Vec::new(), std::collections::BTreeSet::new());
    for request in requests.into_iter().take(MOST_RUNS) {
        if let LiveRequest::Follow { run, from, events_from } = request
            && seen.insert(run.clone())
        {
            frames.extend(news_of(&user, &backend, run, from.max(1), events_from).await?);
        }
    }
    Ok(frames)
}

/// The frames of a run from line `from` and event `events_from` on.
#[cfg(feature = "ssr")]
async fn news_of(
    user: &User,
    backend: &Backend,
    run: OperationName,
    from: u64,
    events_from: u64,
) -> Result<Vec<LiveFrame>, api::Problem> {
    let (events, log) = match backend.runs.record_since(user, &run, from, events_from, MOST_LINES.into()).await {
        Ok(record) => (record.events, record.log),
        Err(api::Problem::SignedOut) => return Err(api::Problem::SignedOut),
        Err(problem) => return Ok(vec![LiveFrame::Interrupted { run, message: problem.to_string() }]),
    };
    let is_last = from + log.lines.len() as u64 > log.total;
    let mut frames = Vec::new();
    if !events.is_empty() {
        frames.push(LiveFrame::Events { run: run.clone(), events });
    }
    // Without lines it says that the run can be read again.
    frames.push(LiveFrame::Lines { run: run.clone(), first: log.first, lines: log.lines });
    frames.extend(log.end.filter(|_| is_last).map(|end| LiveFrame::End { run, end }));
    Ok(frames)
}
