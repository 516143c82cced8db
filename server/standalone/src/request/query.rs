//! The query of a request's URL.

use crate::failure::Failure;

/// Pairs of name and value. kube-rs starts its queries with an empty pair (`?&limit=500`), which is dropped.
#[derive(Debug, Default, Clone)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn parse(text: &str) -> Self {
        Self(form_urlencoded::parse(text.as_bytes()).into_owned().filter(|(name, _)| !name.is_empty()).collect())
    }

    /// All values of `name`, also empty ones.
    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        self.0.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str()).collect()
    }

    /// The first value of `name`, as in the API server. An empty one counts as absent.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.all(name).first().copied().filter(|value| !value.is_empty())
    }

    /// False if `0` or `false`, otherwise true, as in the API server: `?watch` is true, too.
    pub(crate) fn switch(&self, name: &str) -> Option<bool> {
        self.all(name).first().map(|value| *value != "0" && !value.eq_ignore_ascii_case("false"))
    }

    /// Like [`Query::switch`], and false if absent.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.switch(name).unwrap_or_default()
    }

    /// A whole number. Anything else is a 400 that names the parameter.
    pub(crate) fn number(&self, name: &str) -> Result<Option<i64>, Failure> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let parsed = text.parse().map(Some);
        parsed.map_err(|_| Failure::bad_request(format!("{name} must be a whole number, not {text:?}")))
    }
}
