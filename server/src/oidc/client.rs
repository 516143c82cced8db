//! A provider that is reached over HTTP.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use oauth2::basic::{
    BasicErrorResponse, BasicErrorResponseType, BasicRevocationErrorResponse, BasicTokenIntrospectionResponse,
    BasicTokenType,
};
use oauth2::url::Url;
use oauth2::{
    AuthType, AuthUrl, AuthorizationCode, ClientId, ClientSecret, CsrfToken, EndpointNotSet, EndpointSet,
    ExtraTokenFields, HttpRequest, HttpResponse, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, RefreshToken,
    RequestTokenError, Scope, StandardRevocableToken, StandardTokenResponse, TokenResponse, TokenUrl,
};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::claims::Claims;
use super::discovery::{Discovered, Undiscovered, discover};
use super::requests::{Http, HttpError};
use super::{OidcError, Provider, RenewError, Started, Tokens};
use crate::config::OidcSettings;

/// Asked for in addition to `openid` if the provider knows them and --oidc-scopes isn't set.
const USEFUL: [&str; 4] = ["profile", "email", "groups", "offline_access"];

/// How long the provider's document counts for codes and renewals.
const KEPT: Duration = Duration::from_mins(5);

/// The field that OpenID Connect adds to OAuth's answer.
#[derive(Debug, Serialize, Deserialize)]
struct IdToken {
    id_token: Option<String>,
}

impl ExtraTokenFields for IdToken {}

type Answer = StandardTokenResponse<IdToken, BasicTokenType>;
type OAuth = oauth2::Client<
    BasicErrorResponse,
    Answer,
    BasicTokenIntrospectionResponse,
    StandardRevocableToken,
    BasicRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointSet,
>;
type Failed = RequestTokenError<std::io::Error, BasicErrorResponse>;

/// The provider that the settings name.
pub struct Client {
    settings: OidcSettings,
    /// Where the provider sends people after signing in.
    callback: String,
    /// Where the provider sends people after signing out.
    after_sign_out: String,
    http: Http,
    /// What the provider said about itself. One request at a time, whose answer all get that waited for it.
    found: tokio::sync::Mutex<Option<(Instant, Result<Discovered, OidcError>)>>,
}

impl Client {
    /// `address` is the console's own.
    pub fn new(settings: OidcSettings, address: &str) -> Result<Self, HttpError> {
        let http = Http::new(settings.ca_file.as_deref())?;
        let (callback, after_sign_out) = (format!("{address}/login/oidc/callback"), format!("{address}/login"));
        Ok(Self { settings, callback, after_sign_out, http, found: tokio::sync::Mutex::default() })
    }

    fn name(&self) -> String {
        self.settings.name.clone()
    }

    fn mismatch(&self, why: impl Into<String>) -> OidcError {
        OidcError::Mismatch { name: self.name(), why: why.into() }
    }

    /// The provider's document, at most this old.
    async fn discover(&self, age: Duration) -> Result<Discovered, OidcError> {
        let asked = Instant::now();
        let mut found = self.found.lock().await;
        if let Some((at, answer)) = &*found
            && (*at >= asked || (answer.is_ok() && at.elapsed() < age))
        {
            return answer.clone();
        }
        let answer = discover(&self.http, &self.settings.issuer).await.map_err(|error| match error {
            Undiscovered::Unreachable(why) => OidcError::Unreachable { name: self.name(), why },
            Undiscovered::Mismatch(why) => self.mismatch(why),
        });
        *found = Some((Instant::now(), answer.clone()));
        answer
    }

    /// Sends the requests of OAuth. A provider that fails is not reached: its answer says nothing about the token.
    fn sender(
        &self,
    ) -> impl Fn(HttpRequest) -> futures::future::BoxFuture<'static, std::io::Result<HttpResponse>> + Send + Sync + 'static
    {
        let http = self.http.clone();
        move |request| {
            let http = http.clone();
            Box::pin(async move {
                let answer = http.send(request).await?;
                if answer.status().is_server_error() {
                    return Err(std::io::Error::other(format!("it answers with {}", answer.status())));
                }
                Ok(answer)
            })
        }
    }

    /// The client of OAuth. The secret is read each time, so that it can be replaced without a restart.
    async fn oauth(&self, found: &Discovered) -> Result<OAuth, OidcError> {
        let invalid =
            |error: oauth2::url::ParseError| self.mismatch(format!("an address of it can't be used ({error})"));
        let auth = AuthUrl::new(found.authorization_endpoint.clone()).map_err(invalid)?;
        let token = TokenUrl::new(found.token_endpoint.clone()).map_err(invalid)?;
        let redirect = RedirectUrl::new(self.callback.clone()).map_err(invalid)?;
        let how = if found.takes_secret_in_body() { AuthType::RequestBody } else { AuthType::BasicAuth };
        let client = oauth2::Client::new(ClientId::new(self.settings.client_id.clone()));
        let client = client.set_auth_uri(auth).set_token_uri(token).set_redirect_uri(redirect).set_auth_type(how);
        Ok(match &self.settings.client_secret_file {
            Some(file) => client.set_client_secret(ClientSecret::new(self.secret(file).await?)),
            None => client,
        })
    }

    async fn secret(&self, file: &PathBuf) -> Result<String, OidcError> {
        match tokio::fs::read_to_string(file).await {
            Ok(text) => Ok(text.trim().to_owned()),
            Err(error) => {
                tracing::error!(%error, file = %file.display(), "the client secret of the OIDC provider can't be read");
                Err(OidcError::Secret(self.name()))
            }
        }
    }

    fn scopes(&self, found: &Discovered) -> Vec<String> {
        if !self.settings.scopes.is_empty() {
            return self.settings.scopes.clone();
        }
        let known = |name: &&str| found.scopes_supported.iter().any(|scope| scope == name);
        std::iter::once("openid").chain(USEFUL.into_iter().filter(known)).map(ToOwned::to_owned).collect()
    }

    /// The tokens in an answer, and whom they are for.
    fn tokens(&self, answer: &Answer, nonce: Option<&str>, now: u64) -> Result<(Tokens, Claims), OidcError> {
        let id_token = answer.extra_fields().id_token.clone();
        let id_token = id_token.ok_or_else(|| self.mismatch("its answer has no ID token"))?;
        let claims = Claims::read(&id_token).ok_or_else(|| self.mismatch("its ID token can't be read"))?;
        if let Some(why) = claims.wrong(&self.settings.issuer, &self.settings.client_id, nonce, now) {
            return Err(self.mismatch(why));
        }
        let refresh_token = answer.refresh_token().map(|token| token.secret().clone());
        Ok((Tokens { id_token, refresh_token, received: now, expires: claims.expires() }, claims))
    }

    fn failed(&self, error: &Failed) -> OidcError {
        let name = self.name();
        match error {
            RequestTokenError::ServerResponse(refusal) => match refusal.error() {
                code @ BasicErrorResponseType::InvalidGrant => OidcError::Refused { name, code: code.to_string() },
                code => self.mismatch(format!("it answers with {}", printable(code.as_ref()))),
            },
            RequestTokenError::Request(error) => OidcError::Unreachable { name, why: error.to_string() },
            // These contain the answer, and so may contain tokens.
            RequestTokenError::Parse(..) | RequestTokenError::Other(_) => self.mismatch("its answer can't be read"),
        }
    }
}

#[async_trait]
impl Provider for Client {
    fn name(&self) -> &str {
        &self.settings.name
    }

    async fn start(&self) -> Result<Started, OidcError> {
        // Always read again: if the provider is down, the sign-in page says so.
        let found = self.discover(Duration::ZERO).await?;
        let client = self.oauth(&found).await?;
        let scopes = self.scopes(&found);
        // Without a consent, providers must ignore this scope (OpenID Connect Core, section 11).
        let asks = scopes.iter().any(|scope| scope == "offline_access");
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let nonce = CsrfToken::new_random();
        let mut request = client.authorize_url(CsrfToken::new_random).set_pkce_challenge(challenge);
        request = request.add_scopes(scopes.into_iter().map(Scope::new)).add_extra_param("nonce", nonce.secret());
        if asks {
            request = request.add_extra_param("prompt", "consent");
        }
        let (url, state) = request.url();
        let (state, nonce) = (state.secret().clone(), nonce.secret().clone());
        Ok(Started { url: url.into(), state, nonce, verifier: verifier.secret().clone() })
    }

    async fn finish(&self, code: &str, nonce: &str, verifier: &str) -> Result<Tokens, OidcError> {
        let client = self.oauth(&self.discover(KEPT).await?).await?;
        let request = client.exchange_code(AuthorizationCode::new(code.to_owned()));
        let request = request.set_pkce_verifier(PkceCodeVerifier::new(verifier.to_owned()));
        let answer = request.request_async(&self.sender()).await.map_err(|error| self.failed(&error))?;
        Ok(self.tokens(&answer, Some(nonce), now())?.0)
    }

    async fn renew(&self, old: &Tokens) -> Result<Tokens, RenewError> {
        let Some(token) = old.refresh_token.clone() else {
            return Err(RenewError::Refused("there is no refresh token".into()));
        };
        // The session may have begun before the console got another provider, which must not see this token.
        let before = Claims::read(&old.id_token)
            .filter(|claims| claims.wrong(&self.settings.issuer, &self.settings.client_id, None, 0).is_none())
            .ok_or_else(|| RenewError::Refused("the tokens are of another provider or client".into()))?;
        let client = self.oauth(&self.discover(KEPT).await?).await?;
        let token = RefreshToken::new(token);
        let answer = client.exchange_refresh_token(&token).request_async(&self.sender()).await;
        let answer = answer.map_err(|error| match self.failed(&error) {
            OidcError::Refused { code, .. } => RenewError::Refused(code),
            other => RenewError::Failed(other),
        })?;
        // From here on, another attempt is of no use: the provider may have replaced the refresh token.
        let (mut tokens, claims) =
            self.tokens(&answer, None, now()).map_err(|error| RenewError::Refused(error.to_string()))?;
        if before.sub != claims.sub {
            return Err(RenewError::Refused("its new token is for another person".into()));
        }
        // A provider that doesn't replace the refresh token may leave it out.
        tokens.refresh_token = tokens.refresh_token.or_else(|| old.refresh_token.clone());
        Ok(tokens)
    }

    /// Without `id_token_hint`: the ID token is a Kubernetes credential, and addresses end in histories and logs.
    async fn sign_out_page(&self) -> Option<String> {
        let found = self.discover(Duration::ZERO).await.ok()?;
        let mut url = Url::parse(&found.end_session_endpoint?).ok()?;
        url.query_pairs_mut()
            .append_pair("client_id", &self.settings.client_id)
            .append_pair("post_logout_redirect_uri", &self.after_sign_out);
        Some(url.into())
    }
}

impl Client {
    /// For the state of the server, which knows providers only by their trait.
    pub fn shared(self) -> Arc<dyn Provider> {
        Arc::new(self)
    }
}

/// A code of an error, as the specifications allow it.
fn printable(code: &str) -> String {
    code.chars().filter(|c| c.is_ascii_alphanumeric() || "_-.".contains(*c)).take(64).collect()
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use base64::Engine;
    use base64::prelude::BASE64_URL_SAFE_NO_PAD;
    use serde_json::json;

    use super::*;

    const ISSUER: &str = "https://id.example";

    fn id_token(issuer: &str, client: &str) -> String {
        let claims = json!({ "iss": issuer, "sub": "ann", "aud": client, "exp": now() + 3600 }).to_string();
        format!("e30.{}.c2ln", BASE64_URL_SAFE_NO_PAD.encode(claims))
    }

    fn tokens(issuer: &str, client: &str) -> Tokens {
        let id_token = id_token(issuer, client);
        Tokens { id_token, refresh_token: Some("refresh".into()), received: now(), expires: now() + 3600 }
    }

    /// A client of a provider whose token endpoint answers with this status, and the requests for document and token so far.
    fn client(status: u16) -> (Client, Arc<[AtomicUsize; 2]>) {
        let counts = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let counted = counts.clone();
        let http = Http::scripted(move |request| {
            let is_document = request.uri().path().starts_with("/.well-known/");
            counted[usize::from(!is_document)].fetch_add(1, Ordering::SeqCst);
            let (status, body) = if is_document {
                let (auth, token) = (format!("{ISSUER}/auth"), format!("{ISSUER}/token"));
                (200, json!({ "issuer": ISSUER, "authorization_endpoint": auth, "token_endpoint": token }))
            } else {
                let id_token = id_token(ISSUER, "console");
                (status, json!({ "access_token": "a", "token_type": "Bearer", "id_token": id_token }))
            };
            let answer = http::Response::builder().status(status).header("content-type", "application/json");
            Ok(answer.body(body.to_string().into_bytes()).expect("an answer"))
        });
        let settings = OidcSettings {
            issuer: ISSUER.into(),
            client_id: "console".into(),
            client_secret_file: None,
            scopes: Vec::new(),
            name: "Example".into(),
            ca_file: None,
        };
        let after_sign_out = "https://console.example/login".to_owned();
        let callback = format!("{after_sign_out}/oidc/callback");
        (Client { settings, callback, after_sign_out, http, found: tokio::sync::Mutex::default() }, counts)
    }

    #[tokio::test]
    async fn a_token_endpoint_that_fails_cannot_be_reached() {
        let (client, _) = client(503);
        let error = client.finish("code", "nonce", "verifier").await.err().expect("refused");
        assert!(matches!(&error, OidcError::Unreachable { why, .. } if why.contains("503")), "{error}");
        let error = client.renew(&tokens(ISSUER, "console")).await.err().expect("refused");
        assert!(matches!(error, RenewError::Failed(OidcError::Unreachable { .. })), "{error}");
    }

    #[tokio::test]
    async fn tokens_of_another_provider_are_not_sent() {
        let (client, counts) = client(200);
        for (issuer, name) in [("https://other.example", "console"), (ISSUER, "other")] {
            let error = client.renew(&tokens(issuer, name)).await.err().expect("refused");
            assert!(matches!(&error, RenewError::Refused(why) if why.contains("another provider")), "{error}");
        }
        assert_eq!([&counts[0], &counts[1]].map(|count| count.load(Ordering::SeqCst)), [0, 0]);
    }

    #[tokio::test]
    async fn renewals_read_the_document_of_the_provider_once() {
        let (client, counts) = client(200);
        let old = tokens(ISSUER, "console");
        for renewed in futures::future::join_all((0..5).map(|_| client.renew(&old))).await {
            assert!(renewed.is_ok_and(|tokens| tokens.refresh_token == old.refresh_token));
        }
        assert_eq!([&counts[0], &counts[1]].map(|count| count.load(Ordering::SeqCst)), [1, 5]);
        client.start().await.expect("started");
        assert_eq!(counts[0].load(Ordering::SeqCst), 2, "a sign-in reads it again");
    }
}
