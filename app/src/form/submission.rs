//! The last submission of a form on the page, and its answer.

use api::Problem;
use leptos::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::json;

/// Write-only fields. The server never sends their values back, not even to the user who typed them.
const SECRET: &[&str] = &["ssh_key", "ssh_key_file", "secret_value", "token"];

/// A refused submission. The page refills its fields from it and shows the problem at the fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormReturn {
    /// The endpoint of the server function.
    pub form: String,
    /// Every field as it was typed.
    pub values: Vec<(String, String)>,
    pub problem: Problem,
}

/// An answered submission that changed nothing, such as a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormAnswer {
    /// The endpoint of the server function.
    pub form: String,
    /// Every field as it was typed.
    pub values: Vec<(String, String)>,
    /// What the function returned, as JSON.
    pub answer_json: String,
}

impl FormAnswer {
    /// Parses the answer. `None` if another function gave it.
    #[must_use]
    pub fn answer<T: DeserializeOwned>(&self) -> Option<T> {
        crate::json::read(&self.answer_json).ok()
    }
}

/// The problem shown if the server's answer was lost. It is unknown whether the server carried the request out.
#[cfg(any(feature = "hydrate", test))]
pub(super) fn unanswered() -> Problem {
    Problem::Unavailable {
        message: "The server's answer didn't arrive, so the change may or may not have been made. Your input is still here. Check the result before you send it again.".into(),
    }
}

/// The problem in an unsuccessful answer. An unreadable answer comes from a proxy, for example while the server restarts.
#[cfg(any(feature = "hydrate", test))]
pub(super) fn refusal(answer: &str) -> Problem {
    json::read::<crate::Failure>(answer).map_or_else(|_| unanswered(), |failure| failure.0)
}

/// Removes the values of secret fields.
pub(crate) fn without_secrets(mut values: Vec<(String, String)>) -> Vec<(String, String)> {
    values.retain(|(name, _)| !SECRET.contains(&name.as_str()));
    values
}

/// The last submission on the page. The server passes it to the browser, so that hydration renders the same as the server.
#[derive(Clone, Copy)]
pub struct Submission {
    pub refused: RwSignal<Option<FormReturn>>,
    pub answered: RwSignal<Option<FormAnswer>>,
    /// Whether a submission of this page is in progress.
    pub pending: RwSignal<bool>,
    flight: StoredValue<Flight>,
}

/// The submission in progress and its page.
#[derive(Debug, Default)]
struct Flight {
    #[cfg(any(feature = "hydrate", test))]
    number: u64,
    /// The path of its page. `None` if no answer is awaited.
    from: Option<String>,
}

impl Flight {
    #[cfg(any(feature = "hydrate", test))]
    fn start(&mut self, path: &str) -> Option<u64> {
        if self.from.as_deref() == Some(path) {
            return None;
        }
        self.number += 1;
        self.from = Some(path.to_owned());
        Some(self.number)
    }

    #[cfg(any(feature = "hydrate", test))]
    fn finish(&mut self, number: u64, path: &str) -> bool {
        self.number == number && self.from.take_if(|from| from == path).is_some()
    }

    fn drop_unless_at(&mut self, path: &str) {
        self.from.take_if(|from| from != path);
    }
}

impl Submission {
    /// Provides the submission as context. The app calls this once.
    pub(crate) fn provide() {
        let (refused, answered) = json::shared(|| {
            let refused =
                use_context::<FormReturn>().map(|back| FormReturn { values: without_secrets(back.values), ..back });
            let answered =
                use_context::<FormAnswer>().map(|back| FormAnswer { values: without_secrets(back.values), ..back });
            (refused, answered)
        });
        provide_context(Self {
            refused: RwSignal::new(refused),
            answered: RwSignal::new(answered),
            pending: RwSignal::new(false),
            flight: StoredValue::default(),
        });
    }

    /// Starts a submission of the page at `path` and returns its number. `None` if that page already has one in progress.
    #[cfg(feature = "hydrate")]
    pub(super) fn start(self, path: &str) -> Option<u64> {
        let number = self.flight.try_update_value(|flight| flight.start(path))??;
        self.pending.set(true);
        Some(number)
    }

    /// Ends submission `number`. Returns false if the user has left its page, so that the answer must be dropped.
    #[cfg(feature = "hydrate")]
    pub(super) fn finish(self, number: u64, path: &str) -> bool {
        let is_current = self.flight.try_update_value(|flight| flight.finish(number, path)) == Some(true);
        is_current && self.pending.try_set(false).is_none()
    }

    /// Drops the submission in progress, unless it belongs to the page at `path`.
    pub(super) fn drop_unless_at(self, path: &str) {
        self.flight.try_update_value(|flight| flight.drop_unless_at(path));
        let is_pending = self.flight.try_with_value(|flight| flight.from.is_some()).unwrap_or_default();
        if !is_pending && self.pending.try_get_untracked() == Some(true) {
            self.pending.set(false);
        }
    }

    /// The last value of a field in the last submission. Doesn't track the submission.
    #[must_use]
    pub fn value(self, name: &str) -> Option<String> {
        let refused = self.refused.with_untracked(|back| Some(back.as_ref()?.values.clone()));
        let values = refused.or_else(|| self.answered.with_untracked(|back| Some(back.as_ref()?.values.clone())))?;
        values.into_iter().rfind(|(field, _)| field == name).map(|(_, value)| value)
    }

    /// Whether the page shows the result of a submission: a refusal or an answer.
    #[must_use]
    pub fn came_back(self) -> bool {
        self.refused.with(Option::is_some) || self.answered.with(Option::is_some)
    }

    /// Removes the refusal of a user who was signed out, once somebody has signed in again. The fields keep what was typed.
    pub(crate) fn forget_sign_out(self) {
        let is_signed_out =
            |back: &Option<FormReturn>| matches!(back, Some(back) if back.problem == Problem::SignedOut);
        if self.refused.with_untracked(is_signed_out) {
            self.refused.set(None);
        }
    }

    /// Removes the last refusal and answer from the page.
    pub fn clear(self) {
        self.refused.set(None);
        self.answered.set(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreadable_refusal_leaves_the_outcome_unknown() {
        let problem = refusal("<html><h1>502 Bad Gateway</h1></html>");
        assert!(matches!(&problem, Problem::Unavailable { message } if message.contains("before you send it again")));
        let ours = Problem::field("name", "It is taken.");
        assert_eq!(refusal(&serde_json::to_string(&ours).unwrap()), ours);
    }

    #[test]
    fn a_page_has_one_submission_in_progress_at_a_time() {
        let mut flight = Flight::default();
        let first = flight.start("/a").expect("no submission is in progress");
        assert_eq!(flight.start("/a"), None);
        assert!(flight.finish(first, "/a"));
        assert!(!flight.finish(first, "/a"), "it ends only once");
        assert!(flight.start("/a").is_some());
    }

    #[test]
    fn an_answer_is_dropped_after_its_page_was_left() {
        let mut flight = Flight::default();
        let first = flight.start("/a").expect("no submission is in progress");
        assert!(!flight.finish(first, "/b"));
        flight.drop_unless_at("/a");
        assert!(flight.finish(first, "/a"), "a re-rendered form still belongs to the page");
        let second = flight.start("/a").expect("the first has ended");
        flight.drop_unless_at("/b");
        let third = flight.start("/b").expect("the other page has no submission in progress");
        assert!(!flight.finish(second, "/b") && !flight.finish(second, "/a"));
        assert!(flight.finish(third, "/b"));
    }
}
