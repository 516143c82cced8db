//! Signatures of what the controller and the console write on an operation (docs/adr/0013).
//!
//! Users may edit labels and annotations, and with more rights the status. A signature is an HMAC with a key that only this
//! installation has, over the text and over the operation that it is about. So an edit is recognised, and so is a text that was
//! copied from another operation.

use std::sync::{Arc, OnceLock};

use crd::{ClusterOperation, ClusterOperationSpec, Time};
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

/// At most this many seconds lie between the console's signature and the creation of the operation: the clocks of two machines
/// may differ.
const AT_ONCE: i64 = 300;

/// Signs with the installation's key, and verifies.
#[derive(Clone)]
pub struct Signer {
    key: Hmac<Sha256>,
    /// When the key was made, in seconds since the Unix epoch.
    since: i64,
}

/// The signer of this installation, as soon as its key is known. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Signing(Arc<OnceLock<Signer>>);

/// The operation that a valid signature is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum About {
    /// This very object.
    This,
    /// An earlier object with the same name and spec: this one was exported and applied again.
    Earlier,
}

impl Signer {
    /// `since`: when the key was made. Operations that are older were ended by a version that didn't sign.
    pub fn new(key: &[u8], since: &Time) -> Self {
        let key = Hmac::new_from_slice(key).expect("HMAC accepts keys of any length");
        Self { key, since: since.0.as_second() }
    }

    /// Whether the operation was created before the key was made.
    pub fn is_older(&self, operation: &ClusterOperation) -> bool {
        operation.metadata.creation_timestamp.as_ref().is_some_and(|created| created.0.as_second() < self.since)
    }

    /// The signature of the outcome `text` of this operation.
    pub(crate) fn sign_outcome(&self, operation: &ClusterOperation, text: &str) -> String {
        let (uid, digest) = (operation.metadata.uid.as_deref().unwrap_or_default(), spec_digest(&operation.spec));
        let mac = self.mac(&["outcome", name(operation), uid, &digest, text]).finalize().into_bytes();
        format!("{uid} {digest} {}", hex(&mac))
    }

    /// The operation that `signature` is about; `None` if it is not valid for `text` and an operation of this name.
    pub(crate) fn verify_outcome(&self, operation: &ClusterOperation, text: &str, signature: &str) -> Option<About> {
        let [uid, digest, mac] = words(signature)?;
        self.mac(&["outcome", name(operation), uid, digest, text]).verify_slice(&bytes(mac)?).ok()?;
        if operation.metadata.uid.as_deref() == Some(uid) {
            return Some(About::This);
        }
        (digest == spec_digest(&operation.spec)).then_some(About::Earlier)
    }

    /// The console's signature: `user` submits `operation` now.
    pub fn sign_submitter(&self, operation: &ClusterOperation, user: &str, now: &Time) -> String {
        let now = now.0.as_second().to_string();
        let digest = spec_digest(&operation.spec);
        let mac = self.mac(&["submitter", name(operation), &digest, user, &now]).finalize().into_bytes();
        format!("{now} {}", hex(&mac))
    }

    /// The user who submitted the operation, if the console signed that. A record that was applied again is younger than its
    /// signature, and never runs.
    pub fn submitter(&self, operation: &ClusterOperation, is_record: bool) -> Option<String> {
        let status = operation.status.as_ref();
        let annotation = |key: &str| operation.metadata.annotations.as_ref().and_then(|all| all.get(key));
        let user = annotation(crd::ANNOTATION_SUBMITTED_BY);
        if self.is_older(operation) {
            return status.and_then(|status| status.submitted_by.as_ref()).or(user).cloned();
        }
        let [at, mac] = words(annotation(crd::ANNOTATION_SUBMITTER_SIGNATURE)?)?;
        let created = operation.metadata.creation_timestamp.as_ref()?.0.as_second();
        let in_time = at.parse::<i64>().is_ok_and(|at| at.saturating_sub(created).saturating_abs() <= AT_ONCE);
        let digest = spec_digest(&operation.spec);
        self.mac(&["submitter", name(operation), &digest, user?, at]).verify_slice(&bytes(mac)?).ok()?;
        user.filter(|_| in_time || is_record).cloned()
    }

    /// The console's signature: `user` cancels this very operation.
    pub fn sign_canceller(&self, operation: &ClusterOperation, user: &str) -> String {
        hex(&self.canceller(operation, user).finalize().into_bytes())
    }

    /// The user who cancelled the operation, if the console signed that.
    pub fn verified_canceller<'a>(&self, operation: &'a ClusterOperation) -> Option<&'a str> {
        let annotations = operation.metadata.annotations.as_ref()?;
        let user = annotations.get(crd::ANNOTATION_CANCELLED_BY)?;
        let signature = bytes(annotations.get(crd::ANNOTATION_CANCELLER_SIGNATURE)?)?;
        self.canceller(operation, user).verify_slice(&signature).ok().map(|()| user.as_str())
    }

    fn canceller(&self, operation: &ClusterOperation, user: &str) -> Hmac<Sha256> {
        let uid = operation.metadata.uid.as_deref().unwrap_or_default();
        self.mac(&["canceller", name(operation), uid, user])
    }

    /// The lengths separate the parts, so two different lists never give the same bytes.
    fn mac(&self, parts: &[&str]) -> Hmac<Sha256> {
        parts.iter().fold(self.key.clone(), |mac, part| {
            mac.chain_update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes()).chain_update(part)
        })
    }
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signer").field("since", &self.since).finish_non_exhaustive()
    }
}

impl Signing {
    /// Sets the signer. Only the first call has an effect.
    pub fn set(&self, signer: Signer) {
        let _ = self.0.set(signer);
    }

    /// The signer; `None` until its key is known.
    pub fn signer(&self) -> Option<&Signer> {
        self.0.get()
    }
}

impl From<Signer> for Signing {
    fn from(signer: Signer) -> Self {
        Self(Arc::new(signer.into()))
    }
}

/// SHA-256 (hex) of the whole spec except `cancel`, as JSON. JSON separates the fields, so two different specs never give one text.
pub fn spec_digest(spec: &ClusterOperationSpec) -> String {
    let spec = ClusterOperationSpec { cancel: None, ..spec.clone() };
    hex(&Sha256::digest(serde_json::to_vec(&spec).expect("a spec is plain data")))
}

fn name(operation: &ClusterOperation) -> &str {
    operation.metadata.name.as_deref().unwrap_or_default()
}

fn words<const N: usize>(text: &str) -> Option<[&str; N]> {
    text.split(' ').collect::<Vec<_>>().try_into().ok()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let pair = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
    (0..hex.len()).step_by(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::jiff::Timestamp;

    use super::*;

    const SUBMITTED: i64 = 1_800_000_000;

    fn at(second: i64) -> Time {
        Time(Timestamp::from_second(second).unwrap())
    }

    fn signer(key: &str, since: i64) -> Signer {
        Signer::new(key.as_bytes(), &at(since))
    }

    fn operation(name: &str, uid: &str) -> ClusterOperation {
        let mut operation = ClusterOperation::new(name, ClusterOperationSpec::default());
        operation.metadata.uid = Some(uid.into());
        operation.metadata.creation_timestamp = Some(at(SUBMITTED + 1));
        operation
    }

    #[test]
    fn an_outcome_is_signed_for_one_object() {
        let (ours, a) = (signer("ours", 0), operation("a", "1"));
        let signature = ours.sign_outcome(&a, "failed");
        assert_eq!(ours.verify_outcome(&a, "failed", &signature), Some(About::This));
        assert_eq!(ours.verify_outcome(&operation("a", "2"), "failed", &signature), Some(About::Earlier));
        assert_eq!(ours.verify_outcome(&operation("b", "1"), "failed", &signature), None, "another name");
        let mut other = operation("a", "2");
        other.spec.action = "reset.yml".into();
        assert_eq!(ours.verify_outcome(&other, "failed", &signature), None, "another spec");
        assert_eq!(ours.verify_outcome(&a, "succeeded", &signature), None, "another text");
        assert_eq!(signer("theirs", 0).verify_outcome(&a, "failed", &signature), None, "another key");
        for forged in ["", "1", "1 2 3", &signature[..signature.len() - 1], &format!("{signature} "), "1 2 é"] {
            assert_eq!(ours.verify_outcome(&a, "failed", forged), None, "{forged}");
        }
    }

    #[test]
    fn a_submitter_counts_only_with_the_consoles_signature() {
        let ours = signer("ours", 0);
        let submitted = |user: &str, signature: &str| {
            let mut operation = operation("a", "1");
            let annotation = |key: &str, value: &str| (key.to_owned(), value.to_owned());
            operation.metadata.annotations = Some(
                [
                    annotation(crd::ANNOTATION_SUBMITTED_BY, user),
                    annotation(crd::ANNOTATION_SUBMITTER_SIGNATURE, signature),
                ]
                .into(),
            );
            operation
        };
        let signature = ours.sign_submitter(&operation("a", ""), "ada", &at(SUBMITTED));
        let mut by_ada = submitted("ada", &signature);
        assert_eq!(ours.submitter(&by_ada, false).as_deref(), Some("ada"));
        for forged in [submitted("eve", &signature), submitted("ada", ""), submitted("ada", "1 00")] {
            assert_eq!(ours.submitter(&forged, false), None);
        }
        by_ada.metadata.creation_timestamp = Some(at(SUBMITTED + 3600));
        assert_eq!(ours.submitter(&by_ada, false), None, "the same operation, submitted again by another client");
        assert_eq!(ours.submitter(&by_ada, true).as_deref(), Some("ada"), "a record of it");
        let later = signer("ours", SUBMITTED + 2);
        assert_eq!(later.submitter(&submitted("ada", ""), false).as_deref(), Some("ada"), "from before the key");
    }
}
