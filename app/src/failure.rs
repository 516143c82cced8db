//! The error type of all server functions: a [`Problem`], sent as JSON with its HTTP status.

use api::Problem;
use leptos::prelude::{FromServerFnError, ServerFnErrorErr};
use serde::{Deserialize, Serialize};

use crate::json::encoding::JsonText;

/// A [`Problem`] as the error of a server function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Failure(pub Problem);

impl FromServerFnError for Failure {
    type Encoder = JsonText;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        use ServerFnErrorErr as E;
        Self(match error {
            E::Args(detail) if detail.contains("length limit") => Problem::TooLarge { limit: "2 MiB".into() },
            // In the browser this error is about the answer, for instance the page of a proxy while the server restarts.
            E::Deserialization(_) | E::Response(_) if cfg!(not(feature = "ssr")) => Problem::Unavailable {
                message: "The server's answer can't be read. It may be restarting. Try again.".into(),
            },
            E::Args(detail) | E::MissingArg(detail) | E::Deserialization(detail) => {
                Problem::BadRequest { message: format!("The request can't be read: {detail}. Nothing was changed.") }
            }
            E::Request(_) => Problem::Unavailable {
                message: "The server can't be reached. Check that it is running, then try again.".into(),
            },
            _ => Problem::Internal,
        })
    }

    fn status_code(&self) -> http::StatusCode {
        self.0.status().try_into().unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl<E: Into<Problem>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}
