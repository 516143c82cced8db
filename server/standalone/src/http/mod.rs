//! HTTP: requests in, responses out. Every refusal is a Status, except where the API server answers in plain text.
//!
//! | path | answer |
//! |---|---|
//! | `/version`, `/healthz`, `/livez`, `/readyz` | as in the API server, even without a token |
//! | `/api`, `/apis`, `/api/v1`, `/apis/GROUP`, `/apis/GROUP/VERSION` | discovery; the first two aggregated if the client asks for it |
//! | `/openapi/v3` | an index, and one document per group and version |
//! | objects of the served kinds | every verb, `/status`, `/log` of pods, `/finalize` of namespaces |
//! | reviews of oneself and of tokens | 201; access is always allowed, because there is one user |
//! | any other path | 404: as plain text, or as a Status below `/api/v1` |
//!
//! Bodies are JSON or YAML, or protobuf where kubectl sends only protobuf; any other media type gets 415. Answers are JSON: objects,
//! Tables or metadata alone; an Accept header that allows none of these gets 406. A method that the path doesn't have gets
//! 405, and a body above 3 MiB 413.

mod answer;
mod authentication;
mod body;
mod discovery;
mod dispatch;
mod impersonation;
mod log;
mod negotiate;
mod objects;
mod openapi;
mod protobuf;
mod reviews;
mod route;
mod server;
mod stream;
mod table;

pub use server::ADMIN;
pub(crate) use server::Server;
