//! What came back from the last submission of the page.

use api::Problem;
use leptos::prelude::*;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::json;

/// Fields that are write-only: they never come back to a page, not even to the person who typed them.
const SECRET: &[&str] = &["ssh_key", "ssh_key_file", "token"];

/// A refused submission: the page refills its fields from it and shows the problem at them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormReturn {
    /// The endpoint of the server function.
    pub form: String,
    /// Every field as it was typed.
    pub values: Vec<(String, String)>,
    pub problem: Problem,
}

/// An answered submission that changed nothing yet: a review.
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
    /// The answer as the type that the function returns; None where it is another's.
    #[must_use]
    pub fn answer<T: DeserializeOwned>(&self) -> Option<T> {
        crate::json::read(&self.answer_json).ok()
    }
}

/// Nobody knows whether it was done: the answer got lost, or nothing got through at all.
#[cfg(any(feature = "hydrate", test))]
pub(super) fn unanswered() -> Problem {
    Problem::Unavailable {
        message: "The server's answer didn't arrive, so the change may or may not have been made. Your input is still here. Check the result before you send it again.".into(),
    }
}

/// What an answer says that is no success. One that can't be read is somebody else's: a proxy's page, say, while the server
/// behind it starts again.
#[cfg(any(feature = "hydrate", test))]
pub(super) fn refusal(answer: &str) -> Problem {
    json::read::<crate::Failure>(answer).map_or_else(|_| unanswered(), |failure| failure.0)
}

/// What may be shown again of what was typed.
pub(crate) fn without_secrets(mut values: Vec<(String, String)>) -> Vec<(String, String)> {
    values.retain(|(name, _)| !SECRET.contains(&name.as_str()));
    values
}

/// The last submission, for the whole page. Shared between server and browser, so that hydration sees what was rendered.
#[derive(Clone, Copy)]
pub struct Submission {
    pub refused: RwSignal<Option<FormReturn>>,
    pub answered: RwSignal<Option<FormAnswer>>,
    /// A submission of this page is on its way.
    pub pending: RwSignal<bool>,
    flight: StoredValue<Flight>,
}

/// The submission that is on its way, and the page it belongs to.
#[derive(Debug, Default)]
struct Flight {
    #[cfg(any(feature = "hydrate", test))]
    number: u64,
    /// The path of its page; None while nobody waits for an answer.
    from: Option<String>,
}

impl Flight {
    #[cfg(any(feature = "hydrate", test))]
    fn begins(&mut self, path: &str) -> Option<u64> {
        if self.from.as_deref() == Some(path) {
            return None;
        }
        self.number += 1;
        self.from = Some(path.to_owned());
        Some(self.number)
    }

    #[cfg(any(feature = "hydrate", test))]
    fn is_waited_for(&mut self, number: u64, path: &str) -> bool {
        self.number == number && self.from.take_if(|from| from == path).is_some()
    }

    fn leave_unless(&mut self, path: &str) {
        self.from.take_if(|from| from != path);
    }
}

impl Submission {
    /// Called once, by the app.
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

    /// A form of the page at `path` is sent. None while another one of that page is on its way.
    #[cfg(feature = "hydrate")]
    pub(super) fn begins(self, path: &str) -> Option<u64> {
        let number = self.flight.try_update_value(|flight| flight.begins(path))??;
        self.pending.set(true);
        Some(number)
    }

    /// The answer to submission `number` came: whether somebody waits for it. If not, its page was left.
    #[cfg(feature = "hydrate")]
    pub(super) fn is_waited_for(self, number: u64, path: &str) -> bool {
        let waited = self.flight.try_update_value(|flight| flight.is_waited_for(number, path)) == Some(true);
        waited && self.pending.try_set(false).is_none()
    }

    /// The reader is at `path`: the answer to what another page sent is nobody's.
    pub(super) fn is_at(self, path: &str) {
        self.flight.try_update_value(|flight| flight.leave_unless(path));
        let waits = self.flight.try_with_value(|flight| flight.from.is_some()).unwrap_or_default();
        if !waits && self.pending.try_get_untracked() == Some(true) {
            self.pending.set(false);
        }
    }

    /// Something was submitted after the page was opened, and is shown with what was said of it.
    #[must_use]
    pub fn came_back(self) -> bool {
        self.refused.with(Option::is_some) || self.answered.with(Option::is_some)
    }

    /// Nothing was submitted (any more).
    pub fn clear(self) {
        self.refused.set(None);
        self.answered.set(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_not_ours_says_nothing_of_what_was_done() {
        let problem = refusal("<html><h1>502 Bad Gateway</h1></html>");
        assert!(matches!(&problem, Problem::Unavailable { message } if message.contains("before you send it again")));
        let ours = Problem::field("name", "It is taken.");
        assert_eq!(refusal(&serde_json::to_string(&ours).unwrap()), ours);
    }

    #[test]
    fn one_submission_of_a_page_is_on_its_way_at_a_time() {
        let mut flight = Flight::default();
        let first = flight.begins("/a").expect("nothing is on its way");
        assert_eq!(flight.begins("/a"), None);
        assert!(flight.is_waited_for(first, "/a"));
        assert!(!flight.is_waited_for(first, "/a"), "once");
        assert!(flight.begins("/a").is_some());
    }

    #[test]
    fn an_answer_that_comes_after_its_page_was_left_is_nobodys() {
        let mut flight = Flight::default();
        let first = flight.begins("/a").expect("nothing is on its way");
        assert!(!flight.is_waited_for(first, "/b"));
        flight.leave_unless("/a");
        assert!(flight.is_waited_for(first, "/a"), "a form that was rendered anew is still the page's");
        let second = flight.begins("/a").expect("the first has ended");
        flight.leave_unless("/b");
        let third = flight.begins("/b").expect("another page waits for nothing");
        assert!(!flight.is_waited_for(second, "/b") && !flight.is_waited_for(second, "/a"));
        assert!(flight.is_waited_for(third, "/b"));
    }
}
