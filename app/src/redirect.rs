//! Where a server function sends the browser after a change.

/// Sends the browser to `path`. Without JavaScript the binary answers with a 303; with JavaScript the form navigates.
/// Does nothing unless [`is_local`].
#[cfg(feature = "ssr")]
pub fn to(path: &str) {
    if is_local(path) {
        leptos_axum::redirect(path, false);
    }
}

/// Whether every browser reads `path` as a path of this console. `//host` and `/\host` would lead to another one, and
/// browsers remove tabs and line breaks before they parse an address. The binary uses the same rule after sign-in.
#[must_use]
pub fn is_local(path: &str) -> bool {
    let is_plain = path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    path.starts_with('/') && !path.starts_with("//") && is_plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_this_console_are_followed() {
        assert!(is_local("/clusters/a?tab=x#L1"));
        for bad in [
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "javascript:alert(1)",
            "",
            "/a\r\nSet-Cookie: x",
            "/\t/evil.example",
            "/clusters/ä",
            "/a b",
        ] {
            assert!(!is_local(bad), "{bad:?}");
        }
    }
}
