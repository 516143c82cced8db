//! Kubernetes clients with users' own tokens.

use std::sync::Arc;

use kube::config::AuthInfo;
use kube::{Client, Config};

/// Creates a client that sends this bearer token.
pub type UserClients = Arc<dyn Fn(&str) -> Result<Client, kube::Error> + Send + Sync>;

/// Clients for the same API as `config`, but without the server's own credentials: neither its token nor its certificate.
pub fn user_clients(config: &Config) -> UserClients {
    let mut anonymous = config.clone();
    anonymous.auth_info = AuthInfo::default();
    Arc::new(move |token| {
        let mut config = anonymous.clone();
        config.auth_info.token = Some(token.to_owned().into());
        Client::try_from(config)
    })
}
