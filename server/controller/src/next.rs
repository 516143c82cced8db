//! The steps of an operation's reconcile.

use std::sync::Arc;
use std::time::Duration;

use crd::{Cluster, ClusterOperation};
use k8s_openapi::api::batch::v1::Job;
use kube::runtime::controller::Action;

use crate::inputs::plan::Plan;
use crate::status::outcome::Outcome;
use crate::status::refusal::Refusal;

/// What comes next. A stage returns it, and [`crate::reconcile`] calls the stage that it names; stages never call each other.
#[derive(Debug)]
pub(crate) enum Next {
    /// The reconcile has ended; the action says when to start another one.
    Return(Action),
    /// Continue with a newer version of the operation, which the API has just returned.
    With(Box<ClusterOperation>, Box<Self>),

    /// The operation doesn't have the turn: take it, wait, or refuse.
    TakeTurn,
    /// The operation has the turn of this Cluster, but its inputs are not read yet.
    Prepare(Arc<Cluster>),
    /// The operation has the turn and its inputs are checked: create snapshot and Job.
    Create(Arc<Cluster>, Box<Plan>),
    /// The operation may have the turn, and a process stopped before the Job was seen: ask the API.
    Resume,
    /// This Job exists, or its placeholder.
    Observe(Arc<Job>),
    /// The Job existed and is gone.
    Lost,

    /// Say what the operation waits for.
    Wait(Wait),
    /// Keep the turn, and say why the operation can neither start nor end.
    Hold(Hold),

    /// End an operation that doesn't have the turn. The Cluster is the one that the refusal was decided on.
    Refuse(Option<Arc<Cluster>>, Box<Refusal>),
    /// End an operation that has the turn and no Job: occupy the Job's name first. The Cluster is the one that the end was decided
    /// on, if that may be newer than the stores.
    Abandon(Option<Arc<Cluster>>, Box<Outcome>),
    /// Record the result. `stopped`: nothing of the operation runs, and nothing will start.
    Record { outcome: Box<Outcome>, stopped: bool },
    /// The result is recorded: show it in the status and in the Cluster's history.
    Publish { stopped: bool },
    /// The operation had ended before this reconcile: write what is missing.
    Repair,
    /// Another client wrote a result on an operation that has not ended: say that it is ignored.
    Ignore,
}

/// What an operation waits for.
#[derive(Debug)]
pub(crate) struct Wait {
    /// CamelCase, for `status.reason`.
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    /// When to look again, for what causes no watch event.
    pub(crate) again: Option<Duration>,
}

/// Why an operation with the turn is stuck.
#[derive(Debug)]
pub(crate) struct Hold {
    /// CamelCase, for `status.reason`.
    pub(crate) reason: &'static str,
    /// May quote the API and is shortened.
    pub(crate) why: String,
    /// What the user can do; shown in full.
    pub(crate) advice: String,
}

impl Next {
    /// Nothing more to do until a watch reports a change.
    pub(crate) fn when_changed() -> Self {
        Self::Return(Action::await_change())
    }

    /// Reconcile again after `pause`, or earlier if a watch reports a change.
    pub(crate) fn again_after(pause: Duration) -> Self {
        Self::Return(Action::requeue(pause))
    }

    /// Record `outcome`. `stopped`: nothing of the operation runs, and nothing will start.
    pub(crate) fn record(outcome: Outcome, stopped: bool) -> Self {
        Self::Record { outcome: outcome.into(), stopped }
    }

    /// The same step, with a newer version of the operation.
    pub(crate) fn with(self, operation: ClusterOperation) -> Self {
        Self::With(operation.into(), self.into())
    }
}
