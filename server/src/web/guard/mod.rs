//! The layers that every request passes before a page or function sees it, in this order.

pub(super) mod headers;
pub(super) mod same_origin;
pub(super) mod signed_in;
