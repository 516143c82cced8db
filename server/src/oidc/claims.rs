//! The claims of an ID token (OpenID Connect Core, section 3.1.3.7).

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub(super) struct Claims {
    iss: String,
    pub(super) sub: String,
    aud: Audience,
    exp: f64,
    /// The client that the token was given to.
    #[serde(default)]
    azp: Option<String>,
    #[serde(default)]
    nonce: Option<String>,
}

/// One audience, or a list of them.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Many(Vec<String>),
}

impl Claims {
    pub(super) fn read(token: &str) -> Option<Self> {
        let claims = BASE64_URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?.trim_end_matches('=')).ok()?;
        serde_json::from_slice(&claims).ok()
    }

    /// When the token expires, in seconds since the epoch.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "RFC 7519 allows fractions; the saturated value is the intended one"
    )]
    pub(super) fn expires(&self) -> u64 {
        self.exp as u64
    }

    /// What is wrong with the token. `nonce` is that of the sign-in; a renewed token needs none.
    pub(super) fn wrong(&self, issuer: &str, client: &str, nonce: Option<&str>, now: u64) -> Option<&'static str> {
        let for_us = match &self.aud {
            Audience::One(one) => one == client,
            Audience::Many(many) if many.len() > 1 => {
                many.iter().any(|one| one == client) && self.azp.as_deref() == Some(client)
            }
            Audience::Many(many) => many.iter().any(|one| one == client),
        };
        if self.iss != issuer {
            Some("its token names another issuer")
        } else if !for_us {
            Some("its token is for another client")
        } else if nonce.is_some() && self.nonce.as_deref() != nonce {
            Some("its token belongs to another sign-in")
        } else if self.expires() <= now {
            Some("its token has expired already; compare the clocks")
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(text: &str) -> Claims {
        Claims::read(&format!("e30.{}.c2ln", BASE64_URL_SAFE_NO_PAD.encode(text))).expect("claims")
    }

    #[test]
    fn a_token_for_others_or_of_another_sign_in_is_refused() {
        let good = r#"{"iss":"https://id","sub":"ann","aud":["a","console"],"azp":"console","exp":100.5,"nonce":"n"}"#;
        let wrong = |from: &str, to: &str| {
            claims(&good.replace(from, to)).wrong("https://id", "console", Some("n"), 50).unwrap_or_default()
        };
        assert_eq!(wrong("", ""), "");
        assert!(wrong("https://id", "https://evil").contains("another issuer"));
        assert!(wrong(r#"["a","console"]"#, r#""other""#).contains("another client"));
        assert_eq!(wrong(r#"["a","console"]"#, r#""console""#), "");
        assert!(wrong(r#""azp":"console""#, r#""azp":"a""#).contains("another client"));
        assert!(wrong(r#","azp":"console""#, "").contains("another client"));
        assert_eq!(wrong(r#"["a","console"],"azp":"console""#, r#"["console"]"#), "");
        assert!(wrong(r#""nonce":"n""#, r#""nonce":"x""#).contains("another sign-in"));
        assert!(wrong(r#","nonce":"n""#, "").contains("another sign-in"));
        assert!(wrong("100.5", "50").contains("expired"));
        assert_eq!(claims(good).wrong("https://id", "console", None, 50), None);
        assert!(Claims::read("opaque").is_none());
    }
}
