//! The site's files inside the binary. Their names contain a hash, so browsers may cache them forever; they were compressed at
//! build time.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use rust_embed::RustEmbed;
use serde::Deserialize;

/// A release contains the files, and so does a build with the feature `embed-assets`. Other builds read them from disk.
#[derive(RustEmbed)]
#[folder = "../target/site"]
struct Embedded;

type Files = dyn Fn(&str) -> Option<Cow<'static, [u8]>> + Send + Sync;

/// The static files that pages load.
#[derive(Clone)]
pub struct Site {
    files: Arc<Files>,
}

/// The content of `manifest.json`: the addresses of the files that every page loads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Manifest {
    pub css: String,
    pub js: String,
    pub wasm: String,
    /// Files for single pages.
    #[serde(default)]
    pub pages: BTreeMap<String, String>,
}

/// Why there are no pages.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    #[error(
        "This program was built without the files of its pages. Build it with “cargo xtask release”, or start it with “cargo xtask run”."
    )]
    NotBuilt,
    #[error("The list of the pages' files can't be read ({0}). Build the program again.")]
    Manifest(serde_json::Error),
}

impl Site {
    /// The files that were built with this program.
    #[must_use]
    pub fn embedded() -> Self {
        Self::new(|path| Embedded::get(path).map(|file| file.data))
    }

    /// The files that `files` returns for a path without a leading slash.
    pub fn new(files: impl Fn(&str) -> Option<Cow<'static, [u8]>> + Send + Sync + 'static) -> Self {
        Self { files: Arc::new(files) }
    }

    /// The addresses of the files that every page loads.
    pub fn manifest(&self) -> Result<Manifest, SiteError> {
        let text = (self.files)("manifest.json").ok_or(SiteError::NotBuilt)?;
        serde_json::from_slice(&text).map_err(SiteError::Manifest)
    }

    /// Answers `/assets/…` and `/favicon.svg`.
    pub fn serve(&self, path: &str, headers: &HeaderMap) -> Response {
        let path = path.trim_start_matches('/');
        // The compressed variants can't be requested by name.
        let Some(plain) = (self.files)(path).filter(|_| !path.ends_with(".br") && !path.ends_with(".gz")) else {
            return (StatusCode::NOT_FOUND, "This file does not exist.").into_response();
        };
        let (encoding, bytes) = ["br", "gzip"]
            .into_iter()
            .filter(|encoding| accepts(headers, encoding))
            .find_map(|encoding| Some((Some(encoding), (self.files)(&format!("{path}.{}", suffix(encoding)))?)))
            .unwrap_or((None, plain));
        // The content behind a hashed name never changes. Only files without a hash in their name may change.
        let hashed = path.starts_with("assets/");
        let tag = HeaderValue::from_str(&format!("\"{path}-{}\"", encoding.unwrap_or("plain"))).ok().filter(|_| hashed);
        let kind = mime_guess::from_path(path).first_raw().unwrap_or("application/octet-stream");
        let known = tag.is_some() && headers.get(header::IF_NONE_MATCH) == tag.as_ref();
        let body = match bytes {
            _ if known => Bytes::new(),
            Cow::Borrowed(bytes) => Bytes::from_static(bytes),
            Cow::Owned(bytes) => bytes.into(),
        };
        let mut response = (if known { StatusCode::NOT_MODIFIED } else { StatusCode::OK }, body).into_response();
        let keep = if hashed { "public, max-age=31536000, immutable" } else { "public, max-age=3600" };
        let known_headers = [
            (header::CONTENT_TYPE, HeaderValue::try_from(with_charset(kind)).ok()),
            (header::CACHE_CONTROL, Some(HeaderValue::from_static(keep))),
            (header::VARY, Some(HeaderValue::from_static("accept-encoding"))),
            (header::CONTENT_ENCODING, encoding.map(HeaderValue::from_static)),
            (header::ETAG, tag),
        ];
        for (name, value) in known_headers {
            if let Some(value) = value {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }
}

fn suffix(encoding: &str) -> &str {
    if encoding == "gzip" { "gz" } else { encoding }
}

fn with_charset(kind: &str) -> String {
    if kind.starts_with("text/") { format!("{kind}; charset=utf-8") } else { kind.to_owned() }
}

/// Whether the browser accepts this encoding: it is listed, and not with `q=0` (RFC 9110, section 12.5.3).
fn accepts(headers: &HeaderMap, encoding: &str) -> bool {
    let sent = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    sent.flat_map(|value| value.split(',')).any(|one| {
        let mut parts = one.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(encoding));
        let weight = parts.find_map(|part| part.strip_prefix("q=")).and_then(|q| q.parse::<f32>().ok());
        named && weight.is_none_or(|weight| weight > 0.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> Site {
        Site::new(|path| {
            let text = match path {
                "manifest.json" => {
                    r#"{"css":"/assets/site-1.css","js":"/assets/app-1.js","wasm":"/assets/app-1.wasm"}"#
                }
                "assets/app-1.js" => "plain",
                "assets/app-1.js.br" => "brotli",
                "assets/app-1.js.gz" => "gzip",
                "assets/app-1.wasm" => "wasm",
                "favicon.svg" => "<svg/>",
                _ => return None,
            };
            Some(text.as_bytes().into())
        })
    }

    fn get(path: &str, sent: &[(http::HeaderName, &'static str)]) -> Response {
        site().serve(path, &sent.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect())
    }

    fn header_of(response: &Response, name: http::HeaderName) -> &str {
        response.headers().get(name).map(|value| value.to_str().expect("ascii")).unwrap_or_default()
    }

    #[test]
    fn hashed_assets_are_immutable_and_compressed_for_the_browser() {
        for (sent, encoding) in [
            ("gzip, deflate, br, zstd", "br"),
            ("gzip", "gzip"),
            ("br;q=0, gzip;q=0.5", "gzip"),
            ("identity", ""),
            ("brotli", ""),
        ] {
            let response = get("/assets/app-1.js", &[(header::ACCEPT_ENCODING, sent)]);
            assert_eq!(header_of(&response, header::CONTENT_ENCODING), encoding, "{sent}");
            assert!(header_of(&response, header::CACHE_CONTROL).contains("immutable"));
            assert_eq!(header_of(&response, header::VARY), "accept-encoding");
            assert!(header_of(&response, header::CONTENT_TYPE).starts_with("text/javascript"));
        }
        let wasm = get("/assets/app-1.wasm", &[(header::ACCEPT_ENCODING, "br")]);
        assert_eq!(header_of(&wasm, header::CONTENT_TYPE), "application/wasm");
        assert_eq!(header_of(&wasm, header::CONTENT_ENCODING), "", "there is no compressed variant");
    }

    #[test]
    fn a_cached_asset_is_not_sent_again() {
        let first = get("/assets/app-1.js", &[]);
        let tag = header_of(&first, header::ETAG).to_owned();
        let headers = HeaderMap::from_iter([(header::IF_NONE_MATCH, tag.parse().expect("ascii"))]);
        assert_eq!(site().serve("/assets/app-1.js", &headers).status(), StatusCode::NOT_MODIFIED);
    }

    #[test]
    fn only_the_sites_files_are_served() {
        for path in ["/assets/none.js", "/assets/app-1.js.br", "/assets/../manifest.json", "/assets/"] {
            assert_eq!(get(path, &[]).status(), StatusCode::NOT_FOUND, "{path}");
        }
        assert!(!header_of(&get("/favicon.svg", &[]), header::CACHE_CONTROL).contains("immutable"));
    }

    #[test]
    fn a_missing_site_is_an_error_that_names_the_build_command() {
        assert_eq!(site().manifest().expect("built").js, "/assets/app-1.js");
        let error = Site::new(|_| None).manifest().expect_err("not built");
        assert!(error.to_string().contains("cargo xtask run"));
    }
}
