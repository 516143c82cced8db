//! Certificates and kubeconfigs of the lab's own Kubernetes: <https://kubernetes.io/docs/setup/best-practices/certificates/>.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
};
use serde_json::json;

use crate::error::Error;
use crate::{addresses, files};

/// The certificate authority of the cluster. Each boot makes a new one.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub(crate) certificate: String,
    pub(crate) key: String,
}

/// A certificate and its private key, as PEM.
pub(crate) struct Identity {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn make() -> Result<Self, Error> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "lab");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages =
            vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
        let certificate = params.self_signed(&key)?.pem();
        Ok(Self { certificate, key: key.serialize_pem(), issuer: Issuer::new(params, key) })
    }

    /// Makes a certificate for clients and servers. `names` are the server's host names and addresses.
    pub(crate) fn identity(&self, user: &str, group: Option<&str>, names: &[String]) -> Result<Identity, Error> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(names.to_vec())?;
        params.distinguished_name.push(DnType::CommonName, user);
        if let Some(group) = group {
            params.distinguished_name.push(DnType::OrganizationName, group);
        }
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth, ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = params.signed_by(&key, &self.issuer)?.pem();
        Ok(Identity { certificate, key: key.serialize_pem() })
    }

    /// Writes a kubeconfig for a user.
    pub(crate) fn kubeconfig(&self, user: &str, group: Option<&str>, to: &Path) -> Result<(), Error> {
        let identity = self.identity(user, group, &[])?;
        let data = |pem: &str| STANDARD.encode(pem);
        let server = format!("https://{}", addresses::api_server());
        // JSON is valid YAML.
        let config = json!({"apiVersion": "v1", "kind": "Config", "current-context": "lab",
            "clusters": [{"name": "lab", "cluster": {"server": server, "certificate-authority-data": data(&self.certificate)}}],
            "users": [{"name": user, "user": {"client-certificate-data": data(&identity.certificate), "client-key-data": data(&identity.key)}}],
            "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": user}}]});
        files::write(to, 0o600, format!("{config:#}\n"))
    }
}

impl Identity {
    /// Writes `<name>.crt` and `<name>.key`.
    pub(crate) fn write(&self, folder: &Path, name: &str) -> Result<(), Error> {
        files::write(&folder.join(format!("{name}.crt")), 0o644, &self.certificate)?;
        files::write(&folder.join(format!("{name}.key")), 0o600, &self.key)
    }
}
