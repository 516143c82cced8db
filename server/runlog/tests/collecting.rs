//! Collects a run from a scripted API server: exactly what the container wrote is stored.

mod scripted;
#[path = "../../tests/skipped/mod.rs"]
mod skipped;
#[path = "../../tests/small_disk/mod.rs"]
mod small_disk;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use api::backend::Runs;
use api::log::{LogEnd, LogFrame, LogQuery};
use api::progress::RunProgress;
use api::{OperationName, Problem, User};
use async_trait::async_trait;
use futures::{StreamExt, TryStreamExt};
use kubeonkube_runlog::Readers;
use scripted::{Break, Script, TOKEN, World, drain, run, until, user};
use small_disk::SmallDisk;
use tokio::sync::watch;

/// Timestamps of 400 lines per second. Seven lines in a row have the same one.
fn stamp(n: u64) -> i64 {
    1_790_000_000_000_000_000 + i64::try_from(n / 7).unwrap() * 17_500_000
}

fn numbered(range: std::ops::Range<u64>) -> impl Iterator<Item = (i64, Vec<u8>)> {
    range.map(|n| (stamp(n), format!("line {n} of the run").into_bytes()))
}

fn event(n: u64) -> Vec<u8> {
    format!("\u{1e}{TOKEN} {{\"n\":{n},\"at\":7,\"type\":\"step_end\",\"step\":1,\"rc\":0}}").into_bytes()
}

fn assert_numbered(lines: &[api::log::LogLine], count: u64) {
    assert_eq!(lines.len() as u64, count);
    for (n, line) in lines.iter().enumerate() {
        assert_eq!(line.s, format!("line {n} of the run"));
        assert_eq!(line.t.0, stamp(n as u64) / 1_000_000);
    }
}

fn cut(n: usize) -> Break {
    if n.is_multiple_of(2) { Break::Error(200_017 + n * 2_919) } else { Break::Quiet(200_029 + n * 2_907) }
}

#[tokio::test]
async fn twenty_cuts_lose_and_repeat_none_of_100_000_lines() {
    let (script, dir) = (Script::new(), tempfile::tempdir().unwrap());
    script.breaks((0..20).map(cut));
    let world = World::start(&script, dir.path());
    let viewer = tokio::spawn(drain(world.follow(1).await));
    for part in 0..100 {
        script.write(numbered(part * 1000..(part + 1) * 1000));
        tokio::task::yield_now().await;
    }
    script.end();
    let (lines, _, end) = viewer.await.unwrap();
    assert_numbered(&lines, 100_000);
    assert_eq!(end, Some(LogEnd { lines: 100_000, missing: 0 }));
    assert_eq!(script.breaks_left(), 0);
}

#[tokio::test]
async fn a_journal_names_its_api_server() {
    let (script, dir) = (Script::new(), tempfile::tempdir().unwrap());
    script.write(numbered(0..10));
    script.end();
    let world = World::start(&script, dir.path());
    world.lines(10).await;
    world.kill().await;
    let about = || -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(dir.path().join("job-1/about.json")).unwrap()).unwrap()
    };
    // A log of an older version, which didn't record the API server.
    let mut old = about();
    old.as_object_mut().unwrap().remove("api");
    std::fs::write(dir.path().join("job-1/about.json"), old.to_string()).unwrap();
    let _world = World::start(&script, dir.path());
    until(async || about()["api"] == "this-api").await;
}

#[tokio::test]
async fn an_ended_log_is_read_to_its_end_through_cuts() {
    let (script, dir) = (Script::new(), tempfile::tempdir().unwrap());
    script.write(numbered(0..20_000));
    script.write([(stamp(20_000), b"without a line feed at the end".to_vec())]);
    script.end();
    script.breaks((0..4).map(cut));
    let world = World::start(&script, dir.path());
    let (lines, _, end) = drain(world.follow(1).await).await;
    assert_numbered(&lines[..20_000], 20_000);
    assert_eq!(end, Some(LogEnd { lines: 20_001, missing: 0 }));
}

#[tokio::test]
async fn a_killed_server_continues_where_its_journal_ends() {
    let (script, dir) = (Script::new(), tempfile::tempdir().unwrap());
    let mixed = |range: std::ops::Range<u64>| {
        range.map(|n| {
            (stamp(n), if n % 5 == 4 { event(n / 5 + 1) } else { format!("line {n} of the run").into_bytes() })
        })
    };
    for kill in 0..10 {
        let world = World::start(&script, dir.path());
        script.write(mixed(kill * 500..(kill + 1) * 500));
        world.lines(kill * 400 + 1).await;
        world.kill().await;
        // A crash in the middle of a write leaves half a record.
        let journal = dir.path().join("job-1/journal");
        let mut bytes = std::fs::read(&journal).unwrap();
        bytes.extend_from_slice(b"t1790000000000000000 half a rec");
        std::fs::write(&journal, bytes).unwrap();
    }
    script.end();
    let world = World::start(&script, dir.path());
    let (lines, events, end) = drain(world.follow(1).await).await;
    assert_eq!(end, Some(LogEnd { lines: 4000, missing: 0 }));
    let wanted: Vec<_> = (0..5000_u64).filter(|n| n % 5 != 4).map(|n| format!("line {n} of the run")).collect();
    assert_eq!(lines.into_iter().map(|l| l.s).collect::<Vec<_>>(), wanted);
    assert_eq!(events.iter().map(|e| e.n).collect::<Vec<_>>(), (1..=1000).collect::<Vec<_>>());
    assert!(events.iter().all(|e| e.after == e.n * 4), "there are four lines before each event");
    drop(world);
    let again = World::start(&script, dir.path());
    let before = script.connections();
    assert_numbered_end(&again, 4000).await;
    assert_eq!(script.connections(), before, "a complete log is not requested again");
}

async fn assert_numbered_end(world: &World, lines: u64) {
    let page = world.runs.page(&user(), &run(), 0, 10).await.unwrap();
    assert_eq!((page.first, page.lines.len(), page.total), (lines - 9, 10, lines));
    assert_eq!(page.end, Some(LogEnd { lines, missing: 0 }));
}

#[tokio::test]
async fn one_upstream_follow_serves_any_number_of_viewers() {
    let (script, dir) = (Script::new(), tempfile::tempdir().unwrap());
    script.write(numbered(0..1000));
    let world = World::start(&script, dir.path());
    world.lines(1000).await;
    let viewers: Vec<_> = futures::future::join_all((0..50).map(|_| world.follow(1))).await;
    script.write(numbered(1000..2000));
    script.end();
    for viewer in viewers {
        let (lines, _, end) = drain(viewer).await;
        assert_numbered(&lines, 2000);
        assert_eq!(end, Some(LogEnd { lines: 2000, missing: 0 }));
    }
    assert!(script.connections() <= 2, "one connection, and one more that confirms the end: {}", script.connections());
}

#[tokio::test]
async fn a_slow_viewer_gets_a_gap_and_back_fills_from_the_spool() {
    let (script, dir) = (Script::new(), tempfile::tempdir().unwrap());
    script.write(numbered(0..100));
    let world = World::start(&script, dir.path());
    let (taken, mut by_quick) = watch::channel(0);
    let quick = world.follow(1).await.inspect(move |frame| {
        if let LogFrame::Lines { lines, .. } = frame {
            taken.send_modify(|taken| *taken += lines.len());
        }
    });
    let quick = tokio::spawn(drain(quick.boxed()));
    let mut slow = world.follow(1).await;
    let mut seen = 0;
    while seen < 100 {
        if let Some(LogFrame::Lines { first, lines }) = slow.next().await {
            assert_eq!(first, seen + 1);
            seen += lines.len() as u64;
        }
    }
    // A follower that has reached the end once is live.
    assert!(futures::poll!(slow.next()).is_pending());
    let line = |n| if n == 150 || n == 20_000 { event(n / 150) } else { format!("line {n} of the run").into_bytes() };
    // In parts, so that the quick viewer is never far behind, also on a busy machine.
    for part in [100..8_000, 8_000..16_000, 16_000..24_000, 24_000..32_000, 32_000..40_000] {
        let events = [150, 20_000].into_iter().filter(|event| *event < part.end).count();
        let lines = usize::try_from(part.end).unwrap() - events;
        script.write(part.map(|n| (stamp(n), line(n))));
        by_quick.wait_for(|taken| *taken == lines).await.unwrap();
    }
    // The slow viewer takes one batch, and then nothing for three seconds.
    let Some(LogFrame::Lines { first: 101, lines }) = slow.next().await else { panic!("lines") };
    assert!(matches!(slow.next().await, Some(LogFrame::Events(_))));
    tokio::time::pause();
    tokio::time::advance(std::time::Duration::from_secs(3)).await;
    tokio::time::resume();
    let Some(LogFrame::Gap { from, to }) = slow.next().await else { panic!("a gap") };
    assert_eq!(from, 101 + lines.len() as u64);
    let missed = world.runs.page(&user(), &run(), from, 10_000).await.unwrap();
    assert_eq!((missed.first, missed.lines.len()), (from, 10_000));
    assert_eq!(missed.lines[0].s, format!("line {from} of the run"));
    script.end();
    let (mut events, mut next) = (Vec::new(), to);
    while let Some(frame) = slow.next().await {
        match frame {
            LogFrame::Lines { first, lines } => {
                assert_eq!(first, next);
                next += lines.len() as u64;
            }
            LogFrame::Events(more) => events.extend(more),
            LogFrame::Gap { .. } => panic!("one gap is enough"),
            LogFrame::Closed(problem) => panic!("closed: {problem}"),
            LogFrame::End(end) => assert_eq!(end, LogEnd { lines: 39_998, missing: 0 }),
        }
    }
    assert_eq!((next, events.len()), (39_999, 1), "events are never left out");
    assert_eq!(quick.await.unwrap().0.len(), 39_998, "the other viewer was not delayed");
}

#[tokio::test]
async fn the_stored_log_is_clean_and_has_no_secrets() {
    let (script, dir) = (Script::new(), tempfile::tempdir().unwrap());
    let forged = b"\x1e0000000000000000 {\"n\":1,\"at\":7,\"type\":\"step_end\",\"step\":1,\"rc\":0}".to_vec();
    let lines: Vec<Vec<u8>> = vec![
        b"password is hunter2222, token opensesame".to_vec(),
        forged,
        format!("the run's own token is {TOKEN}").into_bytes(),
        b"caf\xe9 \xff\0 \x1b[2J\x1b[31mred\x1b[0m".to_vec(),
        b" 1%\r 50%\r100%\r".to_vec(),
        vec![b'x'; 200_000],
        event(1),
    ];
    script.write(lines.into_iter().zip(0..).map(|(line, n)| (stamp(n), line)));
    script.end();
    let world = World::start(&script, dir.path());
    let (lines, events, end) = drain(world.follow(1).await).await;
    let text: Vec<_> = lines.iter().map(|l| l.s.as_str()).collect();
    assert_eq!(text[0], "password is ••••••, token ••••••");
    assert!(text[1].starts_with("0000000000000000 {"), "{}", text[1]);
    assert_eq!(text[2], "the run's own token is ••••••");
    assert_eq!(text[3], "caf\u{fffd} \u{fffd} \u{1b}[31mred\u{1b}[0m");
    assert_eq!(text[4], "100%");
    assert!(text[5].len() <= 65_536 && text[5].ends_with("[cut here: this line has 200000 bytes]"));
    assert_eq!((events.len(), end.map(|e| e.lines)), (1, Some(6)));
    let stored = std::fs::read(dir.path().join("job-1/journal")).unwrap();
    for secret in ["hunter2222", "opensesame", TOKEN] {
        assert!(!String::from_utf8_lossy(&stored).contains(secret), "{secret} reached the disk");
    }
    let download: Vec<u8> = world.runs.text(&user(), &run()).await.unwrap().try_concat().await.unwrap();
    assert!(String::from_utf8(download).unwrap().contains("red\n100%\n"), "a download is plain text");
}

#[tokio::test]
async fn a_download_of_an_unfinished_log_says_so() {
    let (script, dir) = (Script::new(), tempfile::tempdir().unwrap());
    script.write([(stamp(0), b"one".to_vec())]);
    let world = World::start(&script, dir.path());
    world.lines(1).await;
    let download = async || -> String {
        let bytes: Vec<u8> = world.runs.text(&user(), &run()).await.unwrap().try_concat().await.unwrap();
        String::from_utf8(bytes).unwrap()
    };
    let said = download().await;
    assert!(said.starts_with("one\n\n[These are the lines until now."), "{said}");
    script.end();
    drain(world.follow(1).await).await;
    assert_eq!(download().await, "one\n");
}

#[tokio::test]
async fn a_search_can_not_be_used_to_guess_a_secret() {
    let (script, dir) = (Script::new(), tempfile::tempdir().unwrap());
    let lines = [b"password is hunter2222, token opensesame".to_vec(), format!("token {TOKEN}").into_bytes()];
    script.write(lines.into_iter().zip(0..).map(|(line, n)| (stamp(n), line)));
    script.end();
    let world = World::start(&script, dir.path());
    world.lines(2).await;
    let hits = async |text: &str| {
        let query = LogQuery { text: text.into(), ..LogQuery::default() };
        world.runs.find(&user(), &run(), &query).await.unwrap().hits
    };
    for secret in ["hunter2222", "hunter", "opensesame", "sesame", TOKEN] {
        assert_eq!(hits(secret).await, Vec::<u64>::new(), "{secret}");
    }
    assert_eq!(hits("token ••••••").await, [1, 2], "what is stored is found");
}

#[tokio::test]
async fn an_absurd_event_number_stops_no_progress() {
    let (script, dir) = (Script::new(), tempfile::tempdir().unwrap());
    let absurd = |n: &str| {
        format!("\u{1e}{TOKEN} {{\"n\":{n},\"at\":-1,\"type\":\"step_end\",\"step\":1,\"rc\":0}}").into_bytes()
    };
    let lines = [absurd("18446744073709551615"), event(1), absurd("-5"), event(2), event(2), absurd("1e99"), event(3)];
    let count = lines.len() as u64;
    script.write(lines.into_iter().zip(0..).map(|(line, n)| (stamp(n), line)));
    script.end();
    let world = World::start(&script, dir.path());
    let (_, events, end) = drain(world.follow(1).await).await;
    assert_eq!(events.iter().map(|event| event.n).collect::<Vec<_>>(), (1..=count).collect::<Vec<_>>());
    assert!(events.iter().all(|event| event.at > 0), "the time of the line replaces an absurd one");
    assert_eq!(end, Some(LogEnd { lines: 1, missing: 1 }), "only the note that lines may be missing");
    assert_eq!(RunProgress::from_events(&events).last_event, count);
}

#[tokio::test]
async fn without_its_inputs_no_line_of_a_run_is_stored() {
    let (script, dir) = (Script::new(), tempfile::tempdir().unwrap());
    script.delete_inputs();
    script.write([(stamp(0), b"password is hunter2222".to_vec()), (stamp(1), event(1))]);
    script.end();
    let world = World::start(&script, dir.path());
    let (lines, events, end) = drain(world.follow(1).await).await;
    let text: Vec<_> = lines.iter().map(|l| l.s.as_str()).collect();
    assert_eq!(text, [masking::UNKNOWN_INPUTS; 2]);
    assert_eq!((events.len(), end.map(|e| e.lines)), (0, Some(2)));
    let stored = std::fs::read(dir.path().join("job-1/journal")).unwrap();
    assert!(!String::from_utf8_lossy(&stored).contains("hunter2222"));
}

#[tokio::test]
async fn rotation_between_two_connections_is_counted_and_shown() {
    let (script, dir) = (Script::new(), tempfile::tempdir().unwrap());
    script.breaks([Break::Error(20_000)]);
    script.write(numbered(0..2000));
    let world = World::start(&script, dir.path());
    world.lines(100).await;
    script.rotate();
    script.write(numbered(2000..2100));
    script.end();
    let (lines, _, end) = drain(world.follow(1).await).await;
    assert_eq!(end, Some(LogEnd { lines: lines.len() as u64, missing: 1 }));
    let at = lines.iter().position(|l| l.s.starts_with("Lines are missing here")).expect("a mark");
    assert_eq!(lines[at + 1].s, "line 2000 of the run");
    assert_eq!(lines.last().unwrap().s, "line 2099 of the run");
}

#[tokio::test]
async fn a_pod_deleted_after_its_last_line_leaves_a_complete_log() {
    let (script, dir) = (Script::new(), tempfile::tempdir().unwrap());
    script.write(numbered(0..100));
    let world = World::start(&script, dir.path());
    world.lines(100).await;
    script.delete_pod();
    let (lines, _, end) = drain(world.follow(1).await).await;
    assert_numbered(&lines, 100);
    assert_eq!(end, Some(LogEnd { lines: 100, missing: 0 }));
}

#[tokio::test]
async fn a_pod_deleted_before_its_log_was_read_leaves_a_note() {
    let (script, dir) = (Script::new(), tempfile::tempdir().unwrap());
    script.write(numbered(0..5000));
    script.breaks(std::iter::repeat_n(Break::Error(1000), 1));
    let world = World::start(&script, dir.path());
    world.lines(10).await;
    script.delete_pod();
    let (lines, _, end) = drain(world.follow(1).await).await;
    assert_eq!(end.map(|e| (e.lines, e.missing)), Some((lines.len() as u64, 1)));
    assert!(lines.last().is_some_and(|l| l.s.starts_with("The pod was deleted before")), "{:?}", lines.last());
}

#[tokio::test]
async fn deleting_a_run_ends_its_viewers_and_deletes_its_folder() {
    let (script, dir) = (Script::new(), tempfile::tempdir().unwrap());
    script.write(numbered(0..10));
    script.end();
    let world = World::start(&script, dir.path());
    until(async || world.runs.page(&user(), &run(), 1, 0).await.unwrap().end.is_some()).await;
    let viewer = world.follow(11).await;
    world.runs.forget("job-1").await.unwrap();
    let last: Vec<_> = viewer.collect().await;
    assert!(matches!(last[..], [LogFrame::Closed(Problem::NotFound { .. })]), "{last:?}");
    assert!(!dir.path().join("job-1").exists());
    let record = world.runs.record(&user(), &run(), 0, 10).await.unwrap();
    assert_eq!(record.log.total, 0);
}

/// Allows the first read. The second check fails because the cluster doesn't answer.
#[derive(Default)]
struct Once(AtomicBool);

#[async_trait]
impl Readers for Once {
    async fn may_read(&self, _: &User, _: &OperationName, namespace: Option<&str>) -> Result<(), Problem> {
        let unavailable = Problem::Unavailable { message: "The cluster did not answer.".into() };
        if namespace.is_some() && self.0.swap(true, Ordering::Relaxed) { Err(unavailable) } else { Ok(()) }
    }
}

#[tokio::test]
async fn a_failed_check_while_waiting_for_a_run_is_reported() {
    let (script, dir) = (Script::new(), tempfile::tempdir().unwrap());
    script.delete_pod();
    let world = World::read_by(&script, dir.path(), Arc::new(Once::default()));
    let frames: Vec<_> = world.follow(1).await.collect().await;
    assert!(matches!(frames[..], [LogFrame::Closed(Problem::Unavailable { .. })]), "{frames:?}");
}

#[tokio::test(start_paused = true)]
async fn a_full_disk_delays_a_log_and_loses_none_of_it() {
    let Some(disk) = SmallDisk::of(8, "a_full_disk_delays_a_log_and_loses_none_of_it") else { return };
    let script = Script::new();
    let world = World::start(&script, &disk.path().join("spool"));
    script.write(numbered(0..100));
    world.lines(100).await;
    disk.fill();
    let before = script.connections();
    script.write(numbered(100..20_000));
    script.end();
    // More tries than a log gets that can't be read.
    until(async || script.connections() > before + 12).await;
    disk.free();
    let (lines, _, end) = drain(world.follow(1).await).await;
    assert_numbered(&lines, 20_000);
    assert_eq!(end, Some(LogEnd { lines: 20_000, missing: 0 }));
}

#[tokio::test(start_paused = true)]
async fn a_log_that_begins_on_a_full_disk_is_collected_later() {
    let Some(disk) = SmallDisk::of(8, "a_log_that_begins_on_a_full_disk_is_collected_later") else { return };
    let script = Script::new();
    script.write(numbered(0..10));
    disk.fill();
    let world = World::start(&script, &disk.path().join("spool"));
    script.end();
    let folder = disk.path().join("spool/job-1");
    until(async || folder.exists()).await;
    disk.free();
    until(async || folder.join("journal").exists()).await;
    let (lines, _, end) = drain(world.follow(1).await).await;
    assert_numbered(&lines, 10);
    assert_eq!(end, Some(LogEnd { lines: 10, missing: 0 }));
}
