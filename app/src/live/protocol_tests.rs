use api::Time;
use api::log::{LogEnd, LogLine};
use api::run::{EventBody, RunEvent};

use super::*;

fn run() -> OperationName {
    "ping-1".parse().unwrap()
}

fn line(n: u64) -> LogLine {
    LogLine { t: Time(0), s: format!("line {n}") }
}

fn lines(first: u64, end: u64) -> Input {
    Input::Frame(LiveFrame::Lines { run: run(), first, lines: (first..end).map(line).collect() })
}

fn ended(lines: u64) -> Input {
    Input::Frame(LiveFrame::End { run: run(), end: LogEnd { lines, missing: 0 } })
}

fn ask(from: u64) -> Command {
    Command::Send(LiveRequest::Follow { run: run(), from, events_from: 1 })
}

fn delivered(first: u64, end: u64) -> Command {
    Command::Deliver { id: 7, news: RunNews::Lines { first, lines: (first..end).map(line).collect() } }
}

/// Live, following from line 1 as follow 7.
fn following() -> Protocol {
    let mut protocol = Protocol::new();
    protocol.on(Input::Follow { id: 7, run: run(), from: 1, events_from: 1 }, 0.0, 0.5);
    protocol.on(Input::Opened, 0.0, 0.5);
    protocol
}

fn on(protocol: &mut Protocol, input: Input) -> Vec<Command> {
    protocol.on(input, 1000.0, 0.5)
}

#[test]
fn nothing_is_opened_before_something_is_wanted() {
    let mut protocol = Protocol::new();
    assert_eq!(on(&mut protocol, Input::Retry), []);
    assert_eq!(on(&mut protocol, Input::Want(Topic::Clusters)), [Command::Open]);
    assert_eq!(on(&mut protocol, Input::Want(Topic::Operations)), [], "it is already opening");
    let topics = LiveRequest::Topics { topics: vec![Topic::Clusters, Topic::Operations] };
    assert_eq!(
        on(&mut protocol, Input::Opened),
        [Command::Show(Connection::Live), Command::Send(topics),],
        "the server reports each topic that is new to it; a bump here would load every page twice"
    );
}

#[test]
fn a_topic_is_wanted_while_one_component_wants_it() {
    let mut protocol = following();
    let all = |topics: &[Topic]| Command::Send(LiveRequest::Topics { topics: topics.to_vec() });
    assert_eq!(on(&mut protocol, Input::Want(Topic::Clusters)), [all(&[Topic::Clusters])]);
    assert_eq!(on(&mut protocol, Input::Want(Topic::Clusters)), []);
    assert_eq!(on(&mut protocol, Input::Unwant(Topic::Clusters)), []);
    assert_eq!(
        on(&mut protocol, Input::Frame(LiveFrame::Changed { topic: Topic::Clusters })),
        [Command::Bump(Topic::Clusters)]
    );
    assert_eq!(on(&mut protocol, Input::Unwant(Topic::Clusters)), [all(&[])]);
    assert_eq!(on(&mut protocol, Input::Frame(LiveFrame::Changed { topic: Topic::Clusters })), []);
}

#[test]
fn after_a_cut_topics_are_resent_and_the_run_continues() {
    let mut protocol = following();
    on(&mut protocol, Input::Want(Topic::Operations));
    assert_eq!(on(&mut protocol, lines(1, 101)), [delivered(1, 101)]);
    assert_eq!(on(&mut protocol, Input::Closed), [Command::Show(Connection::Lost), Command::RetryIn(375.0)]);
    assert_eq!(on(&mut protocol, Input::Retry), [Command::Open]);
    assert_eq!(
        on(&mut protocol, Input::Opened),
        [
            Command::Show(Connection::Live),
            Command::Send(LiveRequest::Topics { topics: vec![Topic::Operations] }),
            ask(101),
        ]
    );
}

#[test]
fn a_follow_that_resumes_is_reported_without_a_line() {
    let mut protocol = following();
    on(&mut protocol, lines(1, 11));
    assert_eq!(on(&mut protocol, lines(11, 11)), [delivered(11, 11)]);
    assert_eq!(on(&mut protocol, lines(5, 5)), []);
}

#[test]
fn lines_that_come_twice_are_delivered_once() {
    let mut protocol = following();
    assert_eq!(on(&mut protocol, lines(1, 11)), [delivered(1, 11)]);
    assert_eq!(on(&mut protocol, lines(1, 11)), []);
    assert_eq!(on(&mut protocol, lines(6, 16)), [delivered(11, 16)]);
}

#[test]
fn lost_lines_are_requested_once_and_delivered_in_order() {
    let mut protocol = following();
    assert_eq!(on(&mut protocol, lines(1, 11)), [delivered(1, 11)]);
    assert_eq!(on(&mut protocol, lines(21, 31)), [ask(11)]);
    assert_eq!(on(&mut protocol, lines(31, 41)), [], "already requested");
    assert_eq!(on(&mut protocol, lines(11, 41)), [delivered(11, 41)]);
}

#[test]
fn each_announced_gap_is_requested_from_its_start() {
    let gap = |from, to| Input::Frame(LiveFrame::Gap { run: run(), from, to });
    let mut protocol = following();
    on(&mut protocol, lines(1, 11));
    assert_eq!(on(&mut protocol, gap(11, 500)), [ask(11)]);
    assert_eq!(on(&mut protocol, gap(11, 900)), [ask(11)]);
    assert_eq!(on(&mut protocol, lines(11, 900)), [delivered(11, 900)]);
    assert_eq!(on(&mut protocol, gap(11, 500)), [], "closed meanwhile");
}

#[test]
fn twenty_cuts_lose_and_double_nothing() {
    let mut protocol = following();
    let mut seen = Vec::new();
    let mut next = 1;
    for cut in 0..20_u64 {
        // The server repeats a few lines; lines in flight when the socket broke are lost.
        let commands = on(&mut protocol, lines(next, next + 5_000));
        seen.extend(commands.into_iter().flat_map(|command| match command {
            Command::Deliver { news: RunNews::Lines { first, lines }, .. } => first..first + lines.len() as u64,
            _ => 0..0,
        }));
        on(&mut protocol, Input::Closed);
        on(&mut protocol, Input::Retry);
        let asked = on(&mut protocol, Input::Opened);
        let Some(Command::Send(LiveRequest::Follow { from, .. })) = asked.get(1) else { panic!("{asked:?}") };
        assert_eq!(*from, 5_000 * (cut + 1) + 1);
        next = from.saturating_sub(cut).max(1);
        on(&mut protocol, lines(next, *from));
        next = *from;
    }
    assert_eq!(seen, (1..=100_000).collect::<Vec<_>>());
}

#[test]
fn events_are_delivered_once_and_in_order() {
    let events = |numbers: &[u64]| -> Vec<RunEvent> {
        let body = EventBody::StepEnd { step: 1, rc: 0 };
        numbers.iter().map(|n| RunEvent { n: *n, at: 0, after: 0, body: body.clone() }).collect()
    };
    let frame = |numbers: &[u64]| Input::Frame(LiveFrame::Events { run: run(), events: events(numbers) });
    let mut protocol = following();
    assert_eq!(on(&mut protocol, frame(&[1, 2])).len(), 1);
    assert_eq!(on(&mut protocol, frame(&[1, 2])), []);
    let news = RunNews::Events(events(&[3, 5]));
    assert_eq!(on(&mut protocol, frame(&[2, 3, 5])), [Command::Deliver { id: 7, news }]);
}

#[test]
fn the_end_waits_for_the_last_line() {
    let mut protocol = following();
    on(&mut protocol, lines(1, 11));
    assert_eq!(on(&mut protocol, ended(20)), [ask(11)], "ten lines are still missing");
    assert_eq!(on(&mut protocol, lines(11, 21)), [delivered(11, 21)]);
    let end = RunNews::End(LogEnd { lines: 20, missing: 0 });
    assert_eq!(on(&mut protocol, ended(20)), [Command::Deliver { id: 7, news: end }]);
    on(&mut protocol, Input::Closed);
    on(&mut protocol, Input::Retry);
    assert_eq!(
        on(&mut protocol, Input::Opened),
        [Command::Show(Connection::Live)],
        "a run that ended is not followed again"
    );
}

#[test]
fn the_old_page_does_not_end_the_follow_of_the_new_page() {
    let mut protocol = following();
    assert_eq!(on(&mut protocol, Input::Follow { id: 8, run: run(), from: 5, events_from: 1 }), [ask(5)]);
    assert_eq!(on(&mut protocol, Input::Unfollow { id: 7 }), []);
    assert_eq!(on(&mut protocol, Input::Unfollow { id: 8 }), [Command::Send(LiveRequest::Unfollow { run: run() })]);
}

#[test]
fn a_silent_server_counts_as_a_broken_connection() {
    let mut protocol = following();
    assert_eq!(protocol.on(Input::Check, 40_000.0, 0.0), []);
    protocol.on(Input::Frame(LiveFrame::Beat), 40_000.0, 0.0);
    assert_eq!(protocol.on(Input::Check, 80_000.0, 0.0), []);
    assert_eq!(
        protocol.on(Input::Check, 90_000.0, 0.0),
        [Command::Close, Command::Show(Connection::Lost), Command::RetryIn(250.0)]
    );
}

#[test]
fn the_back_off_is_bounded_and_the_session_is_checked() {
    let mut protocol = following();
    let mut pauses = Vec::new();
    let mut checks = 0;
    for _ in 0..12 {
        for command in on(&mut protocol, Input::Closed) {
            match command {
                Command::RetryIn(pause) => pauses.push(pause),
                Command::Ask { .. } => checks += 1,
                _ => {}
            }
        }
        answered(&mut protocol, None);
        on(&mut protocol, Input::Retry);
    }
    assert!(pauses.is_sorted() && pauses[11] <= LONGEST_PAUSE && pauses[0] < 500.0, "{pauses:?}");
    assert_eq!(checks, 11, "each time but the first");
}

/// A protocol whose socket was refused `times` times.
fn refused(times: u32) -> Protocol {
    let mut protocol = Protocol::new();
    on(&mut protocol, Input::Follow { id: 7, run: run(), from: 1, events_from: 1 });
    for _ in 0..times {
        on(&mut protocol, Input::Closed);
        on(&mut protocol, Input::Retry);
    }
    protocol
}

fn question(id: u64, from: u64) -> Command {
    Command::Ask { id, requests: vec![LiveRequest::Follow { run: run(), from, events_from: 1 }] }
}

/// The open question is answered; without `frames`, it fails.
fn answered(protocol: &mut Protocol, answer: Option<Vec<LiveFrame>>) -> Vec<Command> {
    let id = protocol.last_question;
    on(protocol, Input::Answered { id, answer })
}

#[test]
fn without_a_socket_the_rest_of_a_run_comes_by_questions() {
    let mut protocol = refused(1);
    on(&mut protocol, Input::Want(Topic::Operations));
    assert_eq!(on(&mut protocol, Input::Closed).pop(), Some(question(1, 1)));
    let some = LiveFrame::Lines { run: run(), first: 1, lines: (1..4).map(line).collect() };
    let shown = |long| Command::Show(Connection::Asking { long });
    assert_eq!(
        answered(&mut protocol, Some(vec![some])),
        [shown(false), Command::Bump(Topic::Operations), delivered(1, 4)],
        "the page loads its data again, and gets the lines"
    );
    on(&mut protocol, Input::Retry);
    let again = on(&mut protocol, Input::Closed);
    assert_eq!((&again[0], again.last()), (&shown(false), Some(&question(2, 4))));
    let end = LogEnd { lines: 3, missing: 0 };
    let ended = LiveFrame::End { run: run(), end };
    let deliver = Command::Deliver { id: 7, news: RunNews::End(end) };
    assert_eq!(answered(&mut protocol, Some(vec![ended])).pop(), Some(deliver));
}

#[test]
fn a_proxy_is_named_only_while_the_server_answers() {
    let mut protocol = refused(MANY_FAILURES);
    assert_eq!(answered(&mut protocol, None), [Command::Show(Connection::Lost)]);
    on(&mut protocol, Input::Closed);
    assert_eq!(answered(&mut protocol, Some(Vec::new())), [Command::Show(Connection::Asking { long: true })]);
    on(&mut protocol, Input::Retry);
    assert_eq!(on(&mut protocol, Input::Opened)[0], Command::Show(Connection::Live));
    assert_eq!(on(&mut protocol, Input::Closed)[0], Command::Show(Connection::Lost), "it may answer no longer");
}

#[test]
fn only_one_question_is_open_at_a_time() {
    let mut protocol = refused(2);
    assert!(!on(&mut protocol, Input::Closed).iter().any(|command| matches!(command, Command::Ask { .. })));
    on(&mut protocol, Input::Retry);
    answered(&mut protocol, Some(Vec::new()));
    assert!(on(&mut protocol, Input::Closed).iter().any(|command| matches!(command, Command::Ask { .. })));
}

#[test]
fn a_full_answer_leads_to_the_next_question() {
    let mut protocol = refused(2);
    let end = u64::from(MOST_LINES) + 1;
    let part = LiveFrame::Lines { run: run(), first: 1, lines: (1..end).map(line).collect() };
    assert_eq!(answered(&mut protocol, Some(vec![part])).last(), Some(&question(2, end)));
    let rest = LiveFrame::Lines { run: run(), first: end, lines: vec![line(end)] };
    let commands = answered(&mut protocol, Some(vec![rest]));
    assert!(matches!(commands.as_slice(), [Command::Show(_), Command::Deliver { .. }]), "{commands:?}");
    on(&mut protocol, Input::Want(Topic::Operations));
    protocol.ask(1000.0);
    let bumps = |commands: Vec<Command>| commands.contains(&Command::Bump(Topic::Operations));
    let part = |first| LiveFrame::Lines { run: run(), first, lines: (first..first + end - 1).map(line).collect() };
    assert!(bumps(answered(&mut protocol, Some(vec![part(end + 1)]))));
    assert!(!bumps(answered(&mut protocol, Some(vec![part(2 * end)]))), "the page is as new as the answer before");
}

#[test]
fn during_a_slow_handshake_the_page_asks() {
    let mut protocol = refused(1);
    let opened = 1000.0;
    assert_eq!(protocol.on(Input::Check, opened + SLOW_HANDSHAKE, 0.5), []);
    let asked = opened + SLOW_HANDSHAKE + 1.0;
    assert_eq!(protocol.on(Input::Check, asked, 0.5), [Command::Show(Connection::Lost), question(1, 1)]);
    let later = asked + LONGEST_QUESTION;
    assert_eq!(protocol.on(Input::Check, later, 0.5)[0], Command::Close, "the handshake took too long");
    assert_eq!(protocol.question.map(|(id, _)| id), Some(2), "and the question counts as lost");
    let ended = vec![LiveFrame::End { run: run(), end: LogEnd { lines: 0, missing: 0 } }];
    assert_eq!(on(&mut protocol, Input::Answered { id: 1, answer: Some(ended) }), [], "it is answered too late");
    let long = || Command::Show(Connection::Asking { long: true });
    assert_eq!(answered(&mut protocol, Some(Vec::new())), [long()], "a proxy has swallowed the handshake");
    assert_eq!(protocol.on(Input::Retry, later + 1.0, 0.5), [Command::Open]);
    assert_eq!(
        protocol.on(Input::Check, later + 2.0, 0.5),
        [long(), question(3, 1)],
        "the next handshake is not waited for"
    );
}

#[test]
fn the_answer_to_an_earlier_page_does_not_end_a_log() {
    let mut protocol = refused(2);
    on(&mut protocol, Input::Unfollow { id: 7 });
    on(&mut protocol, Input::Follow { id: 8, run: run(), from: 2, events_from: 1 });
    let end = |lines| LiveFrame::End { run: run(), end: LogEnd { lines, missing: 0 } };
    let late = LiveFrame::Lines { run: run(), first: 3, lines: vec![line(3)] };
    assert_eq!(answered(&mut protocol, Some(vec![late, end(3)])), [Command::Show(Connection::Asking { long: false })]);
    on(&mut protocol, Input::Retry);
    on(&mut protocol, Input::Closed);
    let rest = LiveFrame::Lines { run: run(), first: 2, lines: vec![line(2), line(3)] };
    assert_eq!(answered(&mut protocol, Some(vec![rest, end(3)])).len(), 3, "the state, the lines and the end");
}

#[test]
fn a_tab_that_was_signed_out_is_live_again_after_a_sign_in() {
    let mut protocol = following();
    on(&mut protocol, Input::Frame(LiveFrame::SignedOut));
    assert_eq!(on(&mut protocol, Input::Check), [question(1, 1)]);
    let signed_out = Some(vec![LiveFrame::SignedOut]);
    assert_eq!(answered(&mut protocol, signed_out), [Command::SignIn], "the user may have left what was typed");
    assert_eq!(on(&mut protocol, Input::Check), [question(2, 1)]);
    assert_eq!(answered(&mut protocol, None), []);
    assert_eq!(on(&mut protocol, Input::Check), [question(3, 1)]);
    assert_eq!(answered(&mut protocol, Some(Vec::new())), [Command::Open]);
}

#[test]
fn signed_out_leads_to_the_sign_in_page() {
    let mut protocol = following();
    assert_eq!(on(&mut protocol, Input::Frame(LiveFrame::SignedOut)), [Command::Close, Command::SignIn]);
    assert_eq!(on(&mut protocol, Input::Closed), []);
    assert_eq!(on(&mut protocol, Input::Retry), []);
}

#[test]
fn the_end_of_the_session_does_not_stop_a_sign_out() {
    let mut protocol = following();
    assert_eq!(on(&mut protocol, Input::SigningOut), [Command::Close]);
    for end in [Input::Frame(LiveFrame::SignedOut), Input::Closed, Input::Retry, Input::Check] {
        assert_eq!(on(&mut protocol, end), []);
    }
    assert_eq!(answered(&mut protocol, Some(vec![LiveFrame::SignedOut])), []);
}

#[test]
fn an_interruption_is_shown_at_its_run_a_refusal_at_all() {
    let mut protocol = following();
    let other: OperationName = "other".parse().unwrap();
    on(&mut protocol, Input::Follow { id: 8, run: other.clone(), from: 1, events_from: 1 });
    let shown_by = |protocol: &mut Protocol, frame| {
        let commands = on(protocol, Input::Frame(frame)).into_iter();
        let ids = commands.map(|command| match command {
            Command::Deliver { id, news: RunNews::NoUpdates(message) } if message == "why" => id,
            other => panic!("{other:?}"),
        });
        ids.collect::<Vec<_>>()
    };
    let message = || "why".to_owned();
    assert_eq!(shown_by(&mut protocol, LiveFrame::Interrupted { run: other, message: message() }), [8]);
    assert_eq!(shown_by(&mut protocol, LiveFrame::Refused { message: message() }), [8, 7]);
}
