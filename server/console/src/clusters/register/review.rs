//! Shows the files that a registration will write, with warnings.

use std::collections::HashMap;

use api::cluster::{NewCluster, RegistrationReview, ReviewedFile};
use api::{Problem, User};

use kube::ResourceExt;

use super::check::{Key, Registration};
use super::objects;
use crate::clusters::nodes;
use crate::{Console, ssh};

impl Console {
    pub(crate) async fn review_registration(
        &self,
        user: &User,
        new: &NewCluster,
    ) -> Result<RegistrationReview, Problem> {
        let registration = self.checked(new)?;
        self.preview(user, &registration).await?;
        let (inventory, vars) = (&registration.inventory, &registration.parsed_vars);
        let names: Vec<String> = inventory.hosts.iter().map(|host| host.name.clone()).collect();
        let others = self.compare_machines(user, registration.name.as_str(), (inventory, vars), &names).await?;
        let mut warnings = warnings(&registration);
        warnings.extend(others.refusal().into_iter().chain(others.incomplete()));
        Ok(RegistrationReview {
            files: files(&registration),
            nodes: nodes::rows(&registration.inventory, &registration.parsed_vars, &HashMap::new()),
            warnings,
        })
    }
}

fn files(registration: &Registration) -> Vec<ReviewedFile> {
    let (name, namespace) = (registration.name.as_str(), &registration.namespace);
    let mut cluster = objects::cluster(registration);
    cluster.annotations_mut().remove(super::UNFINISHED);
    cluster.metadata.annotations = cluster.metadata.annotations.filter(|all| !all.is_empty());
    let config_map = |object: String, key: &str, text: &str| ReviewedFile {
        title: format!("ConfigMap {namespace}/{object}, {key}"),
        text: text.to_owned(),
    };
    let mut files = vec![
        ReviewedFile { title: format!("Cluster {name}"), text: serde_saphyr::to_string(&cluster).unwrap_or_default() },
        config_map(objects::hosts_name(name), crd::KEY_HOSTS, &registration.hosts),
        config_map(objects::vars_name(name), crd::KEY_VARS, &registration.vars),
    ];
    let key = match &registration.key {
        Key::None => None,
        Key::Generate => {
            Some("A new ed25519 key, made when the cluster is registered. Its public half is shown then.".to_owned())
        }
        Key::Given(pair) => {
            let fingerprint = pair.public.as_deref().and_then(ssh::fingerprint);
            let which = fingerprint.map_or_else(String::new, |print| format!(" ({print})"));
            Some(format!("The private key you gave{which}. It is never shown again."))
        }
    };
    let title = format!("Secret {namespace}/{}, {}", objects::secret_name(name), crd::KEY_SSH);
    files.extend(key.map(|text| ReviewedFile { title, text }));
    files.extend(
        registration.known_hosts.iter().map(|text| config_map(crd::known_hosts_name(name), crd::KEY_KNOWN_HOSTS, text)),
    );
    files
}

fn warnings(registration: &Registration) -> Vec<String> {
    let mut warnings = inventory::advice(&registration.inventory);
    warnings.extend(inventory::advice_on_vars(&registration.vars));
    let names = registration.inventory.names();
    warnings
        .extend([&registration.hosts, &registration.vars].into_iter().flat_map(|text| masking::hints(text, &names)));
    let rows = nodes::rows(&registration.inventory, &registration.parsed_vars, &HashMap::new());
    if rows.iter().all(|row| row.reached_by == "local") {
        return warnings;
    }
    match registration.key {
        Key::None => warnings.push("Without an SSH key the machines can only be reached with passwords from the variables.".into()),
        Key::Generate => warnings.push("Put the new public key on the machines before the first operation: into ~/.ssh/authorized_keys of the user.".into()),
        Key::Given(_) => {}
    }
    if registration.known_hosts.is_none() {
        warnings.push("No host keys are confirmed: each run trusts the first host key it sees. Scan and confirm them under Configuration, SSH access, or paste the output of ssh-keyscan here.".into());
    }
    if registration.inventory.hosts.iter().any(|host| host.user.is_none())
        && !registration.parsed_vars.contains_key("ansible_user")
    {
        warnings.push(
            "Some machines have no user: ansible then logs in under the name of the account that runs it.".into(),
        );
    }
    warnings
}
