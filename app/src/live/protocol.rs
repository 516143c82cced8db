//! The browser's side of the `/live` protocol, as a state machine: decides what to do when something happens to the socket. It
//! has no I/O; time and random numbers are passed in.

use std::collections::BTreeMap;

use api::OperationName;
use api::live::{LiveFrame, LiveRequest, Topic};

use super::ask::MOST_LINES;
use super::news::{Connection, RunNews};

/// The first back-off, in milliseconds. It doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: f64 = 500.0;
const LONGEST_PAUSE: f64 = 15_000.0;

/// The longest pause while the server answers questions, in milliseconds: each attempt asks one, and the answer is all that the page gets.
const LONGEST_BETWEEN_QUESTIONS: f64 = 5_000.0;

/// After so many failed connections, a proxy is probably the reason, and not a server that starts again.
const MANY_FAILURES: u32 = 4;

/// After so many milliseconds without a frame the connection counts as broken. The server sends a heartbeat at least every
/// 20 s.
const SILENCE: f64 = 45_000.0;

/// After so many milliseconds of a handshake the page asks by HTTP meanwhile: some proxies neither pass it on nor refuse it.
const SLOW_HANDSHAKE: f64 = 10_000.0;

/// After so many milliseconds a question counts as lost.
const LONGEST_QUESTION: f64 = 60_000.0;

/// Something that happened.
#[derive(Debug)]
pub(super) enum Input {
    Opened,
    Closed,
    Frame(LiveFrame),
    Want(Topic),
    Unwant(Topic),
    /// `id` distinguishes follows of the same run: after a navigation the new page may start its follow before the old page
    /// has ended its own.
    Follow {
        id: u64,
        run: OperationName,
        from: u64,
        events_from: u64,
    },
    Unfollow {
        id: u64,
    },
    /// The back-off is over, or the browser reports that the network is back.
    Retry,
    /// A timer fires this every few seconds, and the browser when the user comes back to the tab.
    Check,
    /// The server's answer to [`Command::Ask`]; `None` if there was none.
    Answered {
        id: u64,
        answer: Option<Vec<LiveFrame>>,
    },
    /// The user has pressed *Sign out*.
    SigningOut,
}

/// What the hub must do.
#[derive(Debug, PartialEq)]
pub(super) enum Command {
    Open,
    Close,
    Send(LiveRequest),
    RetryIn(f64),
    Bump(Topic),
    Deliver {
        id: u64,
        news: RunNews,
    },
    Show(Connection),
    /// Ask the server by HTTP what the socket would have sent for these requests. The answer also tells whether the session is still valid.
    Ask {
        id: u64,
        requests: Vec<LiveRequest>,
    },
    /// The session has ended: go to the sign-in page, or say it where typed text would be lost.
    SignIn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    /// No component has asked for anything yet.
    Idle,
    Opening,
    Open,
    /// Waiting for the next try.
    Pausing,
    /// The session has ended. No more tries, until an answer shows that the user has signed in again.
    SignedOut,
    /// The user is signing out. No more tries: the end of the session must not lead to the sign-in page, see `closing_for_sign_out`.
    SigningOut,
}

#[derive(Debug)]
struct Follow {
    id: u64,
    next_line: u64,
    next_event: u64,
    /// The line that the last request started from. [`Protocol::ask_again`] doesn't request the same line twice in a row; 0 lets it.
    asked: u64,
    ended: bool,
}

/// The socket's state.
#[derive(Debug)]
pub(super) struct Protocol {
    link: Link,
    topics: BTreeMap<Topic, u32>,
    follows: BTreeMap<OperationName, Follow>,
    /// Failed connections since the last frame.
    failures: u32,
    /// The question whose answer is outstanding, and when it was asked.
    question: Option<(u64, f64)>,
    last_question: u64,
    /// Whether the open question follows an answer that was full.
    is_catching_up: bool,
    /// Whether the server answered the last question, although no socket is open.
    is_answering: bool,
    /// When the link last changed or a frame last came, in milliseconds.
    heard: f64,
}

impl Protocol {
    pub(super) fn new() -> Self {
        Self {
            link: Link::Idle,
            topics: BTreeMap::new(),
            follows: BTreeMap::new(),
            failures: 0,
            question: None,
            last_question: 0,
            is_catching_up: false,
            is_answering: false,
            heard: 0.0,
        }
    }

    /// The commands that follow from `input`, at `now` (milliseconds) and with a random number in `0.0..1.0`.
    pub(super) fn on(&mut self, input: Input, now: f64, random: f64) -> Vec<Command> {
        match input {
            Input::Opened => self.opened(now),
            Input::Closed => self.closed(now, random),
            Input::Frame(frame) => self.frame(frame, now),
            Input::Want(topic) => {
                let count = self.topics.entry(topic).or_default();
                *count += 1;
                if *count == 1 { self.send_or_open(now, |protocol| Some(protocol.all_topics())) } else { Vec::new() }
            }
            Input::Unwant(topic) => {
                let gone = self.topics.get_mut(&topic).is_some_and(|count| {
                    *count -= 1;
                    *count == 0
                });
                if !gone {
                    return Vec::new();
                }
                self.topics.remove(&topic);
                self.if_open(self.all_topics())
            }
            Input::Follow { id, run, from, events_from } => {
                let follow = Follow { id, next_line: from, next_event: events_from, asked: from, ended: false };
                self.follows.insert(run.clone(), follow);
                self.send_or_open(now, |protocol| protocol.request(&run))
            }
            Input::Unfollow { id } => {
                let Some(run) = self.follows.iter().find(|(_, f)| f.id == id).map(|(run, _)| run.clone()) else {
                    return Vec::new();
                };
                self.follows.remove(&run);
                self.if_open(LiveRequest::Unfollow { run })
            }
            Input::Retry if self.link == Link::Pausing => self.open(now),
            Input::Retry => Vec::new(),
            Input::Answered { id, answer } => self.answered(id, answer, now),
            Input::Check if self.link == Link::SignedOut => self.ask(now),
            Input::Check => {
                let silent_for = now - self.heard;
                let is_slow = silent_for > SLOW_HANDSHAKE || self.failures > 1;
                if self.link == Link::Opening && is_slow && silent_for <= SILENCE {
                    let mut commands = vec![Command::Show(self.without_socket())];
                    commands.extend(self.ask(now));
                    return commands;
                }
                if silent_for <= SILENCE || !matches!(self.link, Link::Open | Link::Opening) {
                    return Vec::new();
                }
                let mut commands = vec![Command::Close];
                commands.extend(self.closed(now, random));
                commands
            }
            Input::SigningOut => {
                self.link = Link::SigningOut;
                vec![Command::Close]
            }
        }
    }

    fn open(&mut self, now: f64) -> Vec<Command> {
        self.link = Link::Opening;
        self.heard = now;
        vec![Command::Open]
    }

    /// Sends a new request if the socket is open. Otherwise `opened` will send it.
    fn send_or_open(&mut self, now: f64, request: impl FnOnce(&mut Self) -> Option<LiveRequest>) -> Vec<Command> {
        match self.link {
            Link::Idle => self.open(now),
            Link::Open => request(self).map(Command::Send).into_iter().collect(),
            Link::Opening | Link::Pausing | Link::SignedOut | Link::SigningOut => Vec::new(),
        }
    }

    fn if_open(&self, request: LiveRequest) -> Vec<Command> {
        if self.link == Link::Open { vec![Command::Send(request)] } else { Vec::new() }
    }

    fn all_topics(&self) -> LiveRequest {
        LiveRequest::Topics { topics: self.topics.keys().cloned().collect() }
    }

    /// The request for the rest of a run.
    fn request(&mut self, run: &OperationName) -> Option<LiveRequest> {
        let follow = self.follows.get_mut(run).filter(|follow| !follow.ended)?;
        follow.asked = follow.next_line;
        Some(LiveRequest::Follow { run: run.clone(), from: follow.next_line, events_from: follow.next_event })
    }

    fn opened(&mut self, now: f64) -> Vec<Command> {
        self.link = Link::Open;
        self.heard = now;
        self.is_answering = false;
        let mut commands = vec![Command::Show(Connection::Live)];
        // The server answers with a change of each topic, because something may have changed since the page was loaded.
        if !self.topics.is_empty() {
            commands.push(Command::Send(self.all_topics()));
        }
        let runs: Vec<OperationName> = self.follows.keys().cloned().collect();
        commands.extend(runs.iter().filter_map(|run| self.request(run)).map(Command::Send));
        commands
    }

    fn closed(&mut self, now: f64, random: f64) -> Vec<Command> {
        if !matches!(self.link, Link::Open | Link::Opening) {
            return Vec::new();
        }
        // A handshake that nobody answers takes as long as many that fail.
        self.failures += if self.link == Link::Opening && now - self.heard > SILENCE { MANY_FAILURES } else { 1 };
        self.link = Link::Pausing;
        self.heard = now;
        let longest = if self.is_answering { LONGEST_BETWEEN_QUESTIONS } else { LONGEST_PAUSE };
        let pause = pause(self.failures, longest, random);
        let mut commands = vec![Command::Show(self.without_socket()), Command::RetryIn(pause)];
        // The first retry usually succeeds.
        if self.failures > 1 {
            commands.extend(self.ask(now));
        }
        commands
    }

    /// The state to show while there is no socket.
    fn without_socket(&self) -> Connection {
        if self.is_answering { Connection::Asking { long: self.failures >= MANY_FAILURES } } else { Connection::Lost }
    }

    /// Asks by HTTP for the rest of all runs, unless the last question is still open.
    fn ask(&mut self, now: f64) -> Vec<Command> {
        if self.question.is_some_and(|(_, asked)| now - asked < LONGEST_QUESTION) {
            return Vec::new();
        }
        let id = self.last_question + 1;
        self.last_question = id;
        self.question = Some((id, now));
        let runs: Vec<OperationName> = self.follows.keys().cloned().collect();
        vec![Command::Ask { id, requests: runs.iter().filter_map(|run| self.request(run)).collect() }]
    }

    fn answered(&mut self, id: u64, answer: Option<Vec<LiveFrame>>, now: f64) -> Vec<Command> {
        // A question that counted as lost may have been answered after all.
        if self.question.is_none_or(|(open, _)| open != id) {
            return Vec::new();
        }
        self.question = None;
        // The socket has brought everything meanwhile.
        if !matches!(self.link, Link::Opening | Link::Pausing | Link::SignedOut) {
            return Vec::new();
        }
        if answer.as_ref().is_some_and(|frames| frames.contains(&LiveFrame::SignedOut)) {
            return self.signed_out();
        }
        if self.link == Link::SignedOut {
            return if answer.is_some() { self.open(now) } else { Vec::new() };
        }
        self.is_answering = answer.is_some();
        let mut commands = vec![Command::Show(self.without_socket())];
        if let Some(frames) = answer {
            if !self.is_catching_up {
                commands.extend(self.topics.keys().cloned().map(Command::Bump));
            }
            let has_more = frames
                .iter()
                .any(|frame| matches!(frame, LiveFrame::Lines { lines, .. } if lines.len() >= usize::from(MOST_LINES)));
            for frame in frames {
                // The next question asks again for what is missing. An end without all lines answers the question of an earlier page.
                if !self.lacks_lines(&frame) {
                    let news = self.news(frame);
                    commands.extend(news.into_iter().filter(|command| !matches!(command, Command::Send(_))));
                }
            }
            self.is_catching_up = has_more;
            if has_more {
                commands.extend(self.ask(now));
            }
        }
        commands
    }

    /// Whether the frame is the end of a run whose last lines are not here.
    fn lacks_lines(&self, frame: &LiveFrame) -> bool {
        let LiveFrame::End { run, end } = frame else { return false };
        self.follows.get(run).is_some_and(|follow| follow.next_line <= end.lines)
    }

    /// Repeats the command while the user is signed out: the user may have left what was typed.
    fn signed_out(&mut self) -> Vec<Command> {
        match self.link {
            Link::SigningOut => Vec::new(),
            Link::SignedOut => vec![Command::SignIn],
            _ => {
                self.link = Link::SignedOut;
                vec![Command::Close, Command::SignIn]
            }
        }
    }

    fn frame(&mut self, frame: LiveFrame, now: f64) -> Vec<Command> {
        self.heard = now;
        self.failures = 0;
        self.news(frame)
    }

    fn news(&mut self, frame: LiveFrame) -> Vec<Command> {
        match frame {
            LiveFrame::Changed { topic } if self.topics.contains_key(&topic) => vec![Command::Bump(topic)],
            LiveFrame::Changed { .. } | LiveFrame::Beat => Vec::new(),
            LiveFrame::Lines { run, first, lines } => self.lines(&run, first, lines),
            LiveFrame::Events { run, events } => self.events(&run, events),
            LiveFrame::Gap { run, from, to } => self.gap(&run, from, to),
            LiveFrame::End { run, end } => self.end(&run, end),
            LiveFrame::Interrupted { run, message } => self.no_updates(Some(&run), &message),
            LiveFrame::Refused { message } => self.no_updates(None, &message),
            LiveFrame::SignedOut => self.signed_out(),
        }
    }

    /// `of`: the run that gets no updates, or all of them.
    fn no_updates(&self, of: Option<&OperationName>, message: &str) -> Vec<Command> {
        let waiting = self.follows.iter().filter(|(run, follow)| !follow.ended && of.is_none_or(|of| of == *run));
        waiting.map(|(_, f)| Command::Deliver { id: f.id, news: RunNews::NoUpdates(message.to_owned()) }).collect()
    }

    fn lines(&mut self, run: &OperationName, first: u64, mut lines: Vec<api::log::LogLine>) -> Vec<Command> {
        let Some(follow) = self.follows.get_mut(run) else { return Vec::new() };
        if first > follow.next_line {
            // The lines before these are missing. Request the run from there, and drop these: the server sends them again after
            // the missing ones.
            return self.ask_again(run);
        }
        let known = usize::try_from(follow.next_line - first).unwrap_or(usize::MAX);
        // An empty batch at the next line means that the server follows again, after an interruption.
        let resumes = lines.is_empty() && known == 0;
        if known >= lines.len() && !resumes {
            return Vec::new();
        }
        lines.drain(..known);
        let first = follow.next_line;
        follow.next_line += lines.len() as u64;
        vec![Command::Deliver { id: follow.id, news: RunNews::Lines { first, lines } }]
    }

    fn events(&mut self, run: &OperationName, mut events: Vec<api::run::RunEvent>) -> Vec<Command> {
        let Some(follow) = self.follows.get_mut(run) else { return Vec::new() };
        events.retain(|event| event.n >= follow.next_event);
        let Some(last) = events.last() else { return Vec::new() };
        follow.next_event = last.n + 1;
        vec![Command::Deliver { id: follow.id, news: RunNews::Events(events) }]
    }

    /// The server skipped lines. Requests the run again at once, from the first line that is missing here: the log must not have
    /// a hole. That replaces the server's follow, which would continue at `to`.
    fn gap(&mut self, run: &OperationName, from: u64, to: u64) -> Vec<Command> {
        match self.follows.get_mut(run) {
            Some(follow) if to > follow.next_line => {
                follow.next_line = follow.next_line.max(from);
                follow.asked = 0;
                self.ask_again(run)
            }
            _ => Vec::new(),
        }
    }

    fn end(&mut self, run: &OperationName, end: api::log::LogEnd) -> Vec<Command> {
        let Some(follow) = self.follows.get_mut(run) else { return Vec::new() };
        if follow.ended {
            return Vec::new();
        }
        if follow.next_line <= end.lines && follow.asked != follow.next_line {
            return self.ask_again(run);
        }
        follow.ended = true;
        vec![Command::Deliver { id: follow.id, news: RunNews::End(end) }]
    }

    /// Requests the run from the first missing line, unless that was the last request.
    fn ask_again(&mut self, run: &OperationName) -> Vec<Command> {
        if self.follows.get(run).is_none_or(|follow| follow.asked == follow.next_line) {
            return Vec::new();
        }
        self.request(run).map(Command::Send).into_iter().collect()
    }
}

/// The back-off after so many failures, in milliseconds, at most `longest`. Half of it is random, so that a thousand tabs don't reconnect at the same moment.
fn pause(failures: u32, longest: f64, random: f64) -> f64 {
    let full = (FIRST_PAUSE * 2_f64.powi(i32::try_from(failures.min(10)).unwrap_or(10) - 1)).min(longest);
    full / 2.0 + full / 2.0 * random
}

#[cfg(test)]
#[path = "protocol_tests.rs"]
mod tests;
