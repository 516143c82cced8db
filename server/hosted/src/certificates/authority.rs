//! The certificate authorities of a hosted cluster, and the key of its service accounts.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::ByteString;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose, PublicKeyData};
use sha2::{Digest, Sha256};

use super::leaf::{SKEW, limit};

/// The content of a Secret, by key.
pub(crate) type Data = BTreeMap<String, ByteString>;

/// How many seconds authorities are valid: 10 years, as kubeadm's.
const TEN_YEARS: i64 = 3650 * 24 * 3600;

/// An authority of a hosted cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Authority {
    /// Signs API servers, their clients, and kubelets.
    Cluster,
    /// Signs clients of aggregated API servers.
    FrontProxy,
    /// Signs etcd and its clients.
    Etcd,
}

impl Authority {
    pub(crate) const ALL: [Self; 3] = [Self::Cluster, Self::FrontProxy, Self::Etcd];

    /// The name of its files, without their extension.
    pub(crate) fn file(self) -> &'static str {
        match self {
            Self::Cluster => "ca",
            Self::FrontProxy => "front-proxy-ca",
            Self::Etcd => "etcd-ca",
        }
    }

    fn common_name(self) -> &'static str {
        match self {
            Self::Cluster => "kubernetes",
            other => other.file(),
        }
    }

    /// The name and uses. They never change, because a stored certificate names them.
    fn params(self) -> CertificateParams {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, self.common_name());
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages =
            vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params
    }
}

/// All authorities of one cluster, as they are stored in one Secret.
pub(crate) struct Authorities {
    data: Data,
    /// Seconds since 1970.
    pub(crate) expires: i64,
}

impl Authorities {
    /// New ones, with a new key for service accounts.
    pub(crate) fn generate(now: i64) -> Result<Self, rcgen::Error> {
        let mut data = Data::new();
        let mut put = |name: String, text: String| data.insert(name, ByteString(text.into_bytes()));
        for authority in Authority::ALL {
            let key = KeyPair::generate()?;
            let mut params = authority.params();
            limit(&mut params, now - SKEW, now + TEN_YEARS);
            put(format!("{}.crt", authority.file()), params.self_signed(&key)?.pem());
            put(format!("{}.key", authority.file()), key.serialize_pem());
        }
        let accounts = KeyPair::generate()?;
        put("sa.key".into(), accounts.serialize_pem());
        put("sa.pub".into(), accounts.public_key_pem());
        Ok(Self { data, expires: now + TEN_YEARS })
    }

    /// Those in a Secret. The error is a sentence.
    pub(crate) fn parse(data: Data, expires: i64) -> Result<Self, String> {
        let this = Self { data, expires };
        for authority in Authority::ALL {
            this.issuer(authority)?;
            this.text(&format!("{}.crt", authority.file()))?;
        }
        for key in ["sa.key", "sa.pub"] {
            this.text(key)?;
        }
        Ok(this)
    }

    pub(crate) fn data(&self) -> &Data {
        &self.data
    }

    /// A file of the Secret.
    pub(crate) fn text(&self, key: &str) -> Result<String, String> {
        let text = self.data.get(key).and_then(|bytes| String::from_utf8(bytes.0.clone()).ok());
        text.ok_or_else(|| format!("It has no text under the key “{key}”."))
    }

    /// The SHA-256 of the certificate of the cluster's authority, and of its public key with the algorithm (`SubjectPublicKeyInfo`), by which
    /// kubeadm recognizes it. The error is a sentence.
    pub(crate) fn cluster_digests(&self) -> Result<(String, String), String> {
        let certificate = der(&self.text("ca.crt")?).ok_or("Its file “ca.crt” is no certificate.")?;
        let key = self.key(Authority::Cluster)?.subject_public_key_info();
        Ok((hex(&certificate), hex(&key)))
    }

    fn key(&self, authority: Authority) -> Result<KeyPair, String> {
        let name = format!("{}.key", authority.file());
        KeyPair::from_pem(&self.text(&name)?).map_err(|error| format!("Its key “{name}” can't be read: {error}."))
    }

    /// What signs with an authority.
    pub(crate) fn issuer(&self, authority: Authority) -> Result<Issuer<'static, KeyPair>, String> {
        Ok(Issuer::new(authority.params(), self.key(authority)?))
    }
}

/// The SHA-256 of bytes.
fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes in a certificate's PEM.
pub(crate) fn der(pem: &str) -> Option<Vec<u8>> {
    let body: String = pem.lines().filter(|line| !line.starts_with("-----")).map(str::trim).collect();
    STANDARD.decode(body).ok()
}
