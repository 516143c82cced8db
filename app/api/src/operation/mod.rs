//! Types about operations that pages and server exchange: what pages show, what the submit form offers, the form as typed
//! ([`Draft`]), and the valid request parsed from it ([`NewOperation`]).

mod draft;
mod filter;
mod offer;
mod request;
mod shown;

pub use draft::{Draft, Kind, OTHER};
pub use filter::{OperationColumn, OperationFilter};
pub use offer::{ActionOffer, ClusterChoice, Effect, OperationReview, ParameterOffer, SourceChoices, SubmitChoices};
pub use request::{Action, Deadline, Image, NewOperation, Source, ThenRemove, is_shell_file};
pub use shown::{
    NO_HOST_REACHED, OperationDetail, OperationList, OperationRow, PLAY_MATCHED_NO_HOST, Phase, RunEnd, RunInputs,
    Usual, WARNINGS,
};
