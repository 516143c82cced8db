//! The browser's end of the socket. It carries out what [`Protocol`] decides.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use std::time::Duration;

use api::live::{LiveFrame, Topic};
use api::{OperationName, Problem};
use leptos::ev;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{CloseEvent, Event, MessageEvent, WebSocket};

use super::ask::ask_live;
use super::news::{Connection, RunNews};
use super::protocol::{Command, Input, Protocol};
use crate::{Failure, form, json, routes};

/// How often [`Protocol`] checks how long the server has been silent, and whether the user has signed in again.
const CHECK: Duration = Duration::from_secs(10);

/// A hidden tab waits so many times longer between two tries. It tries at once when the user comes back.
const HIDDEN_PAUSES: f64 = 4.0;

/// The callback of a component that follows a run.
type Sink = Rc<dyn Fn(RunNews)>;

/// The protocol's state, and everything that its commands act on.
pub(super) struct Hub {
    protocol: RefCell<Protocol>,
    connection: RwSignal<Connection>,
    socket: RefCell<Option<Socket>>,
    pause: RefCell<Option<Pause>>,
    ticks: RefCell<HashMap<u64, (Topic, RwSignal<u64>)>>,
    sinks: RefCell<HashMap<u64, Sink>>,
    last_id: Cell<u64>,
}

impl Hub {
    /// Must be called by the app component: the socket closes when the calling component is removed.
    pub(super) fn start(connection: RwSignal<Connection>) -> Rc<Self> {
        let hub = Rc::new(Self {
            protocol: RefCell::new(Protocol::new()),
            connection,
            socket: RefCell::default(),
            pause: RefCell::default(),
            ticks: RefCell::default(),
            sinks: RefCell::default(),
            last_id: Cell::new(0),
        });
        let weak = Rc::downgrade(&hub);
        if let Ok(timer) = set_interval(move || feed(&weak, Input::Check), CHECK) {
            on_cleanup(move || timer.clear());
        }
        let weak = send_wrapper::SendWrapper::new(Rc::downgrade(&hub));
        let back = window_event_listener(ev::focus, move |_| feed(&weak, Input::Check));
        on_cleanup(move || back.remove());
        let weak = send_wrapper::SendWrapper::new(Rc::downgrade(&hub));
        let shown = window_event_listener(ev::visibilitychange, move |_| {
            if !document().hidden() {
                feed(&weak, Input::Retry);
            }
        });
        on_cleanup(move || shown.remove());
        let weak = send_wrapper::SendWrapper::new(Rc::downgrade(&hub));
        let online = window_event_listener(ev::online, move |_| feed(&weak, Input::Retry));
        on_cleanup(move || online.remove());
        let ending = send_wrapper::SendWrapper::new(Rc::downgrade(&hub));
        on_cleanup(move || {
            if let Some(hub) = ending.upgrade() {
                hub.socket.take();
                hub.pause.take();
            }
        });
        hub
    }

    fn feed(self: &Rc<Self>, input: Input) {
        // End the borrow before commands are carried out: a sink may call `feed` again.
        let commands = self.protocol.borrow_mut().on(input, js_sys::Date::now(), js_sys::Math::random());
        for command in commands {
            self.carry_out(command);
        }
    }

    fn carry_out(self: &Rc<Self>, command: Command) {
        match command {
            Command::Open => {
                let socket = Socket::open(&Rc::downgrade(self));
                let failed = socket.is_none();
                *self.socket.borrow_mut() = socket;
                if failed {
                    self.feed(Input::Closed);
                }
            }
            Command::Close => drop(self.socket.take()),
            Command::Send(request) => {
                if let (Some(socket), Ok(text)) = (&*self.socket.borrow(), serde_json::to_string(&request)) {
                    // If the socket can't send, its close event follows.
                    let _ = socket.socket.send_with_str(&text);
                }
            }
            Command::RetryIn(pause) => {
                let pause = if document().hidden() { pause * HIDDEN_PAUSES } else { pause };
                *self.pause.borrow_mut() = Pause::start(&Rc::downgrade(self), pause);
            }
            Command::Bump(topic) => {
                let ticks: Vec<_> =
                    self.ticks.borrow().values().filter(|(t, _)| *t == topic).map(|(_, tick)| *tick).collect();
                for tick in ticks {
                    tick.try_update(|n| *n += 1);
                }
            }
            Command::Deliver { id, news } => {
                let sink = self.sinks.borrow().get(&id).cloned();
                if let Some(sink) = sink {
                    sink(news);
                }
            }
            Command::Show(connection) => {
                self.connection.try_set(connection);
            }
            Command::Ask { id, requests } => {
                let weak = Rc::downgrade(self);
                let requests = serde_json::to_string(&requests).unwrap_or_default();
                spawn_local(async move {
                    let answer = match ask_live(requests).await {
                        Err(Failure(Problem::SignedOut)) => Some(vec![LiveFrame::SignedOut]),
                        other => other.ok(),
                    };
                    feed(&weak, Input::Answered { id, answer });
                });
            }
            Command::SignIn if form::has_typed_text() => {
                if self.connection.try_get_untracked() != Some(Connection::SignedOut) {
                    self.connection.try_set(Connection::SignedOut);
                }
            }
            Command::SignIn => {
                let location = window().location();
                let here =
                    format!("{}{}", location.pathname().unwrap_or_default(), location.search().unwrap_or_default());
                if !here.starts_with(routes::LOGIN) {
                    let _ = location.set_href(&routes::login(&here));
                }
            }
        }
    }

    fn next_id(&self) -> u64 {
        self.last_id.set(self.last_id.get() + 1);
        self.last_id.get()
    }
}

fn feed(hub: &Weak<Hub>, input: Input) {
    if let Some(hub) = hub.upgrade() {
        hub.feed(input);
    }
}

/// The user signs out.
pub(super) fn sign_out(hub: &Rc<Hub>) {
    hub.feed(Input::SigningOut);
}

/// An answer of the server shows that the session has ended.
pub(super) fn signed_out(hub: &Rc<Hub>) {
    hub.feed(Input::Frame(LiveFrame::SignedOut));
}

/// Increments `tick` on changes of `topic` until the calling component is removed.
pub(super) fn want(hub: &Rc<Hub>, topic: Topic, tick: RwSignal<u64>) {
    let id = hub.next_id();
    hub.ticks.borrow_mut().insert(id, (topic.clone(), tick));
    let weak = send_wrapper::SendWrapper::new(Rc::downgrade(hub));
    let wanted = topic.clone();
    // In an effect, which runs after hydration: until then the page must stay as the server rendered it.
    Effect::new(move |_| {
        feed(&weak, Input::Want(wanted.clone()));
        let (weak, wanted) = (weak.clone(), wanted.clone());
        on_cleanup(move || {
            if let Some(hub) = weak.upgrade() {
                hub.ticks.borrow_mut().remove(&id);
                hub.feed(Input::Unwant(wanted));
            }
        });
    });
}

/// Calls `sink` with the updates of the run until the calling component is removed.
pub(super) fn follow(hub: &Rc<Hub>, run: OperationName, from: u64, events_from: u64, sink: impl Fn(RunNews) + 'static) {
    let id = hub.next_id();
    hub.sinks.borrow_mut().insert(id, Rc::new(sink));
    hub.feed(Input::Follow { id, run, from, events_from });
    let weak = send_wrapper::SendWrapper::new(Rc::downgrade(hub));
    on_cleanup(move || {
        if let Some(hub) = weak.upgrade() {
            hub.sinks.borrow_mut().remove(&id);
            hub.feed(Input::Unfollow { id });
        }
    });
}

/// A timer that belongs to the hub. Leptos would cancel its own timer with the component whose code started it.
struct Pause {
    id: i32,
    _over: Closure<dyn FnMut()>,
}

impl Pause {
    fn start(hub: &Weak<Hub>, ms: f64) -> Option<Self> {
        let hub = hub.clone();
        let over = Closure::new(move || feed(&hub, Input::Retry));
        #[expect(clippy::cast_possible_truncation, reason = "pauses are seconds")]
        let id = window()
            .set_timeout_with_callback_and_timeout_and_arguments_0(over.as_ref().unchecked_ref(), ms as i32)
            .ok()?;
        Some(Self { id, _over: over })
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        window().clear_timeout_with_handle(self.id);
    }
}

/// A WebSocket that owns its closures: both are dropped together.
struct Socket {
    socket: WebSocket,
    _opened: Closure<dyn FnMut(Event)>,
    _message: Closure<dyn FnMut(MessageEvent)>,
    _closed: Closure<dyn FnMut(CloseEvent)>,
}

impl Socket {
    fn open(hub: &Weak<Hub>) -> Option<Self> {
        let origin = window().location().origin().ok()?;
        let socket = WebSocket::new(&format!("{}/live", origin.replacen("http", "ws", 1))).ok()?;
        let opened = Closure::new({
            let hub = hub.clone();
            move |_: Event| feed(&hub, Input::Opened)
        });
        let message = Closure::new({
            let hub = hub.clone();
            move |event: MessageEvent| {
                let text = event.data().as_string().unwrap_or_default();
                // Ignore frames that this page doesn't know: the server may be newer.
                if let Ok(frame) = json::read(&text) {
                    feed(&hub, Input::Frame(frame));
                }
            }
        });
        let closed = Closure::new({
            let hub = hub.clone();
            move |_: CloseEvent| feed(&hub, Input::Closed)
        });
        socket.set_onopen(Some(opened.as_ref().unchecked_ref()));
        socket.set_onmessage(Some(message.as_ref().unchecked_ref()));
        socket.set_onclose(Some(closed.as_ref().unchecked_ref()));
        Some(Self { socket, _opened: opened, _message: message, _closed: closed })
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.socket.set_onopen(None);
        self.socket.set_onmessage(None);
        self.socket.set_onclose(None);
        let _ = self.socket.close();
    }
}
