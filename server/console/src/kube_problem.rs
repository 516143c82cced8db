//! Turns errors of the Kubernetes API into problems with sentences for the user.

use std::fmt;
use std::time::Duration;

use api::Problem;
use kube::Error;

/// Timeout of a request.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);

/// The request that failed: `read` `ConfigMap` `lab/prod-hosts-conf`.
#[derive(Debug, Clone)]
pub(crate) struct Doing {
    pub(crate) verb: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) name: String,
}

impl Doing {
    pub(crate) fn new(verb: &'static str, kind: &'static str, name: impl fmt::Display) -> Self {
        Self { verb, kind, name: name.to_string() }
    }
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.verb, self.kind, self.name)
    }
}

/// Waits for the API's answer, with a timeout.
pub(crate) async fn timely<T>(request: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let answered = tokio::time::timeout(ANSWER_WITHIN, request).await;
    answered.unwrap_or_else(|elapsed| Err(Error::Service(Box::new(elapsed))))
}

/// As [`timely`], but an error becomes a [`Problem`].
pub(crate) async fn answer<T>(doing: &Doing, request: impl Future<Output = Result<T, Error>>) -> Result<T, Problem> {
    timely(request).await.map_err(|error| problem(doing, &error))
}

/// The problem to show for an error of the client. `doing` was the request.
pub(crate) fn problem(doing: &Doing, error: &Error) -> Problem {
    let Error::Api(status) = error else {
        if matches!(error, Error::Service(inner) if inner.is::<tokio::time::error::Elapsed>()) {
            let seconds = ANSWER_WITHIN.as_secs();
            return Problem::Unavailable {
                message: format!(
                    "The Kubernetes API did not answer within {seconds} s (to {doing}). Try again in a moment."
                ),
            };
        }
        tracing::warn!(%doing, %error, "a request did not reach the Kubernetes API");
        return Problem::Unavailable {
            message: format!(
                "The Kubernetes API can't be reached (to {doing}). Try again in a moment. See the server's log for details."
            ),
        };
    };
    let said = sentence(&status.message);
    match status.code {
        401 => Problem::SignedOut,
        403 if status.details.as_ref().is_some_and(|d| d.causes.iter().any(|c| c.reason == "NamespaceTerminating")) => {
            Problem::Invalid {
                message: format!("Could not {doing}: its namespace is being deleted."),
                fields: Vec::new(),
            }
        }
        403 => Problem::Forbidden { message: format!("You may not {doing}. The cluster says: {said}") },
        404 => Problem::NotFound { what: doing.kind.to_owned(), name: doing.name.clone() },
        409 => Problem::Unavailable {
            message: format!(
                "{} {} was changed at the same moment. Nothing was done; try again.",
                doing.kind, doing.name
            ),
        },
        // Its message is a sentence about the disk, with what to do.
        507 => Problem::Unavailable { message: format!("Could not {doing}: {said}") },
        413 => Problem::TooLarge { limit: "what the Kubernetes API takes (about 1 MiB)".into() },
        400 | 422 => {
            Problem::Invalid { message: format!("The cluster refused to {doing}: {said}"), fields: Vec::new() }
        }
        408 | 429 | 502..=504 => Problem::Unavailable {
            message: format!("The Kubernetes API is too busy to {doing}. Try again in a moment."),
        },
        code => {
            tracing::warn!(%doing, code, message = status.message, "the Kubernetes API failed");
            Problem::Unavailable { message: format!("The Kubernetes API failed to {doing}: {said}") }
        }
    }
}

/// The API's text as one sentence, cut to a readable length.
fn sentence(text: &str) -> String {
    let mut text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(400).collect();
    if !text.ends_with('.') {
        text.push('.');
    }
    text
}

#[cfg(test)]
mod tests {
    use kube::core::Status;

    use super::*;

    #[test]
    fn errors_of_the_api_become_problems_with_what_and_why() {
        let doing = Doing::new("read", "ConfigMap", "lab/prod");
        let with = |code: u16, reason: &str| {
            problem(
                &doing,
                &Error::Api(Status::failure("configmaps \"prod\" is out of reach", reason).with_code(code).boxed()),
            )
        };
        assert_eq!(with(401, "Unauthorized"), Problem::SignedOut);
        let Problem::Forbidden { message } = with(403, "Forbidden") else { panic!("forbidden") };
        assert_eq!(
            message,
            "You may not read ConfigMap lab/prod. The cluster says: configmaps \"prod\" is out of reach."
        );
        assert!(matches!(with(404, "NotFound"), Problem::NotFound { .. }));
        assert!(matches!(with(422, "Invalid"), Problem::Invalid { .. }));
        assert!(matches!(with(504, "Timeout"), Problem::Unavailable { .. }));
    }
}
