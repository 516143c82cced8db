//! Reading a kubeconfig that is foreign input. What isn't listed here is ignored or refused.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::Uri;
use serde::Deserialize;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// A kubeconfig of a cluster has a few KiB.
const LIMIT: usize = 256 * 1024;

/// Why a kubeconfig is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    #[error("The kubeconfig has {0} bytes; at most {LIMIT} are read.")]
    TooLarge(usize),
    /// The parser's message may quote secrets.
    #[error("The kubeconfig is not valid YAML, or a field has the wrong type.")]
    Invalid,
    #[error("The kubeconfig has no current context, or it names a context, cluster or user that doesn't exist.")]
    NoContext,
    #[error(
        "The kubeconfig sets {0}, which would {1}. The server doesn't do that for a managed cluster. Use a kubeconfig with embedded certificates or a token."
    )]
    Unsafe(&'static str, &'static str),
    #[error("The kubeconfig names a server that is not an https:// address.")]
    NotHttps,
    #[error("The kubeconfig's field {0} is not a certificate or key in base64.")]
    NotPem(&'static str),
    #[error("The kubeconfig has no certificate-authority-data, so the cluster can't be verified.")]
    NoAuthority,
}

/// Where to connect, and with what.
pub(crate) struct Target {
    pub(crate) server: Uri,
    pub(crate) server_name: Option<String>,
    pub(crate) authorities: Vec<CertificateDer<'static>>,
    pub(crate) token: Option<String>,
    pub(crate) client: Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Document {
    #[serde(default)]
    current_context: String,
    #[serde(default)]
    clusters: Vec<Named>,
    #[serde(default)]
    contexts: Vec<Named>,
    #[serde(default)]
    users: Vec<Named>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
    #[serde(default, rename = "cluster", alias = "context", alias = "user")]
    content: BTreeMap<String, serde_json::Value>,
}

/// Fields that are refused, and what they would do.
const UNSAFE: [(&str, &str); 11] = [
    ("exec", "run a program on the server's machine"),
    ("auth-provider", "run a program or contact another service"),
    ("certificate-authority", "read a file of the server's machine"),
    ("client-certificate", "read a file of the server's machine"),
    ("client-key", "read a file of the server's machine"),
    ("tokenFile", "read a file of the server's machine"),
    ("proxy-url", "send the requests to another machine"),
    ("insecure-skip-tls-verify", "send the credentials to an unverified server"),
    ("username", "send a password"),
    ("as", "act as another user"),
    ("as-uid", "act as another user"),
];

/// Reads the current context of a kubeconfig.
pub(crate) fn read(text: &str) -> Result<Target, Refused> {
    if text.len() > LIMIT {
        return Err(Refused::TooLarge(text.len()));
    }
    let document: Document = serde_saphyr::from_str(text).map_err(|_| Refused::Invalid)?;
    let named =
        |all: &[Named], name: &str| all.iter().find(|entry| entry.name == name).map(|entry| entry.content.clone());
    let text_of = |map: &BTreeMap<String, serde_json::Value>, key: &str| match map.get(key) {
        None | Some(serde_json::Value::Null) => Ok(None),
        Some(serde_json::Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
        Some(_) => Err(Refused::Invalid),
    };
    let context = named(&document.contexts, &document.current_context).ok_or(Refused::NoContext)?;
    let at = |field| -> Result<String, Refused> { text_of(&context, field)?.ok_or(Refused::NoContext) };
    let cluster = named(&document.clusters, &at("cluster")?).ok_or(Refused::NoContext)?;
    let user = named(&document.users, &at("user")?).ok_or(Refused::NoContext)?;
    for map in [&cluster, &user] {
        let is_set =
            |value: &serde_json::Value| !matches!(value, serde_json::Value::Null | serde_json::Value::Bool(false));
        if let Some((field, what)) = UNSAFE.into_iter().find(|(field, _)| map.get(*field).is_some_and(is_set)) {
            return Err(Refused::Unsafe(field, what));
        }
    }
    let server: Uri = text_of(&cluster, "server")?.and_then(|server| server.parse().ok()).ok_or(Refused::NotHttps)?;
    let has_login = server.authority().is_some_and(|authority| authority.as_str().contains('@'));
    if server.scheme_str() != Some("https") || server.host().is_none() || server.query().is_some() || has_login {
        return Err(Refused::NotHttps);
    }
    let pem = |map, field: &'static str| -> Result<Option<Vec<u8>>, Refused> {
        let decode = |text: String| {
            let text: String = text.split_ascii_whitespace().collect();
            STANDARD.decode(text).map_err(|_| Refused::NotPem(field))
        };
        text_of(map, field)?.map(decode).transpose()
    };
    let certificates = |bytes: &[u8], field| -> Result<Vec<CertificateDer<'static>>, Refused> {
        let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(bytes).collect();
        all.ok().filter(|all| !all.is_empty()).ok_or(Refused::NotPem(field))
    };
    let authority = pem(&cluster, "certificate-authority-data")?.ok_or(Refused::NoAuthority)?;
    let client = match (pem(&user, "client-certificate-data")?, pem(&user, "client-key-data")?) {
        (Some(certificate), Some(key)) => {
            let key = PrivateKeyDer::from_pem_slice(&key).map_err(|_| Refused::NotPem("client-key-data"))?;
            Some((certificates(&certificate, "client-certificate-data")?, key))
        }
        _ => None,
    };
    let token = text_of(&user, "token")?;
    Ok(Target {
        server,
        server_name: text_of(&cluster, "tls-server-name")?,
        authorities: certificates(&authority, "certificate-authority-data")?,
        token,
        client,
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const CLUSTER: &str = "server: https://10.0.0.1:6443, certificate-authority-data: CA";

    fn authority() -> String {
        let key = rcgen::KeyPair::generate().unwrap();
        let params = rcgen::CertificateParams::new(vec!["a".to_owned()]).unwrap();
        STANDARD.encode(params.self_signed(&key).unwrap().pem())
    }

    fn document(cluster: &str, user: &str) -> String {
        let cluster = cluster.replace("CA", &authority());
        format!(
            "current-context: x\nclusters: [{{name: c, cluster: {{{cluster}}}}}]\nusers: [{{name: u, user: {{{user}}}}}]\ncontexts: [{{name: x, context: {{cluster: c, user: u}}}}]\n"
        )
    }

    fn refused(cluster: &str, user: &str) -> String {
        read(&document(cluster, user)).err().map(|why| why.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_plain_kubeconfig_is_read() {
        let Ok(target) = read(&document(CLUSTER, "token: abc")) else { panic!("it is usable") };
        assert_eq!((target.server.host(), target.token.as_deref()), (Some("10.0.0.1"), Some("abc")));
        assert!(target.client.is_none() && target.authorities.len() == 1);
    }

    #[test]
    fn programs_files_proxies_and_unverified_servers_are_refused() {
        for user in [
            "exec: {command: sh}",
            "auth-provider: {name: gcp}",
            "client-certificate: /etc/kubernetes/admin.crt",
            "client-key: /etc/kubernetes/admin.key",
            "tokenFile: /var/run/secrets/token",
            "username: admin, password: x",
            "as: system:admin",
        ] {
            assert!(
                refused(CLUSTER, user).contains(user.split(':').next().unwrap()),
                "{user}: {}",
                refused(CLUSTER, user)
            );
        }
        for cluster in
            ["certificate-authority: /etc/passwd", "proxy-url: http://10.0.0.9", "insecure-skip-tls-verify: true"]
        {
            let why = refused(&format!("{CLUSTER}, {cluster}"), "token: a");
            assert!(why.contains(cluster.split(':').next().unwrap()) && why.contains("would"), "{cluster}: {why}");
        }
        assert_eq!(refused(&format!("{CLUSTER}, insecure-skip-tls-verify: false"), "token: a"), "");
    }

    #[test]
    fn only_https_servers_with_an_authority_are_used() {
        for server in
            ["http://10.0.0.1", "file:///etc/passwd", "10.0.0.1:6443", "https://u:p@10.0.0.1", "https://a/?x=1", "''"]
        {
            assert!(
                refused(&format!("server: {server}, certificate-authority-data: CA"), "token: a").contains("https://"),
                "{server}"
            );
        }
        assert!(refused("server: https://a", "token: a").contains("certificate-authority-data"));
        assert!(
            refused("server: https://a, certificate-authority-data: AAAA", "token: a").contains("not a certificate")
        );
    }

    #[test]
    fn other_documents_are_refused_without_quoting_them() {
        for text in
            ["", "[]", "current-context: x", "a: [hunter22", "users: hunter22", &document("server: [hunter22]", "")]
        {
            let why = read(text).err().expect("refused").to_string();
            assert!(!why.contains("hunter22"), "{why}");
        }
        assert!(matches!(read(&" ".repeat(LIMIT + 1)), Err(Refused::TooLarge(_))));
        let bomb = format!("a: &a [{}]\nb: [{}]\n", "x,".repeat(1000), "*a,".repeat(1000));
        assert!(read(&bomb).is_err());
    }
}
