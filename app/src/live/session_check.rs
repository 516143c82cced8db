//! A socket that is refused doesn't say why; this does.

use leptos::{prelude::*, server};

use crate::Failure;

/// Whether the session still stands: a socket that can't be opened may only mean that the server restarts.
#[server(prefix = "/api", endpoint = "still_signed_in", input = server_fn::codec::GetUrl, output = crate::json::Json)]
pub async fn still_signed_in() -> Result<(), Failure> {
    crate::session::signed_in()?;
    Ok(())
}
