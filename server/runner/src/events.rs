//! Events about Jobs and pods: what `kubectl describe` shows.

use k8s_openapi::api::core::v1::ObjectReference;
use kube::Resource;
use kube::runtime::events::{Event, EventType, Recorder, Reporter};

use crate::pod::NODE;

/// The content of one Event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) warning: bool,
    pub(crate) reason: &'static str,
    pub(crate) note: String,
}

impl Report {
    pub(crate) fn normal(reason: &'static str, note: impl Into<String>) -> Self {
        Self { warning: false, reason, note: note.into() }
    }

    pub(crate) fn warning(reason: &'static str, note: impl Into<String>) -> Self {
        Self { warning: true, reason, note: note.into() }
    }
}

/// Publishes Events in the name of a component of a cluster.
#[derive(Clone)]
pub(crate) struct Reports(Recorder);

impl Reports {
    /// `component` is the one that would publish them in a cluster, such as `kubelet`.
    pub(crate) fn by(client: kube::Client, component: &str) -> Self {
        Self(Recorder::new(client, Reporter { controller: component.into(), instance: Some(NODE.into()) }))
    }

    /// Events are best effort: if one can't be stored, that is only logged.
    pub(crate) async fn publish<K: Resource<DynamicType = ()>>(&self, about: &K, report: &Report) {
        let event = Event {
            type_: if report.warning { EventType::Warning } else { EventType::Normal },
            reason: report.reason.into(),
            note: Some(report.note.chars().take(1000).collect()),
            action: report.reason.into(),
            secondary: None,
        };
        let reference: ObjectReference = about.object_ref(&());
        if let Err(error) = self.0.publish(&event, &reference).await {
            tracing::debug!(%error, reason = report.reason, "an event could not be stored");
        }
    }
}
