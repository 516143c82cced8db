//! Clients that carry a person's own token.

use std::sync::Arc;

use kube::config::AuthInfo;
use kube::{Client, Config};

/// Makes a client for a bearer token.
pub type UserClients = Arc<dyn Fn(&str) -> Result<Client, kube::Error> + Send + Sync>;

/// Clients to the same API as `config`, with nothing of the server's own identity: neither its token nor a certificate.
pub fn user_clients(config: &Config) -> UserClients {
    let mut anonymous = config.clone();
    anonymous.auth_info = AuthInfo::default();
    Arc::new(move |token| {
        let mut config = anonymous.clone();
        config.auth_info.token = Some(token.to_owned().into());
        Client::try_from(config)
    })
}
