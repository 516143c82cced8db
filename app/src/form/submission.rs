//! What came back from the last submission of the page.

use api::Problem;
use leptos::prelude::*;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

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
        serde_json::from_str(&self.answer_json).ok()
    }
}

fn without_secrets(mut values: Vec<(String, String)>) -> Vec<(String, String)> {
    values.retain(|(name, _)| !SECRET.contains(&name.as_str()));
    values
}

/// The last submission, for the whole page. Shared between server and browser, so that hydration sees what was rendered.
#[derive(Clone, Copy)]
pub struct Submission {
    pub refused: RwSignal<Option<FormReturn>>,
    pub answered: RwSignal<Option<FormAnswer>>,
    /// A submission is on its way.
    pub pending: RwSignal<bool>,
}

impl Submission {
    /// Called once, by the app.
    pub(crate) fn provide() {
        let came_back = SharedValue::new(|| {
            let refused =
                use_context::<FormReturn>().map(|back| FormReturn { values: without_secrets(back.values), ..back });
            let answered =
                use_context::<FormAnswer>().map(|back| FormAnswer { values: without_secrets(back.values), ..back });
            (refused, answered)
        });
        let (refused, answered) = came_back.into_inner();
        provide_context(Self {
            refused: RwSignal::new(refused),
            answered: RwSignal::new(answered),
            pending: RwSignal::new(false),
        });
    }

    /// Nothing was submitted (any more).
    pub fn clear(self) {
        self.refused.set(None);
        self.answered.set(None);
    }
}
