//! `/metrics`: figures for Prometheus, on the port of `--health-listen`.
//!
//! That port asks for no sign-in, so no figure names a cluster, an operation or a person.

mod finished;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use controller::Running;
use crd::Phase;
use disk::Room;
use kube::ResourceExt;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use self::finished::Finished;
pub(crate) use self::finished::count;
use crate::panics;
use crate::web::Web;

/// The format of [`Metrics::text`]: <https://prometheus.io/docs/specs/om/open_metrics_spec/>
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// All figures. Counters grow while the server runs; gauges are set when somebody asks.
pub(crate) struct Metrics {
    registry: Registry,
    running: Running,
    finished: Finished,
    operations: Family<InPhase, Gauge>,
    clusters: Gauge,
    oldest_queued: Gauge<f64, AtomicU64>,
    sockets: Gauge,
    disk_full: Gauge,
    panics: Counter,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct InPhase {
    phase: &'static str,
}

impl Metrics {
    pub(crate) fn new(running: Running) -> Self {
        let mut registry = Registry::with_prefix("kubeonkube");
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "The version of the server", build);
        let metrics = Self {
            finished: Finished::register(&mut registry),
            registry,
            running,
            operations: Family::default(),
            clusters: Gauge::default(),
            oldest_queued: Gauge::default(),
            sockets: Gauge::default(),
            disk_full: Gauge::default(),
            panics: Counter::default(),
        };
        metrics.registered()
    }

    fn registered(mut self) -> Self {
        let registry = &mut self.registry;
        registry.register("operations", "Operations that exist, by phase", self.operations.clone());
        registry.register("clusters", "Registered clusters", self.clusters.clone());
        registry.register(
            "oldest_queued_operation_age_seconds",
            "How long the oldest queued operation has waited; 0 if none waits",
            self.oldest_queued.clone(),
        );
        registry.register("live_connections", "Open WebSockets: tabs of signed-in users", self.sockets.clone());
        registry.register("disk_full", "1 if the disk of the data directory is full", self.disk_full.clone());
        registry.register("panics", "Panics of the server, each of which is a bug", self.panics.clone());
        self
    }

    /// The figures of this moment.
    pub(crate) fn text(&self, web: &Web) -> String {
        self.sockets.set(int(web.sockets.len()));
        self.disk_full.set(i64::from(*web.room.borrow() == Room::Full));
        self.encoded()
    }

    fn encoded(&self) -> String {
        self.read_operations();
        self.clusters.set(int(self.running.clusters.state().len()));
        self.panics.inner().store(panics::count(), Ordering::Relaxed);
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("a String takes everything");
        text
    }

    fn read_operations(&self) {
        let phases = [Phase::Pending, Phase::Running, Phase::Succeeded, Phase::Failed];
        let mut phases = BTreeMap::from(phases.map(|phase| (name(phase), 0)));
        let now = jiff::Timestamp::now();
        let mut oldest = 0.0_f64;
        for operation in self.running.operations.state().iter().filter(|operation| !operation::is_record(operation)) {
            let phase = operation::phase(operation);
            *phases.entry(name(phase)).or_default() += 1;
            if let (Phase::Pending, Some(created)) = (phase, operation.creation_timestamp()) {
                oldest = oldest.max((now - created.0).total(jiff::Unit::Second).unwrap_or_default());
            }
        }
        for (phase, operations) in phases {
            self.operations.get_or_create(&InPhase { phase }).set(operations);
        }
        self.oldest_queued.set(oldest);
    }
}

fn name(phase: Phase) -> &'static str {
    match phase {
        Phase::Pending => "queued",
        Phase::Running => "running",
        Phase::Succeeded => "succeeded",
        Phase::Failed => "failed",
    }
}

fn int(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::future::pending;
    use std::panic::{catch_unwind, set_hook, take_hook};

    use http::{Request, Response};
    use kube::client::{Body, Client};
    use tokio_util::sync::CancellationToken;

    use super::*;

    /// The figures of a controller whose API server doesn't answer.
    fn figures() -> Metrics {
        let silent = tower::service_fn(|_: Request<Body>| pending::<Result<Response<Body>, Infallible>>());
        let config = controller::Config::default();
        let (running, _) = controller::start(Client::new(silent, "default"), config, CancellationToken::new());
        Metrics::new(running)
    }

    #[tokio::test]
    async fn a_panic_that_was_caught_is_one_of_the_figures() {
        let figures = figures();
        let before = panics::count();
        // Other tests of this process print their panics, as without this test.
        let hook = take_hook();
        panics::watch();
        let caught = catch_unwind(|| panic!("on purpose"));
        set_hook(hook);
        assert!(caught.is_err());
        let count = panics::count();
        assert!(count > before, "{count} panics were counted, and {before} before");
        let text = figures.encoded();
        assert!(text.contains(&format!("\nkubeonkube_panics_total {count}\n")), "{text}");
    }
}
