//! The clients of a port: which are strangers, and which one leaves when the port is full.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// A silent connection stays open at least this long. During a flood this slows accepting down, so that there is time to read the
/// first bytes of honest clients.
const AT_LEAST: Duration = Duration::from_millis(150);

/// The shortest time between two warnings.
const WARN_EVERY: Duration = Duration::from_secs(60);

/// The client of one connection. Each request on it carries it in its extensions.
#[derive(Clone)]
pub struct Peer(Arc<Inner>);

struct Inner {
    port: Arc<Peers>,
    address: IpAddr,
    standing: Mutex<Standing>,
    has_asked: AtomicBool,
    /// Cancelled when the connection must make room.
    closed: CancellationToken,
}

/// How far a client has got. The number is its key among the clients that have got as far.
#[derive(Clone, Copy)]
enum Standing {
    /// No byte has arrived.
    Silent(u64),
    /// It has sent something, perhaps requests, but neither a valid session nor a token.
    Heard(u64),
    SignedIn,
}

/// All clients of a port.
pub(crate) struct Peers {
    port: &'static str,
    places: Arc<Semaphore>,
    /// How many strangers there may be, and how many of them may be silent.
    limit: usize,
    silent_limit: usize,
    strangers: Mutex<Strangers>,
}

/// The connections of strangers, in the order in which they are closed.
#[derive(Default)]
struct Strangers {
    last_key: u64,
    /// With the time of their arrival.
    silent: BTreeMap<u64, (Instant, CancellationToken)>,
    /// Those whose last request is longest ago come first.
    heard: BTreeMap<u64, CancellationToken>,
    closed: u64,
    warned: Option<Instant>,
}

impl Peers {
    /// At most two thirds of the strangers may be silent, and while others wait, at most two thirds may have sent something. So neither
    /// kind of flood keeps out a client that sends its request at once.
    pub(crate) fn new(port: &'static str, connections: usize, strangers: usize) -> Arc<Self> {
        let places = Arc::new(Semaphore::new(connections));
        let silent_limit = (strangers / 3 * 2).max(1);
        Arc::new(Self { port, places, limit: strangers, silent_limit, strangers: Mutex::default() })
    }

    /// A place for a connection that was accepted. If there is none, or if there are too many strangers, the stranger that has been
    /// silent longest is closed. If there are no strangers, waits until another connection ends.
    pub(crate) async fn place(&self) -> OwnedSemaphorePermit {
        while self.is_full() {
            self.close_one().await;
        }
        if let Ok(place) = self.places.clone().try_acquire_owned() {
            return place;
        }
        self.close_one().await;
        self.places.clone().acquire_owned().await.expect("never closed")
    }

    fn is_full(&self) -> bool {
        let strangers = self.strangers.lock();
        strangers.silent.len() >= self.silent_limit || strangers.silent.len() + strangers.heard.len() >= self.limit
    }

    /// Closes the connection that has been silent longest. If few are silent, closes the one whose last request is longest ago.
    pub(crate) async fn close_one(&self) {
        let arrived = self.strangers.lock().silent.values().next().map(|(arrived, _)| *arrived);
        if let Some(arrived) = arrived {
            sleep_until(arrived + AT_LEAST).await;
        }
        let mut strangers = self.strangers.lock();
        let few_are_silent = strangers.silent.len() <= self.limit / 3;
        let oldest = if few_are_silent && !strangers.heard.is_empty() {
            strangers.heard.pop_first().map(|(_, connection)| connection)
        } else {
            strangers.silent.pop_first().map(|(_, (_, connection))| connection)
        };
        let Some(connection) = oldest else { return };
        connection.cancel();
        strangers.closed += 1;
        if strangers.warned.is_none_or(|at| at.elapsed() >= WARN_EVERY) {
            strangers.warned = Some(Instant::now());
            tracing::warn!(
                port = self.port,
                limit = self.limit,
                closed = strangers.closed,
                "too many connections without a session: those that have been silent longest are closed"
            );
        }
    }

    /// A new connection.
    pub(crate) fn arrives(self: &Arc<Self>, address: IpAddr) -> Peer {
        let closed = CancellationToken::new();
        let mut strangers = self.strangers.lock();
        let key = strangers.next_key();
        strangers.silent.insert(key, (Instant::now(), closed.clone()));
        let standing = Mutex::new(Standing::Silent(key));
        Peer(Arc::new(Inner { port: self.clone(), address, standing, has_asked: AtomicBool::new(false), closed }))
    }
}

impl Strangers {
    fn next_key(&mut self) -> u64 {
        self.last_key += 1;
        self.last_key
    }

    /// `None` if the client has signed in or its connection is being closed.
    fn remove(&mut self, standing: Standing) -> Option<CancellationToken> {
        match standing {
            Standing::Silent(key) => self.silent.remove(&key).map(|(_, connection)| connection),
            Standing::Heard(key) => self.heard.remove(&key),
            Standing::SignedIn => None,
        }
    }
}

impl Peer {
    /// The other end of the connection: behind a proxy, the proxy.
    pub fn address(&self) -> IpAddr {
        // A port for both families shows IPv4 as part of IPv6.
        self.0.address.to_canonical()
    }

    /// A request on this connection has shown a valid session or token. From now on the connection isn't closed for others.
    pub fn signed_in(&self) {
        let standing = std::mem::replace(&mut *self.0.standing.lock(), Standing::SignedIn);
        self.0.port.strangers.lock().remove(standing);
    }

    /// The first bytes or the head of a request have arrived.
    pub(crate) fn is_heard(&self) {
        let mut standing = self.0.standing.lock();
        let mut strangers = self.0.port.strangers.lock();
        let Some(connection) = strangers.remove(*standing) else { return };
        let key = strangers.next_key();
        strangers.heard.insert(key, connection);
        *standing = Standing::Heard(key);
    }

    /// The head of a request has arrived.
    pub(crate) fn asks(&self) {
        self.0.has_asked.store(true, Ordering::Relaxed);
        self.is_heard();
    }

    pub(crate) fn has_asked(&self) -> bool {
        self.0.has_asked.load(Ordering::Relaxed)
    }

    /// Resolves when the connection must make room for another one.
    pub(crate) async fn closed(&self) {
        self.0.closed.cancelled().await;
    }

    /// The connection has ended.
    pub(crate) fn leaves(&self) {
        self.signed_in();
    }
}
