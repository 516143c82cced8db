//! The requests of the page that creates a cluster.

use api::backend::Creations;
use api::cluster::{Creation, ReviewedPlan, SettingsOffer};
use api::operation::{Action, NewOperation};
use api::{ClusterName, OperationName, Problem, User};
use async_trait::async_trait;
use operation::{CHECK_MACHINES, CREATE};

use crate::Console;
use crate::clusters::settings;

#[async_trait]
impl Creations for Console {
    fn offer(&self) -> SettingsOffer {
        settings::offer(self.engine_of_new(), &self.shared.image)
    }

    async fn read(&self, user: &User, cluster: &ClusterName) -> Result<Creation, Problem> {
        self.creation(user, cluster).await
    }

    async fn check(&self, user: &User, cluster: &ClusterName) -> Result<OperationName, Problem> {
        let new = NewOperation::new(cluster.clone(), Action::builtin(CHECK_MACHINES));
        self.submit_operation(user, &new).await
    }

    async fn create(
        &self,
        user: &User,
        cluster: &ClusterName,
        reviewed: &ReviewedPlan,
    ) -> Result<OperationName, Problem> {
        let new = NewOperation::new(cluster.clone(), Action::builtin(CREATE))
            .as_reviewed(&reviewed.made_name, &reviewed.expected_inputs);
        self.submit_operation(user, &new).await
    }
}
