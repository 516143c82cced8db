//! Finds out why a socket was refused. The browser doesn't report the reason.

use leptos::prelude::*;
use leptos::server;

use crate::Failure;

/// Succeeds while the session is valid. A socket that can't be opened may also mean that the server is restarting.
#[server(prefix = "/api", endpoint = "still_signed_in", input = server_fn::codec::GetUrl, output = crate::json::Json)]
pub async fn still_signed_in() -> Result<(), Failure> {
    crate::session::signed_in()?;
    Ok(())
}
