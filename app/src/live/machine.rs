//! What to do when something happens to the socket. No I/O, no clock, no chance: those come in as values.

use std::collections::BTreeMap;

use api::{
    OperationName,
    live::{LiveFrame, LiveRequest, Topic},
};

use super::{Connection, RunNews};

/// First pause before another try, in milliseconds; it doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: f64 = 500.0;
const LONGEST_PAUSE: f64 = 15_000.0;

/// The server beats at least every 20 s: after this long without a frame, in milliseconds, nobody is there.
const SILENCE: f64 = 45_000.0;

/// Something that happened.
#[derive(Debug)]
pub(super) enum Input {
    Opened,
    Closed,
    Frame(LiveFrame),
    Want(Topic),
    Unwant(Topic),
    /// `id` tells this follow from others of the same run: the page that comes may ask before the page that goes has ended.
    Follow {
        id: u64,
        run: OperationName,
        from: u64,
        events_from: u64,
    },
    Unfollow {
        id: u64,
    },
    /// The pause is over, or the browser says that the network is back.
    Retry,
    /// Comes every few seconds.
    Look,
    /// The session has ended.
    SignedOut,
}

/// Something to do.
#[derive(Debug, PartialEq)]
pub(super) enum Command {
    Open,
    Close,
    Send(LiveRequest),
    RetryIn(f64),
    Bump(Topic),
    Tell {
        id: u64,
        news: RunNews,
    },
    Show(Connection),
    /// Ask whether the session still stands.
    CheckSession,
    /// Lead to the sign-in page.
    SignIn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    /// Nothing was asked for yet.
    Idle,
    Opening,
    Open,
    /// Waits for the next try.
    Pausing,
    /// Signed out: no more tries.
    Over,
}

#[derive(Debug)]
struct Follow {
    id: u64,
    next_line: u64,
    next_event: u64,
    /// The line from which it was asked for last: asking again from the same one helps nobody.
    asked: u64,
    ended: bool,
}

/// The socket's state.
#[derive(Debug)]
pub(super) struct Machine {
    link: Link,
    topics: BTreeMap<Topic, u32>,
    follows: BTreeMap<OperationName, Follow>,
    /// Tries without a frame since.
    failures: u32,
    /// When the link changed or a frame came, in milliseconds.
    heard: f64,
}

impl Machine {
    pub(super) fn new() -> Self {
        Self { link: Link::Idle, topics: BTreeMap::new(), follows: BTreeMap::new(), failures: 0, heard: 0.0 }
    }

    /// What `input` asks for, at `now` (milliseconds) and with a random number of `0.0..1.0`.
    pub(super) fn on(&mut self, input: Input, now: f64, random: f64) -> Vec<Command> {
        match input {
            Input::Opened => self.opened(now),
            Input::Closed => self.closed(now, random),
            Input::Frame(frame) => self.frame(frame, now),
            Input::Want(topic) => {
                let count = self.topics.entry(topic).or_default();
                *count += 1;
                if *count == 1 { self.wish(now, |machine| Some(machine.all_topics())) } else { Vec::new() }
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
                self.wish(now, |machine| machine.ask(&run))
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
            Input::Look => {
                let silent = now - self.heard > SILENCE && matches!(self.link, Link::Open | Link::Opening);
                if !silent {
                    return Vec::new();
                }
                let mut commands = vec![Command::Close];
                commands.extend(self.closed(now, random));
                commands
            }
            Input::SignedOut => self.signed_out(),
        }
    }

    fn open(&mut self, now: f64) -> Vec<Command> {
        self.link = Link::Opening;
        self.heard = now;
        vec![Command::Open]
    }

    /// Something new is wanted: it is asked for now, or when the socket is open.
    fn wish(&mut self, now: f64, request: impl FnOnce(&mut Self) -> Option<LiveRequest>) -> Vec<Command> {
        match self.link {
            Link::Idle => self.open(now),
            Link::Open => request(self).map(Command::Send).into_iter().collect(),
            Link::Opening | Link::Pausing | Link::Over => Vec::new(),
        }
    }

    fn if_open(&self, request: LiveRequest) -> Vec<Command> {
        if self.link == Link::Open { vec![Command::Send(request)] } else { Vec::new() }
    }

    fn all_topics(&self) -> LiveRequest {
        LiveRequest::Topics { topics: self.topics.keys().cloned().collect() }
    }

    /// Asks for what is still to come of a run.
    fn ask(&mut self, run: &OperationName) -> Option<LiveRequest> {
        let follow = self.follows.get_mut(run).filter(|follow| !follow.ended)?;
        follow.asked = follow.next_line;
        Some(LiveRequest::Follow { run: run.clone(), from: follow.next_line, events_from: follow.next_event })
    }

    fn opened(&mut self, now: f64) -> Vec<Command> {
        self.link = Link::Open;
        self.heard = now;
        let mut commands = vec![Command::Show(Connection::Live)];
        // The server answers with a change of each: something may have changed between the page's answer and now.
        if !self.topics.is_empty() {
            commands.push(Command::Send(self.all_topics()));
        }
        let runs: Vec<OperationName> = self.follows.keys().cloned().collect();
        commands.extend(runs.iter().filter_map(|run| self.ask(run)).map(Command::Send));
        commands
    }

    fn closed(&mut self, now: f64, random: f64) -> Vec<Command> {
        if !matches!(self.link, Link::Open | Link::Opening) {
            return Vec::new();
        }
        self.link = Link::Pausing;
        self.heard = now;
        self.failures += 1;
        let mut commands = vec![Command::Show(Connection::Lost), Command::RetryIn(pause(self.failures, random))];
        // A refused upgrade looks like any other cut.
        if self.failures % 3 == 2 {
            commands.push(Command::CheckSession);
        }
        commands
    }

    fn signed_out(&mut self) -> Vec<Command> {
        if self.link == Link::Over {
            return Vec::new();
        }
        self.link = Link::Over;
        vec![Command::Close, Command::SignIn]
    }

    fn frame(&mut self, frame: LiveFrame, now: f64) -> Vec<Command> {
        self.heard = now;
        self.failures = 0;
        match frame {
            LiveFrame::Changed { topic } if self.topics.contains_key(&topic) => vec![Command::Bump(topic)],
            LiveFrame::Changed { .. } | LiveFrame::Beat => Vec::new(),
            LiveFrame::Lines { run, first, lines } => self.lines(&run, first, lines),
            LiveFrame::Events { run, events } => self.events(&run, events),
            LiveFrame::Gap { run, from, to } => self.gap(&run, from, to),
            LiveFrame::End { run, end } => self.end(&run, end),
            LiveFrame::Refused { message } => {
                let waiting = self.follows.values().filter(|follow| !follow.ended);
                waiting.map(|f| Command::Tell { id: f.id, news: RunNews::Refused(message.clone()) }).collect()
            }
            LiveFrame::SignedOut => self.signed_out(),
        }
    }

    fn lines(&mut self, run: &OperationName, first: u64, mut lines: Vec<api::log::LogLine>) -> Vec<Command> {
        let Some(follow) = self.follows.get_mut(run) else { return Vec::new() };
        if first > follow.next_line {
            // Something between was lost on the way. These lines come again after it.
            return self.ask_again(run);
        }
        let known = usize::try_from(follow.next_line - first).unwrap_or(usize::MAX);
        // No lines where the next ones would be: the server follows again, after it said why it couldn't.
        let goes_on = lines.is_empty() && known == 0;
        if known >= lines.len() && !goes_on {
            return Vec::new();
        }
        lines.drain(..known);
        let first = follow.next_line;
        follow.next_line += lines.len() as u64;
        vec![Command::Tell { id: follow.id, news: RunNews::Lines { first, lines } }]
    }

    fn events(&mut self, run: &OperationName, mut events: Vec<api::run::RunEvent>) -> Vec<Command> {
        let Some(follow) = self.follows.get_mut(run) else { return Vec::new() };
        events.retain(|event| event.n >= follow.next_event);
        let Some(last) = events.last() else { return Vec::new() };
        follow.next_event = last.n + 1;
        vec![Command::Tell { id: follow.id, news: RunNews::Events(events) }]
    }

    /// The server left lines out. Those before `next_line` are here already; the rest it sends when it is asked.
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
        vec![Command::Tell { id: follow.id, news: RunNews::End(end) }]
    }

    /// Asks from the first line that is missing, once.
    fn ask_again(&mut self, run: &OperationName) -> Vec<Command> {
        if self.follows.get(run).is_none_or(|follow| follow.asked == follow.next_line) {
            return Vec::new();
        }
        self.ask(run).map(Command::Send).into_iter().collect()
    }
}

/// The pause after so many failures: it doubles, and half of it is chance, so that a thousand tabs don't come back at once.
fn pause(failures: u32, random: f64) -> f64 {
    let full = (FIRST_PAUSE * 2_f64.powi(i32::try_from(failures.min(10)).unwrap_or(10) - 1)).min(LONGEST_PAUSE);
    full / 2.0 + full / 2.0 * random
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
