//! What evicting the pods of a node would meet, in sentences. Pure.

use managed::{Budget, Evictions};

use crate::listed;

/// At most this many names in a sentence.
const NAMED: usize = 5;

/// The sentences about `node`; those about PodDisruptionBudgets come first, because they stop the operation.
pub(super) fn sentences(node: &str, found: &Evictions) -> Vec<String> {
    let mut sentences: Vec<String> = found.blocking.iter().map(blocked).collect();
    sentences.push(match found.pods.as_slice() {
        [] => format!("No pod on {node} has to be evicted now."),
        [one] => format!("1 pod on {node} is evicted: {one}."),
        pods => format!("{} pods on {node} are evicted: {}.", pods.len(), listed(pods)),
    });
    if !found.local.is_empty() {
        sentences.push(format!("Data in emptyDir volumes is lost of {}.", listed(&found.local)));
    }
    match found.lost.as_slice() {
        [] => {}
        [one] => sentences.push(format!("{one} belongs to no controller, so it is deleted and doesn't start again.")),
        several => sentences.push(format!(
            "These belong to no controller, so they are deleted and don't start again: {}.",
            listed(several)
        )),
    }
    sentences
}

fn blocked(budget: &Budget) -> String {
    let Budget { name, healthy, needed, .. } = budget;
    let healthy = api::count(u64::try_from(*healthy).unwrap_or_default(), "pod is healthy", "pods are healthy");
    format!(
        "The PodDisruptionBudget {name} allows no eviction now: {healthy}, and {needed} must stay so. The operation waits, and fails if that stays so. Add replicas or relax the budget first."
    )
}

fn listed(names: &[String]) -> String {
    listed::listed(names, NAMED, "more")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (1..=count).map(|number| format!("shop/web-{number}")).collect()
    }

    #[test]
    fn what_stops_the_operation_comes_first() {
        let budget = Budget { name: "shop/web".into(), healthy: 1, needed: 1, pods: names(1) };
        let (pods, lost, local, blocking) = (names(2), names(1), names(7), vec![budget]);
        let found = Evictions { pods, lost, local, blocking, ending: vec![] };
        let sentences = sentences("w1", &found);
        assert!(
            sentences[0]
                .starts_with("The PodDisruptionBudget shop/web allows no eviction now: 1 pod is healthy, and 1")
        );
        assert_eq!(sentences[1], "2 pods on w1 are evicted: shop/web-1 and shop/web-2.");
        assert!(sentences[2].ends_with("shop/web-5 and 2 more."), "{sentences:?}");
        assert_eq!(sentences[3], "shop/web-1 belongs to no controller, so it is deleted and doesn't start again.");
    }

    #[test]
    fn an_empty_node_is_told() {
        assert_eq!(sentences("w1", &Evictions::default()), ["No pod on w1 has to be evicted now."]);
    }
}
