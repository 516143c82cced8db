//! Where a server function sends the person after it has changed something.

/// Sends the page to `path` of this console. Without JavaScript the binary makes a 303 of it; with JavaScript the form
/// navigates. Anything but a path of this origin is ignored: `//host` and `/\host` lead elsewhere.
#[cfg(feature = "ssr")]
pub fn to(path: &str) {
    if is_local(path) {
        leptos_axum::redirect(path, false);
    }
}

/// Whether a browser can only understand `path` as a place in this console.
#[must_use]
pub fn is_local(path: &str) -> bool {
    path.starts_with('/') && !path.starts_with("//") && !path.contains(['\\', '\r', '\n', '\t'])
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
        ] {
            assert!(!is_local(bad), "{bad:?}");
        }
    }
}
