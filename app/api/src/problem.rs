//! The errors that pages show to users.

use serde::{Deserialize, Serialize};

/// Why a request failed. Every text is written for the user: what happened, why, what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Problem {
    /// 401: there is no session, or it has ended.
    #[error("You are signed out. Sign in and try again; what you typed is still here.")]
    SignedOut,
    /// 403: the user may not do this.
    #[error("{message}")]
    Forbidden { message: String },
    /// 404: the object doesn't exist.
    #[error("There is no {what} called “{name}”. It may have been deleted.")]
    NotFound { what: String, name: String },
    /// 409: the document has changed since the user opened it. Holds both texts, so that neither is lost.
    #[error("{what} was changed by someone else after you opened it. Nothing was saved.")]
    Conflict { what: String, theirs: String, yours: String, version: String },
    /// 422: the input is invalid; nothing was changed.
    #[error("{message}")]
    Invalid { message: String, fields: Vec<FieldProblem> },
    /// 400: the request is malformed, for example by a missing argument or an invalid encoding.
    #[error("{message}")]
    BadRequest { message: String },
    /// 413: the request is too large.
    #[error("This is larger than {limit}. Nothing was changed.")]
    TooLarge { limit: String },
    /// 503: the Kubernetes API or another service doesn't answer.
    #[error("{message}")]
    Unavailable { message: String },
    /// 500: an internal error. The server's log has the details.
    #[error("Something went wrong in kubeonkube itself. The server's log has the details.")]
    Internal,
}

/// An invalid field of a form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldProblem {
    /// The `name` of the input.
    pub field: String,
    /// The sentence shown at the field.
    pub message: String,
}

impl Problem {
    /// A problem with one field.
    #[expect(clippy::needless_pass_by_value, reason = "callers hand over an error they just made")]
    pub fn field(field: impl Into<String>, message: impl ToString) -> Self {
        let message = message.to_string();
        Self::Invalid { message: message.clone(), fields: vec![FieldProblem { field: field.into(), message }] }
    }

    /// A problem with these fields; `None` if there are none.
    #[must_use]
    pub fn fields(fields: Vec<FieldProblem>) -> Option<Self> {
        let message = match fields.as_slice() {
            [] => return None,
            [one] => one.message.clone(),
            many => format!("{} fields are invalid. Nothing was changed.", many.len()),
        };
        Some(Self::Invalid { message, fields })
    }

    /// The HTTP status of this problem.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self {
            Self::SignedOut => 401,
            Self::Forbidden { .. } => 403,
            Self::NotFound { .. } => 404,
            Self::Conflict { .. } => 409,
            Self::Invalid { .. } => 422,
            Self::BadRequest { .. } => 400,
            Self::TooLarge { .. } => 413,
            Self::Unavailable { .. } => 503,
            Self::Internal => 500,
        }
    }

    /// The sentence for `field`, if it has one.
    #[must_use]
    pub fn at(&self, field: &str) -> Option<&str> {
        match self {
            Self::Invalid { fields, .. } => fields.iter().find(|f| f.field == field).map(|f| f.message.as_str()),
            _ => None,
        }
    }
}

impl From<crate::NameError> for Problem {
    fn from(error: crate::NameError) -> Self {
        Self::field("name", error)
    }
}
