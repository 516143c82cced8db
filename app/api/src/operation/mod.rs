//! Operations between page and server: what pages show, what the form offers, and the way from the form as typed
//! ([`Draft`]) to a request that can be used ([`NewOperation`]).

mod draft;
mod offer;
mod request;
mod shown;

pub use draft::{Draft, Kind, OTHER};
pub use offer::{ActionOffer, ClusterChoice, Effect, OperationReview, ParameterOffer, SubmitChoices};
pub use request::{Action, Deadline, Image, NewOperation, Source};
pub use shown::{OperationDetail, OperationFilter, OperationList, OperationRow, Phase, RunEnd, RunInputs};
