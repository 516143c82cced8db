use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use api::run::{HostResult, HostStats};

use super::*;
use crate::journal::encode;

/// A journal under construction.
#[derive(Default)]
struct Journal {
    bytes: Vec<u8>,
    lines: u64,
    events: u64,
}

impl Journal {
    fn line(mut self, text: &str) -> Self {
        encode(&mut self.bytes, b't', 1_000_000, text.as_bytes());
        self.lines += 1;
        self
    }

    fn event(mut self, body: EventBody) -> Self {
        self.events += 1;
        let event = RunEvent { n: self.events, at: 1, after: self.lines, body };
        encode(&mut self.bytes, b'e', 1_000_000, &serde_json::to_vec(&event).unwrap());
        self
    }

    fn play(self, name: &str) -> Self {
        self.line("").line(&format!("PLAY [{name}] ****")).event(EventBody::PlayStart { play: 1, name: name.into() })
    }

    fn task(self, task: u32, name: &str) -> Self {
        let body = EventBody::TaskStart { task, play: 1, name: name.into(), action: "command".into(), handler: false };
        self.line("").line(&format!("TASK [{name}] ****")).event(body)
    }

    fn result(self, task: u32, host: &str, lines: &[&str]) -> Self {
        let body = EventBody::HostResult {
            task,
            host: host.into(),
            result: HostResult::Ok,
            ms: 1,
            message: None,
            item: None,
            ignored: false,
        };
        lines.iter().fold(self, |journal, line| journal.line(line)).event(body)
    }

    fn run(self) -> (tempfile::TempDir, StoredRun) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("journal"), self.bytes).unwrap();
        let run = StoredRun::open(folder.path()).unwrap();
        (folder, run)
    }

    fn find(self, query: &LogQuery) -> Found {
        let (_folder, run) = self.run();
        find(&run, query, Instant::now() + Duration::from_secs(60)).unwrap()
    }
}

fn text(text: &str) -> LogQuery {
    LogQuery { text: text.into(), ..LogQuery::default() }
}

fn of_host(host: &str, text: &str) -> LogQuery {
    LogQuery { text: text.into(), host: host.into(), from: 0 }
}

/// Two plays with three tasks on two hosts, and a recap.
fn a_run() -> Journal {
    let stats = || HostStats { ok: 3, ..HostStats::default() };
    Journal::default()
        .play("Prepare")
        .task(1, "Ping")
        .result(1, "w1", &["ok: [w1]"])
        .result(1, "w2", &["ok: [w2]"])
        .task(2, "Fetch")
        .result(2, "w2", &["fatal: [w2]: FAILED! => {", "    \"msg\": \"Disk full on w1\"", "}"])
        .play("Install")
        .task(3, "Copy")
        .result(3, "w1", &["changed: [w1]"])
        .line("")
        .line("PLAY RECAP ****")
        .line("\u{1b}[0;32mw1\u{1b}[0m         : \u{1b}[0;32mok=3\u{1b}[0m    changed=1")
        .line("w11        : ok=3    changed=1")
        .event(EventBody::Stats { hosts: BTreeMap::from([("w1".into(), stats()), ("w11".into(), stats())]) })
}

fn listed(found: &Found) -> Vec<String> {
    found.lines.iter().map(|found| masking::without_colours(&found.line.s)).collect()
}

#[test]
fn capitals_count_only_if_the_text_has_one() {
    let journal = || Journal::default().line("Disk full").line("disk FULL").line("disk is full").line("DISK FULL");
    assert_eq!(journal().find(&text("disk full")).hits, [1, 2, 4]);
    assert_eq!(journal().find(&text("Disk full")).hits, [1]);
    assert_eq!(journal().find(&text("fulL")).hits, Vec::<u64>::new());
    assert_eq!(Journal::default().line("Größe: ÄÖ").find(&text("größe: äö")).hits, [1]);
}

#[test]
fn text_is_plain_and_colours_do_not_hide_it() {
    let journal = || Journal::default().line("a.c").line("abc").line("a\u{1b}[0;31m.\u{1b}[0mc");
    assert_eq!(journal().find(&text("a.c")).hits, [1, 3]);
    assert_eq!(journal().find(&text("[0;31m")).total, 0);
    assert_eq!(journal().find(&text("")), Found::default());
}

#[test]
fn a_host_has_its_lines_and_their_headlines() {
    let found = a_run().find(&of_host("w1", ""));
    assert_eq!(
        listed(&found),
        [
            "PLAY [Prepare] ****",
            "TASK [Ping] ****",
            "ok: [w1]",
            "PLAY [Install] ****",
            "TASK [Copy] ****",
            "changed: [w1]",
            "PLAY RECAP ****",
            "w1         : ok=3    changed=1",
        ]
    );
    assert_eq!((found.total, found.hits.clone()), (3, vec![5, 16, 19]), "headlines aren't hits");
    assert_eq!(found.lines[2].number, 5);
}

#[test]
fn all_lines_of_a_result_belong_to_its_host() {
    let found = a_run().find(&of_host("w2", "disk"));
    assert_eq!(listed(&found), ["PLAY [Prepare] ****", "TASK [Fetch] ****", "    \"msg\": \"Disk full on w1\""]);
    assert_eq!(a_run().find(&of_host("w1", "disk")).total, 0, "a host's name in another host's line");
    assert_eq!(a_run().find(&of_host("w3", "")), Found::default());
}

#[test]
fn answers_are_bounded_and_say_so() {
    let most = u64::try_from(LogQuery::MOST_HITS).unwrap();
    let journal = (0..most + 10).fold(Journal::default(), |journal, _| journal.line("again"));
    let found = journal.find(&text("again"));
    assert_eq!((found.hits.len() as u64, found.total), (most, most + 10));
    assert_eq!(found.note, "Only the first 5,000 hits can be visited one by one.");

    let long = "x".repeat(LogQuery::LONGEST + 1);
    let refused = Journal::default().line(&long).find(&text(&long));
    assert_eq!(
        (refused.total, refused.note.as_str()),
        (0, "The text has 201 characters; at most 200 can be found. Shorten it.")
    );
}

#[test]
fn a_host_with_many_lines_is_listed_in_parts() {
    let journal = || {
        let start = Journal::default().play("Prepare").task(1, "Loop");
        (0..LogQuery::MOST_LINES).fold(start, |journal, _| journal.result(1, "w1", &["ok: [w1]"]))
    };
    let first = journal().find(&of_host("w1", ""));
    assert_eq!((first.lines.len(), first.total), (LogQuery::MOST_LINES, LogQuery::MOST_LINES as u64));
    // The first two lines are headlines, so two lines are left.
    let rest = journal().find(&LogQuery { from: first.next, ..of_host("w1", "") });
    assert_eq!(listed(&rest), ["PLAY [Prepare] ****", "TASK [Loop] ****", "ok: [w1]", "ok: [w1]"]);
    assert_eq!((rest.next, rest.total), (0, first.total));
    assert_eq!(rest.lines[2].number, first.lines.last().unwrap().number + 1);
}

#[test]
fn a_host_with_long_lines_is_listed_in_parts() {
    const LINES: usize = 40;
    let long = "x".repeat(64 * 1024);
    let start = Journal::default().play("Prepare").task(1, "Loop");
    let (_folder, run) = (0..LINES).fold(start, |journal, _| journal.result(1, "w1", &[long.as_str()])).run();
    let (mut numbers, mut parts, mut from) = (Vec::new(), 0, 0);
    loop {
        let query = LogQuery { from, ..of_host("w1", "x") };
        let found = find(&run, &query, Instant::now() + Duration::from_secs(60)).unwrap();
        assert!(found.lines.iter().map(|found| found.line.s.len()).sum::<usize>() <= MOST_LISTED_BYTES);
        assert_eq!(found.total, LINES as u64, "a part counts the lines of the others");
        numbers.extend(found.lines.iter().filter(|found| found.line.s == long).map(|found| found.number));
        parts += 1;
        assert!(found.next == 0 || found.next > from, "{} after {from}", found.next);
        from = found.next;
        if from == 0 {
            break;
        }
    }
    // Two lines of the play, two of the task. The headlines take the place of one of 16 long lines.
    assert_eq!((numbers, parts), ((5..45).collect::<Vec<u64>>(), 3));
}

#[test]
fn a_line_larger_than_an_answer_is_listed_alone() {
    let long = "x".repeat(MOST_LISTED_BYTES + 1);
    let journal = || {
        Journal::default().play("Prepare").task(1, "Print").result(1, "w1", &[long.as_str()]).result(1, "w1", &["x"])
    };
    let first = journal().find(&of_host("w1", "x"));
    assert_eq!((first.lines.len(), first.next), (3, 6), "with its two headlines");
    let rest = journal().find(&LogQuery { from: first.next, ..of_host("w1", "x") });
    assert_eq!((listed(&rest).last().map(String::as_str), rest.next), (Some("x"), 0));
}

#[test]
fn a_search_ends_at_its_deadline_and_says_where() {
    let journal = (0..1_000).fold(Journal::default(), |journal, _| journal.line("again"));
    let (_folder, run) = journal.run();
    let found = find(&run, &text("again"), Instant::now().checked_sub(Duration::from_secs(1)).unwrap()).unwrap();
    assert!((1..1_000).contains(&found.total), "{}", found.total);
    let at = format!("The search took too long and stopped at line {} of 1,000.", found.total);
    assert!(found.note.starts_with(&at), "{}", found.note);
}

#[test]
fn a_host_with_a_huge_result_takes_bounded_memory() {
    let query = of_host("w1", "");
    let mut finder = Finder::new(&query);
    for number in 1..=20_000 {
        finder.line(b"t1 x", number);
    }
    assert_eq!(finder.pending.len(), MOST_OF_A_RESULT);
    assert_eq!(finder.pending.last().unwrap().number, 20_000, "the newest line may be a headline");
}

#[test]
fn a_host_with_long_lines_takes_bounded_memory() {
    let query = of_host("w1", "");
    let mut finder = Finder::new(&query);
    let record = format!("t1 {}", "x".repeat(64 * 1024));
    for number in 1..=1_000 {
        finder.line(record.as_bytes(), number);
    }
    let bytes = finder.pending.iter().map(|found| found.line.s.len()).sum::<usize>();
    assert_eq!((bytes, finder.pending_bytes), (MOST_BYTES_OF_A_RESULT, MOST_BYTES_OF_A_RESULT));
    assert_eq!(finder.pending.last().unwrap().number, 1_000, "the newest line may be a headline");
    let event = RunEvent { n: 1, at: 1, after: 1_000, body: EventBody::PlayStart { play: 1, name: "Next".into() } };
    finder.event(&event);
    assert_eq!((finder.pending.len(), finder.pending_bytes), (0, 0));
}

/// Each thread searches a part of the journal.
#[test]
fn a_long_journal_has_each_hit_once_and_in_order() {
    let lines = 2 * LINES_OF_A_THREAD + 7;
    let journal = (1..=lines).fold(Journal::default(), |journal, line| {
        let text = if line % 1_000 == 0 || line == lines { "a needle" } else { "hay" };
        let journal = journal.line(text);
        if line % 500 == 0 { journal.event(EventBody::StepEnd { step: 1, rc: 0 }) } else { journal }
    });
    let (_folder, run) = journal.run();
    let found = find(&run, &text("Needle"), Instant::now() + Duration::from_secs(60)).unwrap();
    assert_eq!(found.total, 0);
    let found = find(&run, &text("needle"), Instant::now() + Duration::from_secs(60)).unwrap();
    let expected: Vec<u64> = (1..=lines).filter(|line| line % 1_000 == 0 || *line == lines).collect();
    assert_eq!((found.total, found.hits), (expected.len() as u64, expected));
}
