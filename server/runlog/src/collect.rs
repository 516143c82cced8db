//! Collecting one pod's log, from the first line to the verdict.

use std::{io, sync::Arc, time::Duration};

use crd::Snapshot;
use futures::{AsyncBufRead, FutureExt};
use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::{Api, Client, api::LogParams};
use masking::Masker;
use tokio::{
    sync::watch,
    time::{Instant, sleep, sleep_until, timeout},
};

use crate::{
    cursor::{Resume, Verdict},
    pod::{CONTAINER, PodFacts, PodState},
    run::Run,
    upstream::{Lines, RawLine, stamped},
    writer::Writer,
};

/// How long a line may wait for others before it is written.
const LINGER: Duration = Duration::from_millis(20);
/// A connection without a byte for so long is made anew: it may be dead without anybody having said so.
const IDLE: Duration = Duration::from_secs(300);
/// How long a connection may stay open after the container ended.
const AFTERWARDS: Duration = Duration::from_secs(10);
/// How often a log that can't be read is asked for, once nothing more is being written.
const TRIES: u32 = 8;

/// How one connection ended.
enum Ending {
    /// In order, with what stood after the last line feed. That alone proves nothing: an API server that loses the kubelet
    /// ends its answer in order, too.
    Clean(Option<RawLine>),
    /// By an error; what came before it is stored.
    Cut(String),
    /// The API says that there is no such pod or log.
    Absent(String),
}

/// Stores everything the container of this pod writes. Returns when the verdict is written; may be dropped at any time and
/// goes on from the journal the next time.
pub(crate) async fn collect(client: Client, run: Arc<Run>, mut facts: watch::Receiver<PodFacts>) -> io::Result<()> {
    if run.extent().end.is_some() {
        return Ok(());
    }
    let pod = facts.borrow().clone();
    let Ok(known) = facts.wait_for(|f| !matches!(f.state, PodState::Waiting(_))).await.map(|f| f.state.clone()) else {
        return Ok(());
    };
    if matches!(known, PodState::Ended { ran: false } | PodState::Gone { ran: false }) {
        Writer::resume(run, Masker::new("", None), None).finish().await?;
        return Ok(());
    }
    let inputs = Inputs::read(&Api::namespaced(client.clone(), &pod.namespace), &pod.inputs).await;
    let pods: Api<Pod> = Api::namespaced(client, &pod.namespace);
    let mut writer = inputs.writer(&run);
    // After a connection that ended in order: what stood after its last line feed.
    let mut clean: Option<Option<RawLine>> = None;
    let mut tries = 0_u32;
    loop {
        let state = facts.borrow_and_update().state.clone();
        let (settled, before) = (state.is_settled(), writer.cursor());
        if matches!(state, PodState::Gone { .. }) && clean.is_some() {
            break;
        }
        let ending = match follow(&pods, &pod.name, &mut writer, &mut facts.clone(), settled).await {
            Ok(ending) => ending,
            Err(error) => {
                // The disk refused. What was not written comes again from upstream.
                writer = inputs.writer(&run);
                Ending::Cut(format!("the spool can't be written: {error}"))
            }
        };
        let fresh = writer.cursor() != before;
        if fresh {
            tries = 0;
        }
        match ending {
            Ending::Clean(rest) => {
                clean = Some(rest);
                // The container had ended, and this reading began where the last one stopped and brought nothing: it is everything.
                if settled && !fresh {
                    break;
                }
                if !settled {
                    // Usually the container has ended, and the news of it is on its way.
                    let _ = timeout(Duration::from_secs(1), facts.changed()).await;
                }
            }
            Ending::Absent(_) if settled && clean.is_some() => break,
            Ending::Cut(why) | Ending::Absent(why) if settled && tries >= TRIES => {
                tracing::warn!(pod = pod.name, why, "a log could not be read to its end");
                clean = None;
                writer.mark(now(), 1, "The log could not be read to its end: lines may be missing here.");
                break;
            }
            Ending::Absent(_) if matches!(state, PodState::Gone { .. }) => {
                writer.mark(
                    now(),
                    1,
                    "The pod was deleted before its log could be read to the end: lines may be missing here.",
                );
                break;
            }
            Ending::Cut(why) | Ending::Absent(why) => {
                tracing::debug!(pod = pod.name, why, "a log's connection was cut");
                clean = None;
                tries += 1;
                sleep(Duration::from_millis(100 << tries.min(7))).await;
            }
        }
    }
    if let Some(line) = clean.flatten()
        && let Some((at, raw)) = stamped(&line.bytes)
    {
        writer.push(at, raw, &line);
    }
    let end = writer.finish().await?;
    tracing::info!(operation = pod.operation, lines = end.lines, missing = end.missing, "the log of a run is complete");
    Ok(())
}

/// One connection.
async fn follow(
    pods: &Api<Pod>,
    name: &str,
    writer: &mut Writer,
    facts: &mut watch::Receiver<PodFacts>,
    settled: bool,
) -> io::Result<Ending> {
    let since = writer.cursor().and_then(|c| jiff::Timestamp::from_second(c.since_second()).ok());
    let params = LogParams {
        container: Some(CONTAINER.into()),
        follow: true,
        timestamps: true,
        since_time: since,
        ..LogParams::default()
    };
    match timeout(Duration::from_secs(30), pods.log_stream(name, &params)).await {
        Ok(Ok(stream)) => read(Lines::of(std::pin::pin!(stream)), writer, facts, settled).await,
        Ok(Err(kube::Error::Api(status))) if status.is_not_found() || status.code == 400 => {
            Ok(Ending::Absent(status.message.clone()))
        }
        Ok(Err(error)) => Ok(Ending::Cut(error.to_string())),
        Err(_) => Ok(Ending::Cut("no answer within 30 s".into())),
    }
}

async fn read<R: AsyncBufRead + Unpin>(
    mut lines: Lines<R>,
    writer: &mut Writer,
    facts: &mut watch::Receiver<PodFacts>,
    settled: bool,
) -> io::Result<Ending> {
    let mut resume = Resume::after(writer.cursor());
    let mut complaint = None;
    let mut flush_at: Option<Instant> = None;
    // Only for a container that is still running: the last reading of an ended one may take as long as it takes.
    let overdue = async {
        if settled {
            std::future::pending::<()>().await;
        }
        let _ = facts.wait_for(|f| f.state.is_settled()).await;
        sleep(AFTERWARDS).await;
    };
    let mut overdue = std::pin::pin!(overdue.fuse());
    let ending = loop {
        let line = tokio::select! {
            biased;
            line = lines.next() => line,
            () = sleep_until(flush_at.unwrap_or_else(Instant::now)), if flush_at.is_some() => {
                writer.flush().await?;
                flush_at = None;
                continue;
            }
            () = &mut overdue => break Ending::Cut("it stayed open after the container's end".into()),
            () = sleep(IDLE) => break Ending::Cut("nothing came for five minutes".into()),
        };
        match line {
            Ok(Some(line)) => take(&line, &mut resume, writer, &mut complaint),
            Ok(None) => match complaint.take() {
                Some(complaint) => break Ending::Cut(complaint),
                None if resume.is_seeking() => break Ending::Cut("it ended before the lines that are known".into()),
                None => break Ending::Clean(lines.rest()),
            },
            Err(error) => break Ending::Cut(error.to_string()),
        }
        if writer.is_full() {
            writer.flush().await?;
            flush_at = None;
        } else if writer.has_pending() && flush_at.is_none() {
            flush_at = Some(Instant::now() + LINGER);
        }
    };
    writer.flush().await?;
    Ok(ending)
}

fn take(line: &RawLine, resume: &mut Resume, writer: &mut Writer, complaint: &mut Option<String>) {
    let Some((at, raw)) = stamped(&line.bytes) else {
        *complaint = Some(String::from_utf8_lossy(&line.bytes).into_owned());
        return;
    };
    match resume.judge(at) {
        Verdict::Old => return,
        Verdict::New => {}
        Verdict::NewAfterGap => {
            writer.mark(at, 1, "Lines are missing here: the log was rotated before they could be read.");
        }
    }
    writer.push(at, raw, line);
}

fn now() -> i64 {
    i64::try_from(jiff::Timestamp::now().as_nanosecond()).unwrap_or(i64::MAX)
}

/// What is secret about a run, and the token that marks its events.
struct Inputs {
    masker: Masker,
    token: Option<String>,
}

impl Inputs {
    /// Waits until the Secret can be read. Without it (gone, or not ours to read) what is secret is not known, so nothing that
    /// the run says is stored.
    async fn read(secrets: &Api<Secret>, name: &str) -> Self {
        let mut pause = Duration::from_millis(100);
        let data = loop {
            match secrets.get_opt(name).await {
                Ok(secret) => break secret.and_then(|s| s.data).unwrap_or_default(),
                Err(kube::Error::Api(status)) if status.is_forbidden() => {
                    tracing::warn!(secret = name, "a run's inputs may not be read: its log is not shown");
                    break Default::default();
                }
                Err(error) => tracing::debug!(secret = name, %error, "a run's inputs can't be read yet"),
            }
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(10));
        };
        match Snapshot::read(&data) {
            Some(Snapshot { inventory, variables, token }) => {
                Self { masker: Masker::of_run(&inventory, &variables, &token), token: Some(token) }
            }
            None => Self { masker: Masker::of_unknown_inputs(), token: None },
        }
    }

    fn writer(&self, run: &Arc<Run>) -> Writer {
        Writer::resume(Arc::clone(run), self.masker.clone(), self.token.clone())
    }
}
