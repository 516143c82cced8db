//! Collects the log of one pod, from its first line to the end record.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crd::Snapshot;
use futures::{AsyncBufRead, FutureExt};
use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::api::LogParams;
use kube::{Api, Client};
use masking::{MaskedRun, Masker};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::cursor::{LineAge, Resume};
use crate::pod::{CONTAINER, PodFacts, PodState};
use crate::run::StoredRun;
use crate::upstream::{Lines, RawLine, stamped};
use crate::writer::Writer;

/// How long a line may wait for others before it is written.
const LINGER: Duration = Duration::from_millis(20);
/// After this time without a byte, the collector connects again: the connection may be dead without having been closed.
const IDLE: Duration = Duration::from_secs(300);
/// How long a connection may stay open after the container ended.
const AFTERWARDS: Duration = Duration::from_secs(10);
/// When the collector continues after the spool could not be written. The log waits at its source.
const WRITE_AGAIN: Duration = Duration::from_secs(2);
/// How often the collector tries to read a log that can't be read, once the container has ended.
const TRIES: u32 = 8;

/// How one connection ended.
enum Ending {
    /// In order. This doesn't prove that the log is complete: an API server that loses the kubelet also ends its response in
    /// order.
    Clean(Rest),
    /// By an error. The lines before it are stored.
    Cut(String),
    /// The API says that there is no such pod or log.
    Absent(String),
}

/// The bytes after the last line feed of a connection; `None` if there were none.
struct Rest(Option<RawLine>);

/// Stores everything that the container of this pod writes. Returns after the end record is written. The future may be
/// dropped at any time: the next call continues from the journal.
pub(crate) async fn collect(
    client: Client,
    run: Arc<StoredRun>,
    mut facts: watch::Receiver<PodFacts>,
) -> io::Result<()> {
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
    // The log is complete when a connection that was opened after the container's end ended in order and brought nothing new. If
    // the pod or its log is deleted first, a connection that ended in order must have been the last one. Otherwise, and if the
    // log of an ended container can't be read for too long, a line says that lines may be missing.
    //
    // `clean` is set while the last connection is one that ended in order.
    let mut clean: Option<Rest> = None;
    let mut tries = 0_u32;
    let mut stuck = false;
    loop {
        let state = facts.borrow_and_update().state.clone();
        let (ended, before) = (state.has_ended(), writer.cursor());
        if matches!(state, PodState::Gone { .. }) && clean.is_some() {
            break;
        }
        let ending = match read_log(&pods, &pod.name, &mut writer, &mut facts.clone(), ended).await {
            Ok(ending) => ending,
            // Nearly always the disk is full. That says nothing about the log, so it isn't one of the limited tries to read it.
            Err(error) => {
                if !std::mem::replace(&mut stuck, true) {
                    tracing::error!(operation = pod.operation, %error, full = disk::is_full(&error), "cannot write the log of a run; it is read again until it can be written");
                }
                // The new writer reads again what was not written.
                writer = inputs.writer(&run);
                clean = None;
                sleep(WRITE_AGAIN).await;
                continue;
            }
        };
        stuck = false;
        let fresh = writer.cursor() != before;
        if fresh {
            tries = 0;
        }
        match ending {
            Ending::Clean(rest) => {
                clean = Some(rest);
                if ended && !fresh {
                    break;
                }
                if !ended {
                    // Usually the container has ended, and the watch will report it soon.
                    let _ = timeout(Duration::from_secs(1), facts.changed()).await;
                }
            }
            Ending::Absent(_) if ended && clean.is_some() => break,
            Ending::Cut(why) | Ending::Absent(why) if ended && tries >= TRIES => {
                tracing::warn!(pod = pod.name, why, "cannot read a log to its end");
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
                tracing::debug!(pod = pod.name, why, "the connection of a log was cut");
                clean = None;
                tries += 1;
                sleep(Duration::from_millis(100 << tries.min(7))).await;
            }
        }
    }
    if let Some(Rest(Some(line))) = clean
        && let Some((at, raw)) = stamped(&line.bytes)
    {
        writer.push(at, raw, &line);
    }
    let end = writer.finish().await?;
    tracing::info!(operation = pod.operation, lines = end.lines, missing = end.missing, "the log of a run is complete");
    Ok(())
}

/// Reads the log over one connection, from the writer's cursor on, and stores its lines.
async fn read_log(
    pods: &Api<Pod>,
    name: &str,
    writer: &mut Writer,
    facts: &mut watch::Receiver<PodFacts>,
    ended: bool,
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
        Ok(Ok(stream)) => read(Lines::of(std::pin::pin!(stream)), writer, facts, ended).await,
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
    ended: bool,
) -> io::Result<Ending> {
    let mut resume = Resume::after(writer.cursor());
    let mut complaint = None;
    let mut flush_at: Option<Instant> = None;
    // Only if the container was running at the start. The log of an ended container may take any time to read.
    let overdue = async {
        if ended {
            std::future::pending::<()>().await;
        }
        let _ = facts.wait_for(|f| f.state.has_ended()).await;
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
            () = &mut overdue => break Ending::Cut("the connection stayed open after the container had ended".into()),
            () = sleep(IDLE) => break Ending::Cut("no data for five minutes".into()),
        };
        match line {
            Ok(Some(line)) => take(&line, &mut resume, writer, &mut complaint),
            Ok(None) => match complaint.take() {
                Some(complaint) => break Ending::Cut(complaint),
                None if resume.is_seeking() => {
                    break Ending::Cut("the connection ended before the first new line".into());
                }
                None => break Ending::Clean(Rest(lines.rest())),
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
    match resume.age(at) {
        LineAge::Old => return,
        LineAge::New => {}
        LineAge::NewAfterGap => {
            writer.mark(at, 1, "Lines are missing here: the log was rotated before they could be read.");
        }
    }
    writer.push(at, raw, line);
}

fn now() -> i64 {
    i64::try_from(jiff::Timestamp::now().as_nanosecond()).unwrap_or(i64::MAX)
}

/// What the inputs of a run tell about its log: which values are secret, and the token that marks its events.
struct Inputs {
    masker: Masker,
    token: Option<String>,
}

fn masker(run: &Snapshot) -> Masker {
    Masker::of_run(&MaskedRun {
        inventory: &run.inventory,
        variables: &run.variables,
        token: &run.token,
        secrets: &run.secrets,
        names: &run.names,
    })
}

impl Inputs {
    /// Waits until the Secret can be read. If it is deleted or may not be read, the secrets of the run are unknown, so no
    /// line is stored as it is.
    async fn read(secrets: &Api<Secret>, name: &str) -> Self {
        let mut pause = Duration::from_millis(100);
        let data = loop {
            match secrets.get_opt(name).await {
                Ok(secret) => break secret.and_then(|s| s.data).unwrap_or_default(),
                Err(kube::Error::Api(status)) if status.is_forbidden() => {
                    tracing::warn!(secret = name, "the inputs of a run may not be read, so its log is not shown");
                    break Default::default();
                }
                Err(error) => tracing::debug!(secret = name, %error, "cannot read the inputs of a run yet"),
            }
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(10));
        };
        match Snapshot::read(&data) {
            Some(snapshot) => Self { masker: masker(&snapshot), token: Some(snapshot.token) },
            None => Self { masker: Masker::of_unknown_inputs(), token: None },
        }
    }

    fn writer(&self, run: &Arc<StoredRun>) -> Writer {
        Writer::resume(Arc::clone(run), self.masker.clone(), self.token.clone())
    }
}
