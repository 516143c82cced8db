//! Upgrades of a cluster: what it runs, which versions it can have next, what the upgrade does, and how far it is.

mod choices;
mod consequences;
mod members;
mod newest;
mod page;
mod probe;
mod progress;
mod running;
mod start;
mod warnings;

use api::backend::Upgrades;
use api::cluster::{ReviewedUpgrade, Upgrade, UpgradeWish};
use api::{ClusterName, OperationName, Problem, User};
use async_trait::async_trait;

use crate::Console;

#[async_trait]
impl Upgrades for Console {
    async fn plan(&self, user: &User, cluster: &ClusterName, wish: &UpgradeWish) -> Result<Upgrade, Problem> {
        self.plan_upgrade(user, cluster, wish).await
    }

    async fn start(
        &self,
        user: &User,
        cluster: &ClusterName,
        reviewed: &ReviewedUpgrade,
    ) -> Result<OperationName, Problem> {
        self.start_upgrade(user, cluster, reviewed).await
    }

    async fn set_probe(&self, user: &User, cluster: &ClusterName, url: &str) -> Result<(), Problem> {
        self.save_probe(user, cluster, url).await
    }
}
