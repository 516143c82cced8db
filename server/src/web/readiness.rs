//! What must have started before this server is ready.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The list of what has to start, and whether it has.
#[derive(Debug, Clone, Default)]
pub struct Readiness {
    awaited: Vec<(&'static str, Arc<AtomicBool>)>,
}

/// Opened once, by the part of the server that readiness waits for.
#[derive(Debug, Clone)]
pub struct Gate(Arc<AtomicBool>);

impl Gate {
    pub fn open(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Readiness {
    /// Adds one more thing to wait for. `/readyz` shows the name.
    pub fn awaits(&mut self, what: &'static str) -> Gate {
        let gate = Gate(Arc::default());
        self.awaited.push((what, gate.0.clone()));
        gate
    }

    /// The names of what hasn't started yet.
    pub fn missing(&self) -> Vec<&'static str> {
        self.awaited.iter().filter(|(_, open)| !open.load(Ordering::Acquire)).map(|(what, _)| *what).collect()
    }
}
