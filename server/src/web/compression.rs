//! Compresses pages and the answers of server functions, which are mostly repeated markup and log lines. Assets were compressed
//! when the program was built, and the download of a log is a file that is sent as it is.
//!
//! The length of a compressed answer shows whether two of its parts are alike. An attacker uses this (BREACH, CVE-2013-3587) if
//! they can put text of their own into an answer that contains a secret, again and again, and see its length. Here a secret that
//! stays the same is in no page: forms need no token, because requests are checked by their `Origin` and `Sec-Fetch-Site`
//! ([`super::guard::same_origin`]), the nonce of the content security policy is new in each answer, the session is in a cookie
//! that scripts can't read, and passwords and keys are masked before a page gets them. Other sites can't repeat requests either:
//! the cookie is `SameSite=Lax`, so that they can only open whole pages.

use http::{Extensions, HeaderMap, StatusCode, Version, header};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{Predicate, SizeAbove};

/// Shorter answers are sent as they are, in bytes: they fit into one packet either way.
const SHORT: u64 = 1024;

/// The level for Brotli (0 to 11) and gzip (0 to 9): above it, each further percent costs twice the time.
const LEVEL: i32 = 5;

/// Compresses with Brotli or gzip, as the browser prefers, and adds `Vary`.
pub(super) fn layer() -> CompressionLayer<impl Predicate> {
    CompressionLayer::new()
        .quality(CompressionLevel::Precise(LEVEL))
        .compress_when(SizeAbove::new(SHORT).and(is_page_or_data))
}

fn is_page_or_data(_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    ["text/html", "application/json"].iter().any(|compressed| kind.starts_with(compressed))
}
