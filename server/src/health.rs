//! `/healthz`: the process answers. `/readyz`: everything it needs is there.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use http::StatusCode;

use crate::router::Web;

/// What has to be there before this server can be of use, and after which event it no longer is.
#[derive(Debug, Clone, Default)]
pub struct Readiness {
    awaited: Vec<(&'static str, Arc<AtomicBool>)>,
}

/// Opened once by whoever provides what is awaited.
#[derive(Debug, Clone)]
pub struct Gate(Arc<AtomicBool>);

impl Gate {
    pub fn open(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Readiness {
    /// Awaits one more thing, named as `/readyz` says it.
    pub fn awaits(&mut self, what: &'static str) -> Gate {
        let gate = Gate(Arc::default());
        self.awaited.push((what, gate.0.clone()));
        gate
    }

    /// What is still missing.
    pub fn missing(&self) -> Vec<&'static str> {
        self.awaited.iter().filter(|(_, open)| !open.load(Ordering::Acquire)).map(|(what, _)| *what).collect()
    }
}

pub async fn healthz() -> &'static str {
    "ok\n"
}

pub async fn readyz(State(web): State<Arc<Web>>) -> Response {
    let missing = web.readiness.missing();
    if web.stop.is_cancelled() {
        (StatusCode::SERVICE_UNAVAILABLE, "stopping\n").into_response()
    } else if missing.is_empty() {
        "ok\n".into_response()
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, format!("waiting for: {}\n", missing.join(", "))).into_response()
    }
}
