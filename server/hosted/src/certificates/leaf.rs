//! Certificates of servers and clients.

use std::time::Duration;

use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose};

use super::authority::{Authorities, Authority};

/// How many seconds servers and clients may use their certificates: a year, as kubeadm's.
pub(crate) const YEAR: i64 = 365 * 24 * 3600;
/// Certificates are valid from this many seconds before their creation, for machines whose clocks are behind.
pub(crate) const SKEW: i64 = 300;

/// A certificate to be made.
pub(crate) struct Leaf {
    pub(crate) by: Authority,
    pub(crate) common_name: String,
    pub(crate) organization: Option<&'static str>,
    pub(crate) server: bool,
    pub(crate) client: bool,
    /// DNS names and IP addresses.
    pub(crate) names: Vec<String>,
}

impl Leaf {
    pub(crate) fn client(by: Authority, common_name: &str, organization: Option<&'static str>) -> Self {
        Self { by, common_name: common_name.into(), organization, server: false, client: true, names: Vec::new() }
    }

    pub(crate) fn server(by: Authority, common_name: &str, client: bool, names: Vec<String>) -> Self {
        Self { by, common_name: common_name.into(), organization: None, server: true, client, names }
    }

    /// Certificate and private key in PEM. The error is a sentence.
    pub(crate) fn make(&self, authorities: &Authorities, now: i64) -> Result<(String, String), String> {
        let failed = |error: rcgen::Error| format!("The certificate of {} can't be made: {error}.", self.common_name);
        let mut params = CertificateParams::new(self.names.clone()).map_err(failed)?;
        if let Some(organization) = self.organization {
            params.distinguished_name.push(DnType::OrganizationName, organization);
        }
        params.distinguished_name.push(DnType::CommonName, &self.common_name);
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let uses =
            [(self.server, ExtendedKeyUsagePurpose::ServerAuth), (self.client, ExtendedKeyUsagePurpose::ClientAuth)];
        params.extended_key_usages = uses.into_iter().filter(|(wanted, _)| *wanted).map(|(_, usage)| usage).collect();
        limit(&mut params, now - SKEW, expires(authorities, now));
        let key = KeyPair::generate().map_err(failed)?;
        let signed = params.signed_by(&key, &authorities.issuer(self.by)?).map_err(failed)?;
        Ok((signed.pem(), key.serialize_pem()))
    }
}

/// When a certificate of `now` expires, in seconds since 1970: never after its authority.
pub(crate) fn expires(authorities: &Authorities, now: i64) -> i64 {
    (now + YEAR).min(authorities.expires)
}

/// Whether certificates that expire then are due for new ones: less than a third of their life is left, and new ones of `now` live longer.
pub(crate) fn is_due(authorities: &Authorities, expire: i64, now: i64) -> bool {
    const DAY: i64 = 24 * 3600;
    expire - now < YEAR / 3 && expires(authorities, now) > expire + DAY
}

/// Limits a certificate to this time, in seconds since 1970.
pub(crate) fn limit(params: &mut CertificateParams, from: i64, until: i64) {
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    params.not_before = epoch + Duration::from_secs(from.unsigned_abs());
    params.not_after = epoch + Duration::from_secs(until.unsigned_abs());
}
