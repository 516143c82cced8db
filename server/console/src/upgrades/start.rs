//! Saves the version and submits the operation.

use api::backend::Configurations;
use api::cluster::{ReviewedUpgrade, Version, VersionSource};
use api::configuration::Document;
use api::operation::{Action, NewOperation};
use api::{ClusterName, OperationName, Problem, User};
use inventory::Vars;

use super::choices::Installer;
use super::newest::version_parameter;
use crate::Console;
use crate::nodes::{half_done, refused, stale};

impl Console {
    /// Saves `kube_version` before the run, so that a stopped upgrade continues to the same version. Each step can be repeated.
    pub(super) async fn start_upgrade(
        &self,
        user: &User,
        name: &ClusterName,
        reviewed: &ReviewedUpgrade,
    ) -> Result<OperationName, Problem> {
        let to: Version = reviewed.to.parse().map_err(|why: api::cluster::VersionError| refused(why.to_string()))?;
        let cluster = self.cluster(user, name).await?;
        self.refuse_wrong_engine(&cluster)?;
        let known = self.known(user, &cluster, reviewed.from.parse().ok()).await?;
        if let Some(open) = known.open().filter(|open| *open != reviewed.made_name) {
            return Err(refused(format!("{open} is upgrading the cluster, or waits to. Wait until it has ended.")));
        }
        known.has_control_plane()?;
        let installer = self.installer(&cluster);
        let before = known.inputs.vars.text();
        let (text, written) = variables_with(installer, &known.vars, before, to)?;
        // An earlier try may have saved the variables without submitting the operation. Then they don't tell what runs.
        let is_saved = text == before;
        let checked = known.running.span.filter(|_| !(is_saved && known.running.source == VersionSource::Variables));
        if let Some(why) = checked.and_then(|span| known.refuses(installer, span, to)) {
            return Err(refused(format!("{to} can't be chosen. {why}")));
        }
        let inputs = crd::inputs_sha256(known.inputs.hosts.text(), &text);
        if !reviewed.expected_inputs.is_empty() && !reviewed.expected_inputs.eq_ignore_ascii_case(&inputs) {
            return Err(refused(
                "Inventory or variables were changed since this was reviewed. Review it again.".into(),
            ));
        }
        if !is_saved {
            if !known.inputs.vars.is_at(&reviewed.version) {
                return Err(refused("The variables were changed since this was reviewed. Review it again.".into()));
            }
            let save = Configurations::save(self, user, name, Document::Variables, &reviewed.version, &text);
            save.await.map_err(stale)?;
        }
        let operation = operation(name, &written)?.as_reviewed(&reviewed.made_name, &reviewed.expected_inputs);
        self.submit_operation(user, &operation).await.map_err(|problem| {
            let message = format!(
                "kube_version in the variables is {to} now, but the operation was not submitted. {problem} Press the button again."
            );
            half_done(&problem, message)
        })
    }
}

/// The text of the variables with the version `to`, and the version as it is written there.
pub(super) fn variables_with(
    installer: Installer<'_>,
    vars: &Vars,
    text: &str,
    to: Version,
) -> Result<(String, String), Problem> {
    let name = version_parameter().ok_or(Problem::Internal)?.variable;
    let written = installer.written(to, vars.get(name).and_then(|value| value.as_str()).unwrap_or_default());
    if vars.get(name).and_then(|value| value.as_str()) == Some(&written) {
        return Ok((text.to_owned(), written));
    }
    Ok((inventory::set_variable(text, name, &written).map_err(refused)?, written))
}

/// The operation that upgrades to the version `written`.
pub(super) fn operation(cluster: &ClusterName, written: &str) -> Result<NewOperation, Problem> {
    let field = version_parameter().ok_or(Problem::Internal)?.field;
    let parameters = Some([(field.to_owned(), written.to_owned())].into());
    let action = Action::Builtin { playbook: operation::UPGRADE.into(), parameters };
    Ok(NewOperation::new(cluster.clone(), action))
}
