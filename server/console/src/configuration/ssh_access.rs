//! SSH access to a cluster's machines: public keys, fingerprints and host keys, but never a private key.

use std::sync::Arc;

use api::Problem;
use api::configuration::{Document, HostKeys, NextKey, SshAccess};
use crd::{Cluster, ClusterOperation};
use kube::{Client, ResourceExt};
use operation::Signing;

use super::inputs::Input;
use super::shown::shown;
use crate::operations::row;
use crate::ssh;
use crate::ssh_key::{Keys, Slot, newest};

/// `operations` are those of all clusters, among them the tests of a new key.
pub(super) async fn read(
    client: Client,
    cluster: &Cluster,
    operations: &[Arc<ClusterOperation>],
    signing: &Signing,
) -> Result<SshAccess, Problem> {
    let (host_keys, keys) = futures::join!(Input::read(client.clone(), cluster, Document::HostKeys), async {
        match &cluster.spec.ssh_auth_ref {
            Some(place) => Some(Keys::read(client, place).await),
            None => None,
        }
    });
    let (host_keys, unread) = match host_keys {
        Ok(input) => {
            let document = shown(&input, cluster, &[]);
            (Some(HostKeys { count: ssh::host_keys(&document.text), document }), None)
        }
        // Users without the right to read host keys still see the rest.
        Err(problem @ Problem::Forbidden { .. }) => (None, Some(problem.to_string())),
        Err(problem) => return Err(problem),
    };
    let (keys, unread) = match keys {
        Some(Ok(keys)) => (Some(keys), unread),
        Some(Err(problem)) => (None, Some(problem.to_string())),
        None => (None, unread),
    };
    let usable = keys.as_ref().map(Keys::usable);
    let (public_key, problem) = match usable {
        Some(Ok(pair)) => (pair.public.map(|line| line.trim().to_owned()), None),
        Some(Err(problem)) => (None, Some(problem)),
        None => (None, None),
    };
    let slot = |slot| keys.as_ref().and_then(|keys| keys.shown(slot));
    let name = cluster.name_any();
    Ok(SshAccess {
        secret: cluster.spec.ssh_auth_ref.as_ref().map(ToString::to_string),
        fingerprint: public_key.as_deref().and_then(ssh::fingerprint),
        public_key,
        replaceable: keys.is_some(),
        foreign: keys.as_ref().is_some_and(|keys| keys.foreign(cluster)),
        next: slot(Slot::Next).map(|key| {
            let test = newest(operations, &name, &key.id).and_then(|test| row(test, signing));
            NextKey { key, test }
        }),
        previous: slot(Slot::Previous),
        host_keys,
        problem: problem.or(unread),
    })
}
