//! The part of the page's [`Submission`] that belongs to one form.

use api::Problem;
use leptos::prelude::*;

use super::submission::{FormAnswer, FormReturn, Submission};

/// The form around a field: the functions it calls and their last answer. A `Form` provides it as context.
#[derive(Clone, Copy)]
pub struct FormScope {
    pub(super) id: &'static str,
    pub(super) functions: StoredValue<Vec<&'static str>>,
    /// The hidden field that distinguishes two forms of the same function.
    pub(super) only: Option<(&'static str, &'static str)>,
    /// Names of the choices that decide which fields the form shows.
    pub(super) kinds: &'static [&'static str],
    pub(super) submission: Submission,
    /// Names of the fields that show their own problem.
    pub(super) shown: StoredValue<Vec<String>>,
}

impl FormScope {
    /// The `id` of a field.
    #[must_use]
    pub fn id_of(&self, name: &str) -> String {
        format!("{}-{name}", self.id)
    }

    fn is_mine(&self, form: &str, values: &[(String, String)]) -> bool {
        let here = |(name, value): (&str, &str)| values.iter().any(|(n, v)| n == name && v == value);
        self.functions.with_value(|mine| mine.contains(&form)) && self.only.is_none_or(here)
    }

    /// The refusal, if the last submission was of this form and was refused.
    #[must_use]
    pub fn refused(&self) -> Option<FormReturn> {
        self.submission.refused.get().filter(|back| self.is_mine(&back.form, &back.values))
    }

    pub(super) fn refused_untracked(&self) -> bool {
        untrack(|| self.refused().is_some())
    }

    /// The kind that a refused submission had chosen.
    pub(super) fn kind(&self) -> Option<String> {
        let name = self.kinds.first()?;
        self.refused()?.values.into_iter().rfind(|(field, _)| field == name).map(|(_, value)| value)
    }

    /// The answer, if the last submission was of this form and was answered.
    #[must_use]
    pub fn answered(&self) -> Option<FormAnswer> {
        self.submission.answered.get().filter(|back| self.is_mine(&back.form, &back.values))
    }

    /// The error message for a field.
    #[must_use]
    pub fn message(&self, name: &str) -> Option<String> {
        let Problem::Invalid { fields, .. } = self.refused()?.problem else { return None };
        fields.into_iter().find(|problem| same_field(&problem.field, name)).map(|problem| problem.message)
    }

    /// Declares that the field `name` shows its own problem, so that [`FormEnd`](super::FormEnd) doesn't repeat it.
    pub fn claim(&self, name: &str) {
        self.shown.update_value(|shown| shown.push(name.to_owned()));
    }

    /// What [`FormEnd`](super::FormEnd) shows: one sentence, and the messages of fields that don't show their own.
    pub(super) fn summary(&self, problem: &Problem) -> (String, Vec<String>) {
        let Problem::Invalid { message, fields } = problem else { return (problem.to_string(), Vec::new()) };
        let shows_own = |field: &str| self.shown.with_value(|shown| shown.iter().any(|s| same_field(s, field)));
        let elsewhere: Vec<_> = fields.iter().filter(|f| !shows_own(&f.field)).map(|f| f.message.clone()).collect();
        match (fields.len(), elsewhere.len()) {
            (1, 0) => ("1 field is invalid. Nothing was changed.".into(), Vec::new()),
            (1, _) => (message.clone(), Vec::new()),
            _ => (message.clone(), elsewhere),
        }
    }

    /// The value of a hidden field in the last submission of this form. Tracks the submission.
    #[must_use]
    pub fn submitted(&self, name: &str) -> Option<String> {
        let values = self.refused().map(|back| back.values).or_else(|| self.answered().map(|back| back.values))?;
        values.into_iter().rfind(|(n, _)| n == name).map(|(_, value)| value)
    }

    /// All submitted values, if this form was refused or answered. Doesn't track the submission.
    #[must_use]
    pub fn typed(&self) -> Option<Vec<(String, String)>> {
        untrack(|| self.refused().map(|back| back.values).or_else(|| self.answered().map(|back| back.values)))
    }

    /// The submitted value of a field, as in [`Self::typed`]; the last one if there are several.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<String> {
        self.typed()?.into_iter().rfind(|(n, _)| n == name).map(|(_, value)| value)
    }
}

/// Whether two names mean the same field, as `machines[3][address]`, `machines[3].address` and `machines.3.address` do.
fn same_field(a: &str, b: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        text.split(['[', ']', '.']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    a == b || words(a) == words(b)
}
