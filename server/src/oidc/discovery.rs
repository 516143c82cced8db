//! What the provider says about itself (OpenID Connect Discovery 1.0). It is read again after at most 5 minutes, so a change needs no
//! restart.

use http::header::ACCEPT;
use serde::Deserialize;

use super::requests::Http;

/// The part of the provider's document that is used here.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Discovered {
    issuer: String,
    pub(super) authorization_endpoint: String,
    pub(super) token_endpoint: String,
    pub(super) end_session_endpoint: Option<String>,
    #[serde(default)]
    pub(super) scopes_supported: Vec<String>,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Vec<String>,
}

/// Why there is no document.
pub(super) enum Undiscovered {
    Unreachable(String),
    Mismatch(String),
}

pub(super) async fn discover(http: &Http, issuer: &str) -> Result<Discovered, Undiscovered> {
    let url = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
    let request = http::Request::get(&url).header(ACCEPT, "application/json").body(Vec::new());
    let request = request.map_err(|error| Undiscovered::Mismatch(error.to_string()))?;
    let answer = http.send(request).await.map_err(|error| Undiscovered::Unreachable(error.to_string()))?;
    if answer.status().is_server_error() {
        return Err(Undiscovered::Unreachable(format!("it answers with {}", answer.status())));
    }
    if !answer.status().is_success() {
        return Err(Undiscovered::Mismatch(format!("{url} answers with {}", answer.status())));
    }
    let found: Discovered = serde_json::from_slice(answer.body())
        .map_err(|error| Undiscovered::Mismatch(format!("{url} is no OpenID configuration: {error}")))?;
    found.checked(issuer).map_err(Undiscovered::Mismatch)
}

impl Discovered {
    /// Refuses another issuer's document, and endpoints that would send the code or the secret unencrypted.
    fn checked(self, issuer: &str) -> Result<Self, String> {
        if self.issuer != issuer {
            return Err(format!(
                "its issuer is {:?}, and --oidc-issuer is {issuer:?}; both must be equal",
                self.issuer
            ));
        }
        let encrypted = issuer.starts_with("https://");
        let needed = [&self.authorization_endpoint, &self.token_endpoint];
        let plain =
            needed.into_iter().chain(&self.end_session_endpoint).find(|url| encrypted && !url.starts_with("https://"));
        match plain.cloned() {
            Some(plain) => Err(format!("{plain} is not an https address")),
            None => Ok(self),
        }
    }

    /// Whether the provider takes the client's secret in the body of a request only. The default is a header.
    pub(super) fn takes_secret_in_body(&self) -> bool {
        let methods = &self.token_endpoint_auth_methods_supported;
        let has = |name: &str| methods.iter().any(|method| method == name);
        has("client_secret_post") && !has("client_secret_basic")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(change: impl FnOnce(&mut serde_json::Value)) -> Discovered {
        let mut document = serde_json::json!({
            "issuer": "https://id.example",
            "authorization_endpoint": "https://id.example/auth",
            "token_endpoint": "https://id.example/token",
        });
        change(&mut document);
        serde_json::from_value(document).expect("a document")
    }

    #[test]
    fn another_issuer_and_unencrypted_endpoints_are_refused() {
        assert!(document(|_| ()).checked("https://id.example").is_ok());
        let other = document(|_| ()).checked("https://id.example/").expect_err("refused");
        assert!(other.contains("both must be equal"), "{other}");
        for endpoint in ["authorization_endpoint", "token_endpoint", "end_session_endpoint"] {
            let plain = document(|document| document[endpoint] = "http://id.example/x".into());
            assert!(plain.checked("https://id.example").expect_err(endpoint).contains("https"));
        }
    }

    #[test]
    fn the_secret_is_in_a_header_unless_the_body_is_wanted() {
        let methods = |names: &[&str]| {
            document(|document| document["token_endpoint_auth_methods_supported"] = serde_json::json!(names))
        };
        assert!(!document(|_| ()).takes_secret_in_body());
        assert!(!methods(&["client_secret_post", "client_secret_basic"]).takes_secret_in_body());
        assert!(methods(&["client_secret_post"]).takes_secret_in_body());
    }
}
