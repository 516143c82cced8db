//! Types about operations that pages and server exchange: what pages show, what the submit form offers, the form as typed
//! ([`Draft`]), and the valid request parsed from it ([`NewOperation`]).

mod draft;
mod offer;
mod request;
mod shown;

pub use draft::{Draft, Kind, OTHER};
pub use offer::{ActionOffer, ClusterChoice, Effect, OperationReview, ParameterOffer, SubmitChoices};
pub use request::{Action, Deadline, Image, NewOperation, Source};
pub use shown::{OperationDetail, OperationFilter, OperationList, OperationRow, Phase, RunEnd, RunInputs};
