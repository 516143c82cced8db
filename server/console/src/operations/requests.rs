//! The requests of the operation pages.

use std::sync::Arc;

use api::backend::Operations;
use api::operation::{
    ClusterChoice, Draft, NewOperation, OperationDetail, OperationFilter, OperationList, OperationReview,
    SourceChoices, SubmitChoices,
};
use api::watch::Watch;
use api::{OperationName, Problem, User};
use async_trait::async_trait;
use crd::ClusterOperation;
use kube::api::{Patch, PatchParams};
use kube::runtime::reflector::ObjectRef;
use kube::{Api, ResourceExt};
use serde_json::json;

use super::again::again;
use super::detail::cancellable;
use super::row::phase;
use super::{Catalogue, list};
use crate::access::Right;
use crate::kube_problem::{Doing, answer};
use crate::{Console, moment};

impl Console {
    pub(crate) fn catalogue(&self) -> Catalogue {
        Catalogue { actions: operation::ACTIONS, playbooks: self.shared.playbooks }
    }

    /// The operation from the store, or from the API if the store doesn't contain it (yet).
    pub(crate) async fn operation(&self, user: &User, name: &OperationName) -> Result<Arc<ClusterOperation>, Problem> {
        self.shared.access.require(user, Right::operations()).await?;
        if let Some(found) = self.shared.operations.get(&ObjectRef::new(name.as_str())) {
            return Ok(found);
        }
        let operations: Api<ClusterOperation> = Api::all(self.shared.access.client(user)?);
        let found = answer(&Doing::new("read", "ClusterOperation", name), operations.get_opt(name.as_str())).await?;
        found.map(Arc::new).ok_or_else(|| Problem::NotFound { what: "operation".into(), name: name.to_string() })
    }
}

#[async_trait]
impl Operations for Console {
    async fn list(&self, user: &User, filter: &OperationFilter) -> Result<OperationList, Problem> {
        self.shared.access.require(user, Right::operations()).await?;
        Ok(list::list(&self.shared.operations.state(), filter, &self.shared.signing, moment::now()))
    }

    async fn get(&self, user: &User, operation: &OperationName) -> Result<OperationDetail, Problem> {
        let operation = self.operation(user, operation).await?;
        self.operation_detail(user, &operation).await
    }

    async fn watch(&self, user: &User, operation: &OperationName) -> Result<Watch, Problem> {
        self.watch_operation(user, operation).await
    }

    async fn choices(&self, user: &User) -> Result<SubmitChoices, Problem> {
        self.shared.access.require(user, Right::clusters()).await?;
        let mut clusters: Vec<_> = self
            .shared
            .clusters
            .state()
            .iter()
            .filter(|c| c.metadata.deletion_timestamp.is_none())
            .filter_map(|c| {
                Some(ClusterChoice {
                    name: c.name_any().parse().ok()?,
                    nodes: self.shared.counts.of(&c.spec.hosts_conf_ref),
                })
            })
            .collect();
        clusters.sort_by(|a, b| a.name.cmp(&b.name));
        let catalogue = self.catalogue();
        Ok(SubmitChoices {
            clusters,
            actions: catalogue.offers(),
            no_others: catalogue.no_others(),
            default_image: self.shared.image.clone(),
        })
    }

    async fn sources(&self, user: &User, cluster: &str, chosen: &str) -> Result<SourceChoices, Problem> {
        self.source_choices(user, cluster, chosen).await
    }

    async fn again(&self, user: &User, operation: &OperationName) -> Result<Draft, Problem> {
        Ok(again(&self.operation(user, operation).await?.spec, &self.catalogue()))
    }

    async fn review(&self, user: &User, new: &NewOperation) -> Result<OperationReview, Problem> {
        self.review_operation(user, new).await
    }

    async fn submit(&self, user: &User, new: &NewOperation) -> Result<OperationName, Problem> {
        self.submit_operation(user, new).await
    }

    async fn cancel(&self, user: &User, name: &OperationName) -> Result<(), Problem> {
        let operation = self.operation(user, name).await?;
        cancellable(&operation).map_err(|message| Problem::Invalid { message, fields: Vec::new() })?;
        let operations: Api<ClusterOperation> = Api::all(self.shared.access.client(user)?);
        // With the uid, the request fails instead of cancelling a new operation with the same name.
        let signature = self.shared.signing.signer().map(|signer| signer.sign_canceller(&operation, &user.name));
        let by = json!({crd::ANNOTATION_CANCELLED_BY: user.name, crd::ANNOTATION_CANCELLER_SIGNATURE: signature});
        let patch = json!({"metadata": {"uid": operation.metadata.uid, "annotations": by}, "spec": {"cancel": true}});
        let doing = Doing::new("cancel", "ClusterOperation", name);
        let patched =
            answer(&doing, operations.patch(name.as_str(), &PatchParams::default(), &Patch::Merge(patch))).await?;
        if phase(&patched).is_final() {
            return Err(Problem::Invalid {
                message: "It ended before it could be cancelled.".into(),
                fields: Vec::new(),
            });
        }
        self.until_operation(name.as_str(), |found| found.is_none_or(|o| o.spec.cancel == Some(true))).await;
        Ok(())
    }
}
