//! The page that a user wanted before signing in, kept in a cookie for ten minutes: a one-time link comes from the terminal and
//! doesn't name it.

use cookie::{Cookie, SameSite};
use http::{HeaderMap, HeaderValue, header};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

const NAME: &str = "kubeonkube-next";

/// The `Set-Cookie` value that keeps `page`; `None` for the start page, and for an address that is too long for a cookie.
pub(super) fn kept(page: &str) -> Option<HeaderValue> {
    let value = utf8_percent_encode(page, NON_ALPHANUMERIC).to_string();
    (page != "/" && value.len() < 2000).then(|| set(value, 600)).flatten()
}

/// The page that the browser sent back; empty if there is none. It comes from the client: check it before a redirect.
pub(super) fn sent(headers: &HeaderMap) -> String {
    value(headers).map(|value| percent_decode_str(&value).decode_utf8_lossy().into_owned()).unwrap_or_default()
}

/// The `Set-Cookie` value that removes the cookie, if the browser sent one.
pub(super) fn removal(headers: &HeaderMap) -> Option<HeaderValue> {
    value(headers).and_then(|_| set(String::new(), 0))
}

fn value(headers: &HeaderMap) -> Option<String> {
    let sent = headers.get_all(header::COOKIE).iter().filter_map(|sent| sent.to_str().ok());
    let mut cookies = sent.flat_map(Cookie::split_parse).flatten();
    cookies.find(|cookie| cookie.name() == NAME).map(|cookie| cookie.value().to_owned())
}

fn set(value: String, seconds: i64) -> Option<HeaderValue> {
    let cookie = Cookie::build((NAME, value))
        .path("/login")
        .http_only(true)
        // Sent also when the link is opened from another program.
        .same_site(SameSite::Lax)
        .max_age(cookie::time::Duration::seconds(seconds));
    cookie.to_string().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_page_comes_back_unchanged() {
        let page = "/operations/a?tab=hosts&x=ä;y";
        let cookie = kept(page).expect("short enough");
        let cookie = cookie.to_str().expect("ASCII").split(';').next().expect("a pair").to_owned();
        let headers = HeaderMap::from_iter([(header::COOKIE, cookie.parse().expect("a header"))]);
        assert_eq!(sent(&headers), page);
        assert!(removal(&headers).is_some_and(|removal| removal.to_str().is_ok_and(|text| text.contains("Max-Age=0"))));
        assert_eq!((kept("/"), kept(&"/x".repeat(2000)), removal(&HeaderMap::new())), (None, None, None));
    }
}
