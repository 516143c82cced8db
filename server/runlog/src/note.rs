//! Why a run's page has no log to show.

use crd::{ClusterOperation, Phase, condition};

use crate::pod::{PodFacts, PodState};

/// The sentence that a page shows instead of an empty log. `None` if there are lines, or will be soon.
pub(crate) fn note(operation: &ClusterOperation, pod: Option<&PodFacts>, spooled: bool) -> Option<String> {
    let status = operation.status.clone().unwrap_or_default();
    let said = status.message.filter(|m| !m.is_empty());
    match pod.map(|p| &p.state) {
        // The kubelet's message may be a sentence with its own period.
        Some(PodState::Waiting(why)) => {
            return Some(format!("The run has not started: {}.", why.trim_end_matches('.')));
        }
        Some(PodState::Ended { ran: false }) => {
            return Some("The pod ended before its container started, so there is no log.".into());
        }
        Some(_) => return None,
        None if spooled => return None,
        None => {}
    }
    if status.reason.as_deref() == Some(crd::RESTORED) {
        return said;
    }
    Some(match status.status {
        Phase::Pending => {
            let queued = status.conditions.iter().find(|c| c.type_ == condition::QUEUED && c.status == "True");
            let queued = queued.map(|c| c.message.clone()).filter(|m| !m.is_empty());
            queued.or(said).unwrap_or_else(|| "The operation is waiting for the controller.".into())
        }
        Phase::Running => "The run is being prepared. Its pod does not exist yet.".into(),
        Phase::Succeeded | Phase::Failed if status.job_ref.is_some() => {
            "This server has no log: the pod was deleted before its log could be read.".into()
        }
        Phase::Succeeded | Phase::Failed => {
            format!("The operation ended before anything ran. {}", said.unwrap_or_default()).trim_end().to_owned()
        }
    })
}

#[cfg(test)]
mod tests {
    use crd::{ClusterOperationStatus, Fact};

    use super::*;

    fn operation(status: ClusterOperationStatus) -> ClusterOperation {
        ClusterOperation { status: Some(status), ..ClusterOperation::default() }
    }

    #[test]
    fn a_queued_operation_says_what_it_waits_for() {
        let mut status = ClusterOperationStatus::default();
        let now = crd::Time("2026-01-01T00:00:00Z".parse().unwrap());
        crd::upsert(
            &mut status.conditions,
            Fact::new(condition::QUEUED, true, "ClusterBusy", "Waits for grow."),
            &now,
            None,
        );
        assert_eq!(note(&operation(status), None, false).as_deref(), Some("Waits for grow."));
    }

    #[test]
    fn a_sentence_of_the_kubelet_keeps_one_period() {
        let why = "InstallingAnsible: Installing ansible-core. This takes about a minute.";
        let facts = PodFacts {
            namespace: String::new(),
            name: String::new(),
            uid: String::new(),
            job: String::new(),
            operation: String::new(),
            inputs: String::new(),
            state: PodState::Waiting(why.into()),
        };
        let shown = note(&operation(ClusterOperationStatus::default()), Some(&facts), false);
        assert_eq!(shown, Some(format!("The run has not started: {why}")));
    }

    #[test]
    fn a_refused_operation_repeats_the_reason() {
        let status = ClusterOperationStatus {
            status: Phase::Failed,
            message: Some("hosts.yml is empty.".into()),
            ..Default::default()
        };
        assert_eq!(
            note(&operation(status), None, false).as_deref(),
            Some("The operation ended before anything ran. hosts.yml is empty.")
        );
    }
}
