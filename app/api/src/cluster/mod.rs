//! Types about clusters that pages and server exchange: what pages show, the filter of the list, and the forms.

mod creation;
mod filter;
mod kubeconfig;
mod live;
mod nodes_form;
mod registration;
mod settings;
mod shown;
mod upgrade;
mod version;

pub use creation::{
    CheckResult, CheckedHost, ConfirmedKeys, Creation, CreationPlan, CreationStage, HostFailure, MachineCheck,
    PlannedMachine, PlannedProblem, PlannedSetting, ReviewedPlan,
};
pub use filter::{ClusterColumn, ClusterFilter, ClusterView};
pub use kubeconfig::{Download, KubeconfigAccess};
pub use live::{Expiry, LiveCheck, LiveCluster, LiveNode, LiveState};
pub use nodes_form::{LastReplacement, NewNodes, NodesReview, Removal, Replacement, ReplacementStep, ReviewedRemoval};
pub use registration::{KeySource, MachineRow, Namespace, NewCluster, RegistrationReview, ReviewedFile, Unregister};
pub use settings::{ClusterSettings, Purpose, SettingsOffer};
pub use shown::{
    ClusterDetail, ClusterList, ClusterRow, ClusterTotals, ConditionRow, Fact, Health, LiveRow, NodeList, NodeResults,
    NodeRow,
};
pub use upgrade::{
    LastUpgrade, NodeState, ReviewedUpgrade, Upgrade, UpgradeNode, UpgradePlan, UpgradeWish, VersionChoice,
    VersionSource,
};
pub use version::{OfferedVersion, Version, VersionError};
