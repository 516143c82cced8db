//! The limits of a port.

use std::time::Duration;

/// What a port allows.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The name of the port in the log.
    pub port: &'static str,
    /// The number of open connections. Further clients wait.
    pub connections: usize,
    /// How many of them may be strangers: connections without a request that showed a valid session or token.
    pub strangers: usize,
    /// From accepting a connection to the end of the head of its first request, TLS handshake included.
    pub first_request: Duration,
    /// From an answer to the end of the head of the next request.
    pub next_request: Duration,
    /// The longest pause in a request's body. A body also has only this time, plus one second per KiB that has arrived.
    pub body: Duration,
    /// How long the client may accept no data of an answer.
    pub write: Duration,
    /// At the stop: how long requests that are being answered may take to end.
    pub grace: Duration,
}

/// The most connections of one port, however many descriptors the process has.
const MOST: u64 = 4096;

impl Limits {
    /// The console: half of the process's `descriptors`. A browser opens up to six connections, and one more for each tab.
    pub fn console(descriptors: u64) -> Self {
        Self::with_connections("console", descriptors / 2)
    }

    /// The Kubernetes port: a quarter of the process's `descriptors`. Each watch needs a connection.
    pub fn kubernetes(descriptors: u64) -> Self {
        // Most requests need milliseconds; watches and followed logs never end.
        Self { grace: Duration::from_secs(1), ..Self::with_connections("Kubernetes", descriptors / 4) }
    }

    /// A port for probes. All its clients are strangers, and a kubelet opens a connection for each probe.
    pub fn probes() -> Self {
        Self { grace: Duration::from_secs(1), ..Self::with_connections("probes", 16) }
    }

    /// A quarter of the connections is kept for people who are signed in.
    fn with_connections(port: &'static str, share: u64) -> Self {
        let connections = usize::try_from(share.clamp(8, MOST)).expect("a small number");
        Self {
            port,
            connections,
            strangers: connections / 4 * 3,
            first_request: Duration::from_secs(10),
            next_request: Duration::from_secs(60),
            body: Duration::from_secs(30),
            write: Duration::from_secs(60),
            grace: Duration::from_secs(10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ports_leave_a_quarter_of_the_descriptors() {
        for descriptors in [256, 1024, 20_000, 1 << 30] {
            let (console, kubernetes) = (Limits::console(descriptors), Limits::kubernetes(descriptors));
            let open = (console.connections + kubernetes.connections) as u64;
            assert!(open <= descriptors / 4 * 3, "{descriptors}: {open}");
            for limits in [console, kubernetes] {
                assert!(limits.strangers < limits.connections, "{descriptors}: {limits:?}");
            }
        }
    }
}
