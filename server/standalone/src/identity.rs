//! The TLS identity of the HTTPS port: a certificate authority in the state file, a new certificate at each start, and the
//! kubeconfig that trusts the authority.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
};
use serde_json::json;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::api::Api;
use crate::store::DiskError;

/// The reason why there is no certificate or kubeconfig.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    #[error("the certificate of the Kubernetes port can't be created: {0}")]
    Certificate(#[from] rcgen::Error),
    #[error("the certificate of the Kubernetes port can't be used: {0}")]
    Tls(#[from] tokio_rustls::rustls::Error),
    #[error(transparent)]
    Disk(#[from] DiskError),
    #[error("the kubeconfig {0} can't be written: {1}. Check that you own the data directory.")]
    Kubeconfig(PathBuf, io::Error),
}

/// The certificate and key of the HTTPS port, and the authority that signed it.
#[derive(Clone)]
pub struct TlsIdentity {
    pub(crate) config: Arc<ServerConfig>,
    authority: String,
}

impl Api {
    /// A certificate for `names` (host names or IP addresses), `localhost` and the loopback addresses. The authority that
    /// signs it is kept in the state file, so a kubeconfig stays valid after a restart or a restored backup.
    pub fn identity(&self, names: &[String]) -> Result<TlsIdentity, IdentityError> {
        let fresh = KeyPair::generate()?;
        let key = KeyPair::from_pem(&self.setting("authority-key", || fresh.serialize_pem())?)?;
        let fresh = authority().self_signed(&key)?;
        let certificate = self.setting("authority-certificate", || fresh.pem())?;
        let issuer = Issuer::new(authority(), key);

        let mut all: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
        all.extend(names.iter().filter(|name| !name.is_empty()).cloned());
        all.sort();
        all.dedup();
        let mut params = CertificateParams::new(all)?;
        params.distinguished_name.push(DnType::CommonName, "kubeonkube standalone API");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate()?;
        let signed = params.signed_by(&key, &issuer)?;
        let chain = vec![CertificateDer::from(signed.der().to_vec())];
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsIdentity { config: Arc::new(config), authority: certificate })
    }

    /// Writes a kubeconfig for `url` to `path`, with mode 0600. It replaces an older file atomically, unless that has the same content:
    /// then a restart needs no room on the disk.
    pub fn write_kubeconfig(&self, path: &Path, url: &str, identity: &TlsIdentity) -> Result<(), IdentityError> {
        let authority = STANDARD.encode(&identity.authority);
        // Written as JSON, which is valid YAML and quotes everything.
        let config = json!({"apiVersion": "v1", "kind": "Config", "current-context": "kubeonkube",
            "clusters": [{"name": "kubeonkube", "cluster": {"server": url, "certificate-authority-data": authority}}],
            "users": [{"name": "kubeonkube", "user": {"token": self.token()}}],
            "contexts": [{"name": "kubeonkube", "context": {"cluster": "kubeonkube", "user": "kubeonkube", "namespace": "default"}}]});
        let text = format!("{config:#}\n");
        if std::fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
            return Ok(());
        }
        disk::save(path, text.as_bytes()).map_err(|error| IdentityError::Kubeconfig(path.to_path_buf(), error))
    }
}

/// The parameters of the authority. They never change, because certificates name the stored authority as their issuer.
fn authority() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "kubeonkube standalone authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
    params
}
