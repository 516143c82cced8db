//! The requests of the page that creates a cluster.

use api::backend::Creations;
use api::cluster::{Creation, ReviewedPlan, SettingsOffer};
use api::operation::{Action, NewOperation};
use api::{ClusterName, OperationName, Problem, User};
use async_trait::async_trait;
use operation::{CHECK_MACHINES, CREATE};

use crate::Console;
use crate::clusters::settings;
use crate::configuration::Inputs;

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
        self.refuse_claimed_machines(user, cluster).await?;
        let new = NewOperation::new(cluster.clone(), Action::builtin(CREATE))
            .as_reviewed(&reviewed.made_name, &reviewed.expected_inputs);
        self.submit_operation(user, &new).await
    }
}

impl Console {
    /// An error if another cluster has one of the machines. Inputs that can't be used are left to the submission.
    async fn refuse_claimed_machines(&self, user: &User, name: &ClusterName) -> Result<(), Problem> {
        let cluster = self.cluster(user, name).await?;
        let inputs = Inputs::read(self.shared.access.client(user)?, &cluster).await?;
        let Ok(inventory) = inventory::parse(inputs.hosts.text()) else { return Ok(()) };
        let names = inventory.hosts.iter().map(|host| host.name.clone()).collect::<Vec<_>>();
        let vars = inputs.vars_or_none();
        match self.compare_machines(user, name.as_str(), (&inventory, &vars), &names).await?.refusal() {
            None => Ok(()),
            Some(message) => Err(Problem::Invalid { message, fields: Vec::new() }),
        }
    }
}
